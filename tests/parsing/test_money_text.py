"""Texts that consist of one amount or a range."""

from __future__ import annotations

import pytest

from pricewatch.parsing.prices.money_text import money_cents, money_ends, money_range


@pytest.mark.parametrize(
    ("text", "currency", "cents"),
    [
        ("$13.95", "USD", 1395),
        ("$1,000.50", "USD", 100050),
        ("£47.82", "GBP", 4782),
        ("$13.95", "GBP", None),
        ("£47.82", "USD", None),
        ("from $13.95", "USD", None),
        ("$13.9", "USD", None),
        ("$1?3.95", "USD", None),
        ("– $19.95", "USD", None),
        ("$0", "USD", None),
        ("", "USD", None),
    ],
)
def test_amounts_are_parsed(text, currency, cents):
    assert money_cents(text, currency) == cents


def test_both_ends_of_a_range_are_parsed():
    assert money_ends("$12.95 – $13.95", "USD") == [1295, 1395]
    assert money_ends("$13.95 – $12.95", "USD") == []
    assert money_ends("$1 - $2 - $3", "USD") == []


def test_ranges_are_parsed():
    assert money_range("$1,850 - 2,400", "USD") == (185000, 240000)
    assert money_range("$1,850+", "USD") == (185000, None)
    assert money_range("Call for Rent", "USD") == (None, None)
