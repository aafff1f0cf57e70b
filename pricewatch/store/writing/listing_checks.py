"""The rows that are written for checks of listings' pages."""

from __future__ import annotations

from typing import Any

from pricewatch.items import ListingCheck
from pricewatch.queued_work import VerificationCandidate
from pricewatch.rules.verification_outcome import is_gone, strikes_after
from pricewatch.vocabulary import Attempt, VerificationStatus


def listing_row(candidate: VerificationCandidate, check: ListingCheck, run_id: int) -> dict[str, Any]:
    """Return the new state of the checked listing, for `verification_rows.apply`."""
    same_run = candidate.last_strike_run_id == run_id
    strikes = strikes_after(candidate.strikes, check.attempt, same_run=same_run)
    gone = is_gone(strikes, check.attempt)
    alive = check.attempt is Attempt.ALIVE
    return {
        "listing_id": candidate.id,
        "last_seen_at": candidate.last_seen_at.isoformat(),
        "strikes": strikes,
        "struck": strikes > candidate.strikes,
        "alive": alive,
        "gone": gone,
        "sold": check.attempt is Attempt.SOLD,
        "sold_at": check.sold_at.isoformat() if check.sold_at else None,
        "verification_status": VerificationStatus.VERIFIED
        if alive
        else VerificationStatus.GONE
        if gone
        else VerificationStatus.PENDING,
    }


def attempt_row(check: ListingCheck, run_id: int, *, strike: bool) -> dict[str, Any]:
    """Return the row of `verification_attempts`."""
    return {
        "run_id": run_id,
        "listing_id": check.listing_id,
        "checked_at": check.at,
        "method": check.method,
        "http_status": check.http_status,
        "final_url": check.final_url,
        "outcome": check.attempt,
        "reason": check.reason,
        "marker": check.marker,
        "strike": strike,
    }


def mass_gone_alert(subject: str, missing: int, checks: int, run_id: int) -> dict[str, Any]:
    return {
        "kind": "mass_gone",
        "severity": "P1",
        "subject": subject,
        "message": f"{missing} of {checks} listings of {subject} were not found in one run: "
        "the site may have changed its URLs, so no strike was counted",
        "details": {"run_id": run_id},
    }
