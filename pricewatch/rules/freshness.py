"""Confidence that a listing still exists and that its price is still right; both decay with time.

Seeing a listing confirms that it exists. Only reading its price confirms the price.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from math import floor

from pricewatch.vocabulary import Tier

SEEN = 100
VERIFIED = 80
LOST_PER_HOUR = {Tier.HOT: 3, Tier.STANDARD: 2, Tier.COOL: 1}
# Prices decay more slowly: where cards show no price, product pages are read only once a day.
PRICE_LOST_PER_HOUR = {tier: rate / 2 for tier, rate in LOST_PER_HOUR.items()}
VERIFY_BELOW = 40
FRESH, LIKELY = 80, 50
# The largest clock difference that is plausible: a timestamp further ahead came from a wrong clock.
CLOCKS_APART = timedelta(hours=1)


def confidence(tier: str, seen_at: datetime, verified_at: datetime | None, now: datetime) -> int:
    """Return `max(0, base - hours since anchor × rate)`; the anchor is the newer of seen and verified."""
    verified = verified_at is not None and verified_at > seen_at
    anchor = verified_at if verified and verified_at is not None else seen_at
    hours = max(0.0, (now - anchor).total_seconds()) / 3600
    return max(0, floor((VERIFIED if verified else SEEN) - hours * LOST_PER_HOUR[Tier(tier)]))


def time_until_below(level: int, tier: str, *, base: int = SEEN) -> timedelta:
    """Return how long after its anchor the confidence falls below a level, for queries that use an index."""
    return timedelta(hours=(base - level) / LOST_PER_HOUR[Tier(tier)])


def price_confidence(tier: str, observed_at: datetime | None, now: datetime) -> int | None:
    """Return the confidence in the price, which decays from when it was last read."""
    if observed_at is None:
        return None
    hours = max(0.0, (now - observed_at).total_seconds()) / 3600
    return max(0, floor(SEEN - hours * PRICE_LOST_PER_HOUR[Tier(tier)]))


def overall(sighting: int, price: int | None) -> int:
    """Return the lower of the two confidences."""
    return sighting if price is None else min(sighting, price)


def badge(level: int, days_listed: int, price_level: int | None = None, price_days: int = 0) -> str | None:
    """Return the label of a listing for consumers; None means that the listing is hidden."""
    if level < VERIFY_BELOW:
        return None
    if level < LIKELY:
        return "may no longer be available"
    if price_level is not None and price_level < LIKELY:
        return f"price seen {_days(price_days)} ago"
    return "fresh" if level >= FRESH else f"listed {_days(days_listed)} ago"


def _days(count: int) -> str:
    return f"{count} day{'' if count == 1 else 's'}"
