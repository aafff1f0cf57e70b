"""Watch rules: one message when a condition comes true, none while it stays so."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pricewatch.rules.staleness import StalePrices, no_fresh_data
from pricewatch.rules.watch import Point, judge, known_stock

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def fired(kind: str, prices: list[tuple[int, str]], **threshold: float) -> list[int]:
    """The places in a history at which a rule speaks up."""
    points = [Point(price, "EUR", stock) for price, stock in prices]
    reference: int | None = points[0].price_cents
    found = []
    before = points[0]
    for place, after in enumerate(points[1:], 1):
        verdict = judge(kind, before, after, reference, **threshold)  # type: ignore[arg-type]
        before = replace(after, availability=known_stock(kind, before.availability, after.availability))
        reference = verdict.reference_cents
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
            {"threshold_cents": 90},
            [1, 4],
        ),
        ("price_at_or_below", [(80, IN), (70, IN)], {"threshold_cents": 90}, []),
        ("price_at_or_below", [(100, IN), (80, OUT), (80, IN)], {"threshold_cents": 90}, [2]),
        ("fell_by", [(100, IN), (95, IN), (90, IN), (85, IN)], {"threshold_percent": 10}, [2]),
        ("fell_by", [(100, IN), (90, IN), (81, IN)], {"threshold_percent": 10}, [1, 2]),
        ("fell_by", [(100, IN), (120, IN), (108, IN)], {"threshold_percent": 10}, [2]),
        ("fell_by", [(100, IN), (110, IN)], {"threshold_percent": 10}, []),
        ("rose_by", [(100, IN), (104, IN), (110, IN), (111, IN)], {"threshold_percent": 10}, [2]),
        ("rose_by", [(100, IN), (80, IN), (90, IN)], {"threshold_percent": 10}, [2]),
        ("back_in_stock", [(100, IN), (100, OUT), (100, IN), (90, IN)], {}, [2]),
        ("back_in_stock", [(100, SOLD), (100, IN)], {}, [1]),
        # A page that tells of stock for the first time brings nothing back.
        ("back_in_stock", [(100, LISTED), (100, IN)], {}, []),
        ("back_in_stock", [(100, LISTED), (100, OUT), (100, LISTED), (100, IN)], {}, [3]),
        ("back_in_stock", [(100, IN), (100, LISTED), (100, IN)], {}, []),
        ("back_in_stock", [(100, SOLD), (100, LISTED)], {}, []),
        ("price_at_or_below", [(100, LISTED), (90, LISTED), (90, IN)], {"threshold_cents": 90}, [1]),
        ("price_at_or_below", [(80, OUT), (80, LISTED), (80, IN)], {"threshold_cents": 90}, [1]),
        ("sold", [(100, IN), (100, SOLD), (90, SOLD)], {}, [1]),
        ("gone", [(100, IN), (100, SOLD)], {}, []),
    ],
)
def test_speaks_up_once_per_change(kind, history, threshold, places) -> None:
    assert fired(kind, history, **threshold) == places


def test_two_currencies_are_not_compared() -> None:
    before, after = Point(10_000, "JPY", IN), Point(60, "EUR", IN)
    for kind in ("price_at_or_below", "fell_by"):
        assert not judge(kind, before, after, 10_000, threshold_cents=100, threshold_percent=5).fires


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
