"""Whether a listing belongs to a market."""

import pytest

from pricewatch.rules.market import belongs


@pytest.mark.parametrize(
    ("title", "price", "rule", "fits"),
    [
        ("Nikon Z6", 90000, {}, True),
        ("Nikon Z6 DEFEKT", 90000, {"exclude_keywords": ["defekt"]}, False),
        ("Straße", 1, {"exclude_keywords": ["STRASSE"]}, False),
        ("Nikon Z6", 90000, {"exclude_keywords": ["", " "]}, True),
        ("Nikon Z6", 90000, {"min_price_cents": 90000, "max_price_cents": 90000}, True),
        ("Nikon Z6", 89999, {"min_price_cents": 90000}, False),
        ("Nikon Z6", 90001, {"max_price_cents": 90000}, False),
        ("Nikon Z6", None, {"min_price_cents": 90000, "max_price_cents": 95000}, True),
    ],
)
def test_belongs(title, price, rule, fits):
    assert belongs(title, price, **rule) is fits
