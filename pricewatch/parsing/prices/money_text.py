"""Texts that consist of an amount with its currency sign, or of a range; any other text gives None."""

from __future__ import annotations

import re
from decimal import Decimal

from pricewatch.parsing.prices.price import to_cents
from pricewatch.parsing.text import collapse_spaces

_AMOUNT = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,7})(?:\.[0-9]{2})?"
# Matches the whole text: "$1?850" is not one dollar. Only currencies with this format.
_MONEY = {"USD": re.compile(rf"\$({_AMOUNT})"), "GBP": re.compile(rf"£({_AMOUNT})")}
_OPEN_OR_MONTHLY = re.compile(r"\s?\+?(?:\s?/\s?mo(?:nth)?\.?)?$", re.IGNORECASE)
# "$1,850 - 2,400" names its currency once.
_BARE_END = re.compile(r"([-–—]\s*)(?=[0-9])")
_DASH = re.compile(r"\s?[-–—]\s?")


def money_cents(text: str, currency: str) -> int | None:
    """The price in minor units of a text that is one price with its sign; None for any other text."""
    match = _MONEY[currency].fullmatch(text)
    return to_cents(Decimal(match[1].replace(",", "")), currency) if match else None


def money_ends(text: str, currency: str) -> list[int]:
    """Both ends of a range, or a single amount; empty for any other text."""
    ends = [money_cents(end, currency) for end in _DASH.split(collapse_spaces(text))]
    cents = [end for end in ends if end is not None]
    return cents if len(cents) == len(ends) <= 2 and cents == sorted(cents) else []


def money_range(text: str, currency: str) -> tuple[int | None, int | None]:
    """The low and high end of a range; accepts an open end ("+") and a suffix such as "/ mo"."""
    closed = _OPEN_OR_MONTHLY.sub("", collapse_spaces(text))
    ends = money_ends(_BARE_END.sub(lambda dash: dash[1] + closed[:1], closed), currency)
    return ends[0] if ends else None, ends[1] if len(ends) > 1 else None
