"""How sure we are that a listing is still there, and that its price still holds: both fade with time.

A sighting says that the listing is there. Only a price that was read says what it costs.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from math import floor

from pricewatch.vocabulary import Tier

SEEN = 100
VERIFIED = 80
LOST_PER_HOUR = {Tier.HOT: 3, Tier.STANDARD: 2, Tier.COOL: 1}
# A price outlives a sighting: where cards show none, product pages are read once a day.
PRICE_LOST_PER_HOUR = {tier: rate / 2 for tier, rate in LOST_PER_HOUR.items()}
VERIFY_BELOW = 40
FRESH, LIKELY = 80, 50
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


def price_confidence(tier: str, observed_at: datetime | None, now: datetime) -> int | None:
    """The same for the price: fades from when it was last read, however often the listing is seen since."""
    if observed_at is None:
        return None
    hours = max(0.0, (now - observed_at).total_seconds()) / 3600
    return max(0, floor(SEEN - hours * PRICE_LOST_PER_HOUR[Tier(tier)]))


def overall(sighting: int, price: int | None) -> int:
    """What a consumer may rely on: no more than the less certain of the two."""
    return sighting if price is None else min(sighting, price)


def badge(level: int, days_listed: int, price_level: int | None = None, price_days: int = 0) -> str | None:
    """What a consumer reads beside a listing; None means that it is not shown at all."""
    if level < VERIFY_BELOW:
        return None
    if level < LIKELY:
        return "may no longer be available"
    if price_level is not None and price_level < LIKELY:
        return f"price seen {_days(price_days)} ago"
    return "fresh" if level >= FRESH else f"listed {_days(days_listed)} ago"


def _days(count: int) -> str:
    return f"{count} day{'' if count == 1 else 's'}"
