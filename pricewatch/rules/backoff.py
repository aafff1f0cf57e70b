"""How long to wait before the next attempt: exponential backoff and the Retry-After header."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_DELAY = 1.0
LONGEST_DELAY = 30.0
JITTER = 0.25


def backoff(
    failures: int,
    chance: float,
    *,
    first: float = FIRST_DELAY,
    longest: float = LONGEST_DELAY,
    jitter: float = JITTER,
) -> float:
    """Return the seconds to wait: doubled with each failure, jittered by `chance` (0 to 1), capped."""
    delay = first * 2.0 ** min(max(failures, 1) - 1, 32)
    return min(delay * (1 + jitter * (2 * chance - 1)), longest)


def retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header requests, as a number or a date; None if it is invalid."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return float(int(text[:9]))
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
