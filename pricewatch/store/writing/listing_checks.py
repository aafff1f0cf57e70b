"""The rows that come of looks at the pages of listings."""

from __future__ import annotations

from typing import Any

from pricewatch.items import ListingCheck
from pricewatch.queued_work import VerificationCandidate
from pricewatch.rules.verification_outcome import is_gone, strikes_after
from pricewatch.vocabulary import Attempt, VerificationStatus


def listing_row(candidate: VerificationCandidate, look: ListingCheck, run_id: int) -> dict[str, Any]:
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


def evidence_row(look: ListingCheck, run_id: int, *, strike: bool) -> dict[str, Any]:
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
