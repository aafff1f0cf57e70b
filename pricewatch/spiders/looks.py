"""Looks at the pages of listings: what each is based on, and the rows that come of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pricewatch import clock
from pricewatch.items import VerificationStatus
from pricewatch.rules.verification import Attempt, is_gone, strikes_after
from pricewatch.store.verification import Candidate

MISSING = (Attempt.NOT_FOUND, Attempt.GONE)


@dataclass(slots=True)
class Look:
    """One look at one listing, with what it is based on."""

    listing_id: int
    attempt: Attempt
    method: str = "GET"
    http_status: int | None = None
    final_url: str | None = None
    marker: str | None = None
    reason: str | None = None
    sold_at: datetime | None = None
    at: datetime = field(default_factory=clock.now)

    @property
    def is_missing(self) -> bool:
        return self.attempt in MISSING


def listing_row(candidate: Candidate, look: Look, run_id: int) -> dict[str, Any]:
    """What a look comes to for its listing, for `verification.apply`."""
    same_run = candidate.last_strike_run_id == run_id
    strikes = strikes_after(candidate.strikes, look.attempt, same_run=same_run)
    gone = is_gone(strikes, look.attempt)
    alive = look.attempt is Attempt.ALIVE
    return {
        "listing_id": candidate.id,
        "last_seen_at": candidate.last_seen_at.isoformat(),
        "strikes": strikes,
        "struck": strikes > candidate.strikes,
        "alive": alive,
        "gone": gone,
        "sold": look.attempt is Attempt.SOLD,
        "sold_at": look.sold_at.isoformat() if look.sold_at else None,
        "verification_status": VerificationStatus.VERIFIED
        if alive
        else VerificationStatus.GONE
        if gone
        else VerificationStatus.PENDING,
    }


def evidence_row(look: Look, run_id: int, *, strike: bool) -> dict[str, Any]:
    """The row of `verification_attempts`."""
    return {
        "run_id": run_id,
        "listing_id": look.listing_id,
        "checked_at": look.at,
        "method": look.method,
        "http_status": look.http_status,
        "final_url": look.final_url,
        "outcome": look.attempt,
        "reason": look.reason,
        "marker": look.marker,
        "strike": strike,
    }


def mass_gone_alert(subject: str, missing: int, looks: int, run_id: int) -> dict[str, Any]:
    return {
        "kind": "mass_gone",
        "severity": "P1",
        "subject": subject,
        "message": f"{missing} of {looks} listings of {subject} were not found at once: "
        "the site may have moved its URLs, so no strike was counted",
        "details": {"run_id": run_id},
    }
