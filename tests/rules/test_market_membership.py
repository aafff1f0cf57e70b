"""Whether a listing belongs to a market."""

from __future__ import annotations

import pytest

from pricewatch.money import Money
from pricewatch.rules.market_membership import PriceRange, belongs


@pytest.mark.parametrize(
    ("title", "price", "rule", "fits"),
    [
        ("Nikon Z6", 90000, {}, True),
        ("Nikon Z6 DEFEKT", 90000, {"exclude_keywords": ["defekt"]}, False),
        ("Straße", 1, {"exclude_keywords": ["STRASSE"]}, False),
        ("Nikon Z6", 90000, {"exclude_keywords": ["", " "]}, True),
        ("Nikon Z6", 90000, {"prices": PriceRange.of(90000, 90000, "EUR")}, True),
        ("Nikon Z6", 89999, {"prices": PriceRange.of(90000, None, "EUR")}, False),
        ("Nikon Z6", 90001, {"prices": PriceRange.of(None, 90000, "EUR")}, False),
        ("Nikon Z6", None, {"prices": PriceRange.of(90000, 95000, "EUR")}, True),
    ],
)
def test_price_range_and_keywords_decide_membership(title, price, rule, fits):
    assert belongs(title, Money.of(price, "EUR"), **rule) is fits


@pytest.mark.parametrize(("lowest", "highest"), [(90000, None), (None, 100), (90000, 95000)])
def test_a_price_of_another_currency_is_not_compared(lowest: int | None, highest: int | None) -> None:
    prices = PriceRange.of(lowest, highest, "EUR")
    assert belongs("Nikon Z6", Money(5000, "JPY"), prices=prices)
    assert not prices.can_compare(Money(5000, "JPY"))
    assert not belongs("Nikon Z6", Money(5000, "EUR"), prices=prices)
    assert prices.can_compare(Money(5000, "EUR"))
