"""Prices in machine-readable fields."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricewatch.parsing.prices.price import PriceRefusal, parse_machine_price, to_cents


@pytest.mark.parametrize(
    ("value", "currency", "amount"),
    [
        ("19.99", "EUR", "19.99"),
        ("1149.0000", "EUR", "1149"),
        (23450, "PKR", "23450"),
        (19.989999999999998, "EUR", "19.99"),
        ("1.226,00", "EUR", "1226"),
        ("1,149.00", "EUR", "1149"),
        ("1149,00 €", "EUR", "1149"),
        ("0.990", "EUR", "0.99"),
        ("1.250", "KWD", "1.25"),
        ("1234.00", "JPY", "1234"),
        ("1.226", "EUR", None),
        ("12.990", "CLP", None),
        ("19.5", "JPY", None),
        ("", "EUR", None),
        ("NaN", "EUR", None),
        ("Infinity", "EUR", None),
        ("1e400", "EUR", None),
        (None, "EUR", None),
        (True, "EUR", None),
        (-5, "EUR", None),
        ([], "EUR", None),
    ],
)
def test_machine_readable_prices_are_parsed(value, currency, amount):
    assert parse_machine_price(value, currency).amount == (Decimal(amount) if amount else None)


def test_contradictory_sign_leaves_the_currency_unknown():
    assert parse_machine_price("$19.99", "EUR").currency is None
    assert parse_machine_price("€19.99", "USD").currency is None


@settings(deadline=None)
@given(st.floats() | st.integers() | st.text(max_size=20))
def test_no_field_raises(value):
    amount = parse_machine_price(value, "EUR").amount
    assert amount is None or amount >= 0


@pytest.mark.parametrize("text", ["1e999999", "1e99", "9" * 400])
def test_huge_number_is_out_of_range(text: str) -> None:
    assert parse_machine_price(text, "EUR").refusal is PriceRefusal.OUT_OF_RANGE
    assert to_cents(Decimal(text), "EUR") is None
