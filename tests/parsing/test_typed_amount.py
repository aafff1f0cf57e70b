"""Amounts that users type: one amount, or an error message."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricewatch.errors import UserError
from pricewatch.money import ISO_4217, MAX_CENTS, Money, minor_units
from pricewatch.parsing.prices.typed_amount import typed_amount, typed_currency

READ = [
    ("12.50", "EUR", 1250),
    ("12,50", "EUR", 1250),
    ("12,5", "EUR", 1250),
    ("12", "EUR", 1200),
    ("0", "EUR", 0),
    ("0.99", "EUR", 99),
    (",99", "EUR", None),
    ("1,000", "EUR", 100_000),
    ("1.000", "EUR", 100_000),
    ("1 000", "EUR", 100_000),
    ("1\u202f000", "EUR", 100_000),
    ("1'000", "CHF", 100_000),
    ("1’000.50", "CHF", 100_050),
    ("1.000,50", "EUR", 100_050),
    ("1,000.50", "USD", 100_050),
    ("1 000,50", "EUR", 100_050),
    ("1.000.000", "JPY", 1_000_000),
    ("1,000", "JPY", 1_000),
    ("1.000", "JPY", 1_000),
    ("1000", "JPY", 1_000),
    ("1000.00", "JPY", 1_000),
    ("1,000.00", "JPY", 1_000),
    ("1000", "KWD", 1_000_000),
    ("1.5", "KWD", 1_500),
    ("0.250", "KWD", 250),
    ("1.2340", "KWD", 1_234),
    ("1,000.250", "KWD", 1_000_250),
    ("1234.567", "KWD", 1_234_567),
    ("38.1234", "CLF", 381_234),
    ("1,23,456", "INR", 12_345_600),
    ("€12.50", "EUR", 1250),
    ("12,50 €", "EUR", 1250),
    ("EUR 12.50", "EUR", 1250),
    ("12.50 eur", "EUR", 1250),
    ("$5", "CAD", 500),
    ("12.500", "EUR", 1_250_000),
    ("1000.000", "EUR", 100_000),
    ("١٢", "EUR", 1200),
    # Not amounts.
    ("", "EUR", None),
    ("abc", "EUR", None),
    ("-5", "EUR", None),
    ("- 5", "EUR", None),
    ("12.345.6", "EUR", None),
    ("1,00,000", "EUR", None),
    ("1.2.3", "EUR", None),
    ("12.505", "JPY", 12_505),
    ("12.5", "JPY", None),
    ("12.555,5", "EUR", 1_255_550),
    ("12.55", "JPY", None),
    ("1.2345", "EUR", None),
    ("12 50", "EUR", None),
    ("1'00", "EUR", None),
    ("1 000 00", "EUR", None),
    ("1,000 000", "EUR", None),
    ("1 000.000,5", "EUR", None),
    ("5 apples", "EUR", None),
    ("1e5", "EUR", None),
    ("nan", "EUR", None),
    ("9" * 400, "EUR", None),
    ("1000000.00", "EUR", None),
]


@pytest.mark.parametrize(("text", "currency", "minor"), READ)
def test_amount_is_parsed_or_refused(text: str, currency: str, minor: int | None) -> None:
    if minor is None:
        with pytest.raises(UserError):
            typed_amount(text, currency)
    else:
        assert typed_amount(text, currency) == Money(minor, currency)


@pytest.mark.parametrize("text", ["1,000", "1.000", "12.345"])
def test_three_digits_are_ambiguous_with_three_decimals(text: str) -> None:
    with pytest.raises(UserError, match="can be read as") as refused:
        typed_amount(text, "KWD")
    # The message names both amounts, and its proposals are accepted.
    message = str(refused.value)
    proposals = message.partition("Write ")[2].rstrip(".")
    first, second = proposals.removesuffix(" for the second").split(" for the first, ")
    small, large = sorted((typed_amount(first, "KWD"), typed_amount(second, "KWD")))
    assert large.minor == 1000 * small.minor
    assert str(small) in message
    assert str(large) in message


def test_other_currency_is_refused() -> None:
    with pytest.raises(UserError, match="is in USD, but the price must be in EUR"):
        typed_amount("12.50 USD", "EUR")
    with pytest.raises(UserError):
        typed_amount("$12.50", "EUR")


def test_error_names_the_decimals() -> None:
    message = r"'12\.5' is not a price in JPY, which has no decimals. Example: 1200"
    with pytest.raises(UserError, match=message):
        typed_amount("12.5", "JPY")


def test_typed_currency_is_parsed_or_refused() -> None:
    assert typed_currency(" eur ") == "EUR"
    for text in ("", "euros and dollars", "XYZ", "$"):
        with pytest.raises(UserError, match="is not a currency code"):
            typed_currency(text)


@given(st.integers(0, MAX_CENTS), st.sampled_from(sorted(ISO_4217)))
def test_displayed_amount_can_be_typed(minor: int, currency: str) -> None:
    """With one more zero, or without thousands separators, every amount is unambiguous."""
    money = Money(minor, currency)
    text = f"{money.amount}0" if minor_units(currency) == 3 else str(money.amount)
    assert typed_amount(text, currency) == money
    if minor_units(currency) != 3:
        assert typed_amount(f"{money.amount:,} {currency}", currency) == money


@given(st.text(max_size=30), st.sampled_from(["EUR", "JPY", "KWD"]))
def test_no_text_raises_other_errors(text: str, currency: str) -> None:
    with suppress(UserError):
        assert 0 <= typed_amount(text, currency).minor <= MAX_CENTS
