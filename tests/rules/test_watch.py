"""Watch rules: one message when a condition comes true, none while it stays so."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pricewatch.money import Money
from pricewatch.rules.staleness import StalePrices, no_fresh_data
from pricewatch.rules.watch_conditions import Point, judge, known_stock

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def fired(kind: str, prices: list[tuple[int, str]], **threshold: Any) -> list[int]:
    """The places in a history at which a rule speaks up."""
    points = [Point(Money(price, "EUR"), stock) for price, stock in prices]
    if "threshold" in threshold:
        threshold["threshold"] = Money(threshold["threshold"], "EUR")
    reference = points[0].price
    found = []
    before = points[0]
    for place, after in enumerate(points[1:], 1):
        verdict = judge(kind, before, after, reference, **threshold)
        before = replace(after, availability=known_stock(kind, before.availability, after.availability))
        reference = verdict.reference
        if verdict.fires:
            found.append(place)
    return found


IN, OUT, SOLD, LISTED = "IN_STOCK", "OUT_OF_STOCK", "SOLD", "LISTED"


@pytest.mark.parametrize(
    ("kind", "history", "threshold", "places"),
    [
        (
            "price_at_or_below",
            [(100, IN), (90, IN), (80, IN), (95, IN), (90, IN)],
            {"threshold": 90},
            [1, 4],
        ),
        ("price_at_or_below", [(80, IN), (70, IN)], {"threshold": 90}, []),
        ("price_at_or_below", [(100, IN), (80, OUT), (80, IN)], {"threshold": 90}, [2]),
        ("fell_by", [(100, IN), (95, IN), (90, IN), (85, IN)], {"percent": 10}, [2]),
        ("fell_by", [(100, IN), (90, IN), (81, IN)], {"percent": 10}, [1, 2]),
        ("fell_by", [(100, IN), (120, IN), (108, IN)], {"percent": 10}, [2]),
        ("fell_by", [(100, IN), (110, IN)], {"percent": 10}, []),
        ("rose_by", [(100, IN), (104, IN), (110, IN), (111, IN)], {"percent": 10}, [2]),
        ("rose_by", [(100, IN), (80, IN), (90, IN)], {"percent": 10}, [2]),
        ("back_in_stock", [(100, IN), (100, OUT), (100, IN), (90, IN)], {}, [2]),
        ("back_in_stock", [(100, SOLD), (100, IN)], {}, [1]),
        # A page that tells of stock for the first time brings nothing back.
        ("back_in_stock", [(100, LISTED), (100, IN)], {}, []),
        ("back_in_stock", [(100, LISTED), (100, OUT), (100, LISTED), (100, IN)], {}, [3]),
        ("back_in_stock", [(100, IN), (100, LISTED), (100, IN)], {}, []),
        ("back_in_stock", [(100, SOLD), (100, LISTED)], {}, []),
        ("price_at_or_below", [(100, LISTED), (90, LISTED), (90, IN)], {"threshold": 90}, [1]),
        ("price_at_or_below", [(80, OUT), (80, LISTED), (80, IN)], {"threshold": 90}, [1]),
        ("sold", [(100, IN), (100, SOLD), (90, SOLD)], {}, [1]),
        ("gone", [(100, IN), (100, SOLD)], {}, []),
    ],
)
def test_speaks_up_once_per_change(kind, history, threshold, places) -> None:
    assert fired(kind, history, **threshold) == places


YEN, EUROS = Money(10_000, "JPY"), Money(6_000, "EUR")


@pytest.mark.parametrize("kind", ["price_at_or_below", "fell_by", "rose_by"])
def test_two_currencies_are_not_compared(kind: str) -> None:
    threshold = Money(20_000, "USD")
    for before, after in ((YEN, EUROS), (EUROS, YEN)):
        verdict = judge(kind, Point(before, IN), Point(after, IN), before, threshold=threshold, percent=5)
        assert not verdict.fires
        assert kind == "price_at_or_below" or verdict.reference == after


def test_a_price_comes_down_to_the_threshold_of_its_own_currency() -> None:
    """Also where the site showed another currency before: neither price is compared with the other."""
    threshold = Money(6_000, "EUR")
    assert judge("price_at_or_below", Point(YEN, IN), Point(EUROS, IN), None, threshold=threshold).fires
    assert judge("price_at_or_below", Point(None, IN), Point(EUROS, IN), None, threshold=threshold).fires
    assert not judge("price_at_or_below", Point(None, IN), Point(YEN, IN), None, threshold=threshold).fires


def test_stock_has_no_currency() -> None:
    assert judge("back_in_stock", Point(YEN, OUT), Point(EUROS, IN), None).fires
    assert judge("sold", Point(YEN, IN), Point(EUROS, SOLD), None).fires


@pytest.mark.parametrize(
    ("tier", "hours", "stale"), [("hot", 13, False), ("hot", 13.1, True), ("cool", 48, False)]
)
def test_a_market_is_stale_after_two_missed_crawls(tier: str, hours: float, stale: bool) -> None:
    last = NOW - timedelta(hours=hours)
    assert no_fresh_data(tier, None, last, NOW - timedelta(days=9), NOW) is stale
    assert no_fresh_data(tier, None, None, last, NOW) is stale
    assert no_fresh_data(tier, 100, last, last, NOW) is False


def test_stale_prices_are_a_share_of_those_that_were_seen() -> None:
    limits = StalePrices(hours=48, share=0.3)
    assert not limits.are_too_many(3, 10)
    assert limits.are_too_many(4, 10)
    # A handful says nothing.
    assert not limits.are_too_many(4, 4)
    assert limits.seen_since(NOW) == NOW - timedelta(hours=24)
    # Whatever was seen since could have shown its price since.
    assert StalePrices(hours=6).seen_since(NOW) == StalePrices(hours=6).read_before(NOW)
