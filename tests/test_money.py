"""Money: decimals by currency, and no arithmetic or comparison across currencies."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

from pricewatch.money import CurrencyMismatch, Money, by_currency, minor_units


@pytest.mark.parametrize(
    ("code", "digits"),
    [("EUR", 2), ("JPY", 0), ("KRW", 0), ("CLP", 0), ("KWD", 3), ("BHD", 3), ("HUF", 2), ("CLF", 4)],
)
def test_decimals_depend_on_the_currency(code: str, digits: int) -> None:
    assert minor_units(code) == digits


@pytest.mark.parametrize(
    ("minor", "currency", "text"),
    [
        (1250, "EUR", "12.50 EUR"),
        (1250, "JPY", "1250 JPY"),
        (1250, "KWD", "1.250 KWD"),
        (5, "USD", "0.05 USD"),
    ],
)
def test_money_is_formatted_with_the_decimals_of_its_currency(minor: int, currency: str, text: str) -> None:
    assert str(Money(minor, currency)) == text


@pytest.mark.parametrize(
    "do",
    [
        *(operator.lt, operator.le, operator.gt, operator.ge, operator.add, operator.sub, operator.truediv),
        *(Money.change_from, lambda one, other: one.exceeds(other, 4)),
        lambda one, other: one.is_percent_of(4, other),
    ],
)
def test_different_currencies_cannot_be_compared(do: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(CurrencyMismatch):
        do(Money(100, "EUR"), Money(100, "USD"))
    with pytest.raises(CurrencyMismatch):
        do(Money(100, "EUR"), 100)
    do(Money(100, "EUR"), Money(50, "EUR"))


def test_the_same_amount_of_another_currency_is_another_price() -> None:
    assert Money(100, "EUR") != Money(100, "USD")
    assert len({Money(100, "EUR"), Money(100, "EUR"), Money(100, "USD")}) == 2


def test_amounts_of_one_currency_can_be_added_and_compared() -> None:
    assert Money(150, "EUR") - Money(50, "EUR") == Money(100, "EUR")
    assert Money(150, "EUR") + Money(50, "EUR") == Money(200, "EUR")
    assert Money(150, "EUR").change_from(Money(100, "EUR")) == 0.5
    assert Money(150, "EUR").change_from(Money(0, "EUR")) is None
    assert Money(401, "EUR").exceeds(Money(100, "EUR"), 4)
    assert not Money(400, "EUR").exceeds(Money(100, "EUR"), 4)


@pytest.mark.parametrize(
    "arguments", [(True, "EUR"), (1.5, "EUR"), ("1", "EUR"), (1, "eur"), (1, "EURO"), (1, "")]
)
def test_invalid_amounts_and_currencies_are_refused(arguments: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        Money(*arguments)


def test_money_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Money(1, "EUR").minor = 2  # type: ignore[misc]


def test_incomplete_price_is_none() -> None:
    assert Money.of(None, "EUR") is None
    assert Money.of(5, None) is None
    assert Money.of(5, "euros") is None
    assert Money.of(0, "EUR") == Money(0, "EUR")


def test_prices_are_grouped_by_currency() -> None:
    prices = [Money(30, "USD"), Money(900, "JPY"), Money(20, "USD")]
    assert by_currency(prices) == {"USD": [Money(20, "USD"), Money(30, "USD")], "JPY": [Money(900, "JPY")]}
    assert list(by_currency(prices)) == ["USD", "JPY"]
