"""When a market has had no fresh data, or no fresh prices, for too long."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from pricewatch.vocabulary import Tier

EVERY_HOURS = {Tier.HOT: 6, Tier.STANDARD: 12, Tier.COOL: 24}
# One crawl may fail and the next one be late; two missed ones are news.
MISSED_CRAWLS = 2
GRACE = timedelta(hours=1)
# Fewer listings than these say nothing about a market.
FEWEST_PRICES = 5
RECENTLY = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class StalePrices:
    """How old a price may be, and which share of the recently seen listings may have an older one."""

    hours: float = 48
    share: float = 0.3

    def read_before(self, now: datetime) -> datetime:
        return now - timedelta(hours=self.hours)

    def seen_since(self, now: datetime) -> datetime:
        """What was seen since then could have shown its price since then."""
        return max(now - RECENTLY, self.read_before(now))

    def are_too_many(self, stale: int, priced: int) -> bool:
        return priced >= FEWEST_PRICES and stale > self.share * priced


def stale_after(tier: str, frequency_hours: int | None = None) -> timedelta:
    every = frequency_hours or EVERY_HOURS[Tier(tier)]
    return MISSED_CRAWLS * timedelta(hours=every) + GRACE


def no_fresh_data(
    tier: str, frequency_hours: int | None, last_at: datetime | None, since: datetime, now: datetime
) -> bool:
    """`since` is when anybody could first have expected data: the market was made or switched on."""
    return now - (last_at or since) > stale_after(tier, frequency_hours)
