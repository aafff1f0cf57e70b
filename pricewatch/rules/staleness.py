"""When a market has had no fresh data for too long."""

from __future__ import annotations

from datetime import datetime, timedelta

from pricewatch.items import Tier

EVERY_HOURS = {Tier.HOT: 6, Tier.STANDARD: 12, Tier.COOL: 24}
# One crawl may fail and the next one be late; two missed ones are news.
MISSED_CRAWLS = 2
GRACE = timedelta(hours=1)


def stale_after(tier: str, frequency_hours: int | None = None) -> timedelta:
    every = frequency_hours or EVERY_HOURS[Tier(tier)]
    return MISSED_CRAWLS * timedelta(hours=every) + GRACE


def no_fresh_data(
    tier: str, frequency_hours: int | None, last_at: datetime | None, since: datetime, now: datetime
) -> bool:
    """`since` is when anybody could first have expected data: the market was made or switched on."""
    return now - (last_at or since) > stale_after(tier, frequency_hours)
