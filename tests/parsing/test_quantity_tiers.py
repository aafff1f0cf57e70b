"""Prices by quantity."""

from __future__ import annotations

import pytest

from pricewatch.parsing.prices.quantity_tiers import tiers_in, unit_price


@pytest.mark.parametrize(
    ("text", "currency", "tiers"),
    [
        ("1-4: $13.95, 5-9: $13.50, 10+: $12.95", "USD", {(1, 1395), (5, 1350), (10, 1295)}),
        ("1-4 $13.95 5-9 $13.50 10+ $12.95", "USD", {(1, 1395), (5, 1350), (10, 1295)}),
        ("1: 13,95 € 5+: 12,50 €", "EUR", {(1, 1395), (5, 1250)}),
        ("1 – 9: CHF 1'200.50; 10+: CHF 1'100", "CHF", {(1, 120050), (10, 110000)}),
        ("1: ¥1,200 2+: ¥1,000", "JPY", {(1, 1200), (2, 1000)}),
        # Damaged numbers, bare numbers, another currency, or other texts.
        ("1-4: $13 95, 5-9: $13.50", "USD", {(5, 1350)}),
        ("1-4: $1?.95, 5-9: $13.50", "USD", {(5, 1350)}),
        ("1-4: 13.95", "USD", set()),
        ("1-4: 13,95 €", "USD", set()),
        ("$13.95 – $19.95", "USD", set()),
        ("€ 13 - 15 €", "EUR", set()),
        ("Open 9-17: call us", "USD", set()),
    ],
)
def test_tiers_are_parsed(text, currency, tiers):
    assert tiers_in(text, currency) == tiers


@pytest.mark.parametrize(
    ("tiers", "listed", "price", "is_sure"),
    [
        ({(1, 1395), (5, 1350)}, [], 1395, True),
        ({(1, 1395), (5, 1350)}, [1395], 1395, True),
        ({(1, 1395), (5, 1350)}, [1350, 1395], 1395, True),
        ({(1, 1395), (5, 1350)}, [1100], 1395, False),
        # One unit is never cheaper than several.
        ({(1, 1200), (5, 1350)}, [], 1200, False),
        ({(5, 1350)}, [1100], 1100, False),
        ({(5, 1350)}, [1395], 1395, True),
        # All tiers have the same price.
        ({(5, 1295), (10, 1295)}, [], 1295, True),
        ({(5, 1350), (10, 1295)}, [], None, True),
        (set(), [1395], 1395, True),
        (set(), [1100, 1395], None, True),
    ],
)
def test_price_of_one_unit_is_chosen(tiers, listed, price, is_sure):
    assert unit_price(tiers, listed) == (price, is_sure)
