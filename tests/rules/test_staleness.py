"""When a market's data or prices are too old."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pricewatch.rules.staleness import StalePrices, no_fresh_data

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("tier", "hours", "stale"), [("hot", 13, False), ("hot", 13.1, True), ("cool", 48, False)]
)
def test_a_market_is_stale_after_two_missed_crawls(tier: str, hours: float, stale: bool) -> None:
    last = NOW - timedelta(hours=hours)
    assert no_fresh_data(tier, None, last, NOW - timedelta(days=9), NOW) is stale
    assert no_fresh_data(tier, None, None, last, NOW) is stale
    assert no_fresh_data(tier, 100, last, last, NOW) is False


def test_stale_prices_are_a_share_of_recently_seen_listings() -> None:
    limits = StalePrices(hours=48, share=0.3)
    assert not limits.are_too_many(3, 10)
    assert limits.are_too_many(4, 10)
    # Too few prices to judge.
    assert not limits.are_too_many(4, 4)
    assert limits.seen_since(NOW) == NOW - timedelta(hours=24)
    # A listing seen since then could have shown its price since then.
    assert StalePrices(hours=6).seen_since(NOW) == StalePrices(hours=6).read_before(NOW)
