"""How sure we are that a listing is still there: certain when seen, then fading with time."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import floor

from pricewatch.items import Tier

SEEN = 100
VERIFIED = 80
LOST_PER_HOUR = {Tier.HOT: 3, Tier.STANDARD: 2, Tier.COOL: 1}
VERIFY_BELOW = 40
FRESH, LISTED = 80, 50
# No two clocks differ by so much: what is dated further ahead was noted while one of them was wrong.
CLOCKS_APART = timedelta(hours=1)


def confidence(tier: str, seen_at: datetime, verified_at: datetime | None, now: datetime) -> int:
    """`max(0, base - hours since anchor × rate)`; whatever is newer, seen or verified, is the anchor."""
    verified = verified_at is not None and verified_at > seen_at
    anchor = verified_at if verified and verified_at is not None else seen_at
    hours = max(0.0, (now - anchor).total_seconds()) / 3600
    return max(0, floor((VERIFIED if verified else SEEN) - hours * LOST_PER_HOUR[Tier(tier)]))


def falls_below(level: int, tier: str, *, base: int = SEEN) -> timedelta:
    """How long after its anchor the confidence is below this level: turns a level into a range of times."""
    return timedelta(hours=(base - level) / LOST_PER_HOUR[Tier(tier)])


def badge(level: int, days_listed: int) -> str | None:
    """What a consumer reads beside a listing; None means that it is not shown at all."""
    if level >= FRESH:
        return "fresh"
    if level >= LISTED:
        return f"listed {days_listed} day{'' if days_listed == 1 else 's'} ago"
    if level >= VERIFY_BELOW:
        return "may no longer be available"
    return None
