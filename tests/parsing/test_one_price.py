"""Texts that consist of one price."""

from __future__ import annotations

import pytest

from pricewatch.parsing.prices.one_price import one_price


@pytest.mark.parametrize(
    ("text", "currency", "cents"),
    [
        ("£45.17", "GBP", 4517),
        ("45,17 €", "EUR", 4517),
        ("€ 1.226", "EUR", 122600),
        ("1 649,00 €", "EUR", 164900),
        ("EUR 12,50", "EUR", 1250),
        ("19,- €", "EUR", 1900),
        ("Preis: 19,90 €*", "EUR", 1990),
        ("¥4,400", "JPY", 4400),
        ("12.50", "USD", 1250),
        ("£1,234.50 inc VAT", "GBP", 123450),
        # Damaged numbers.
        ("£45?17", "GBP", None),
        ("£?5.17", "GBP", None),
        ("£45.1?", "GBP", None),
        ("£45 17", "GBP", None),
        ("x45.17", "GBP", None),
        ("§45.17", "GBP", None),
        ("£4§.17", "GBP", None),
        # Several prices, or another currency.
        ("£12 - £15", "GBP", None),
        ("from £12", "GBP", None),
        ("12 x £3.50", "GBP", None),
        ("£3.50 per month", "GBP", None),
        ("Preis auf Anfrage", "EUR", None),
        ("zu verschenken", "EUR", None),
        ("VB", "EUR", None),
        ("Call for price", "USD", None),
        ("", "USD", None),
    ],
)
def test_only_a_single_price_is_accepted(text, currency, cents):
    assert one_price(text, currency).cents() == cents


def test_hint_does_not_override_the_currency_sign():
    assert one_price("$12.00", "EUR").currency != "EUR"
