"""Watch rules: one notification when a condition becomes true, none while it stays true."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from pricewatch.money import Money
from pricewatch.rules.watch_conditions import ListingState, comparable_availability, evaluate_rule

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def fired(kind: str, prices: list[tuple[int, str]], **threshold: Any) -> list[int]:
    """Return the positions in a history at which a rule fires."""
    points = [ListingState(Money(price, "EUR"), stock) for price, stock in prices]
    if "threshold" in threshold:
        threshold["threshold"] = Money(threshold["threshold"], "EUR")
    reference = points[0].price
    found = []
    before = points[0]
    for place, after in enumerate(points[1:], 1):
        verdict = evaluate_rule(kind, before, after, reference, **threshold)
        before = replace(
            after, availability=comparable_availability(kind, before.availability, after.availability)
        )
        reference = verdict.reference
        if verdict.fires:
            found.append(place)
    return found


IN, OUT, SOLD, LISTED = "IN_STOCK", "OUT_OF_STOCK", "SOLD", "LISTED"


@pytest.mark.parametrize(
    ("kind", "history", "threshold", "positions"),
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
        # The first known stock is not a return to stock.
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
def test_fires_once_per_change(kind, history, threshold, positions) -> None:
    assert fired(kind, history, **threshold) == positions


YEN, EUROS = Money(10_000, "JPY"), Money(6_000, "EUR")


@pytest.mark.parametrize("kind", ["price_at_or_below", "fell_by", "rose_by"])
def test_different_currencies_are_not_compared(kind: str) -> None:
    threshold = Money(20_000, "USD")
    for before, after in ((YEN, EUROS), (EUROS, YEN)):
        verdict = evaluate_rule(
            kind, ListingState(before, IN), ListingState(after, IN), before, threshold=threshold, percent=5
        )
        assert not verdict.fires
        assert kind == "price_at_or_below" or verdict.reference == after


def test_price_reaches_the_threshold_in_its_currency() -> None:
    """Also after a change of currency: the two prices are not compared with each other."""
    threshold = Money(6_000, "EUR")
    assert evaluate_rule(
        "price_at_or_below", ListingState(YEN, IN), ListingState(EUROS, IN), None, threshold=threshold
    ).fires
    assert evaluate_rule(
        "price_at_or_below", ListingState(None, IN), ListingState(EUROS, IN), None, threshold=threshold
    ).fires
    assert not evaluate_rule(
        "price_at_or_below", ListingState(None, IN), ListingState(YEN, IN), None, threshold=threshold
    ).fires


def test_stock_rules_ignore_the_currency() -> None:
    assert evaluate_rule("back_in_stock", ListingState(YEN, OUT), ListingState(EUROS, IN), None).fires
    assert evaluate_rule("sold", ListingState(YEN, IN), ListingState(EUROS, SOLD), None).fires
