"""When a market's data or prices are too old."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from pricewatch.vocabulary import Tier

EVERY_HOURS = {Tier.HOT: 6, Tier.STANDARD: 12, Tier.COOL: 24}
# One failed or late crawl is normal; two missed crawls raise an alert.
MISSED_CRAWLS = 2
GRACE = timedelta(hours=1)
# With fewer prices than this, a market is not judged.
FEWEST_PRICES = 5
RECENTLY = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class StalePrices:
    """The age limit of prices, and the share of recently seen listings that may exceed it."""

    hours: float = 48
    share: float = 0.3

    def read_before(self, now: datetime) -> datetime:
        return now - timedelta(hours=self.hours)

    def seen_since(self, now: datetime) -> datetime:
        """Return since when a listing must have been seen to be expected to have a fresh price."""
        return max(now - RECENTLY, self.read_before(now))

    def are_too_many(self, stale: int, priced: int) -> bool:
        return priced >= FEWEST_PRICES and stale > self.share * priced


def stale_after(tier: str, frequency_hours: int | None = None) -> timedelta:
    every = frequency_hours or EVERY_HOURS[Tier(tier)]
    return MISSED_CRAWLS * timedelta(hours=every) + GRACE


def no_fresh_data(
    tier: str, frequency_hours: int | None, last_at: datetime | None, since: datetime, now: datetime
) -> bool:
    """Return whether data is overdue; `since` is when the market was created or enabled."""
    return now - (last_at or since) > stale_after(tier, frequency_hours)
