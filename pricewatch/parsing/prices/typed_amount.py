"""Parsing of amounts that a user types, in a known currency.

Nothing is guessed: a text that can be read in two ways is refused with a message that names both.
"""

from __future__ import annotations

import re
from decimal import Decimal

from pricewatch.errors import UserError
from pricewatch.money import ISO_4217, MAX_CENTS, Money, minor_units
from pricewatch.parsing.prices.currency import INDIAN_GROUPING, SIGNS, WORDS, currency_code
from pricewatch.parsing.text import collapse_spaces

_SEPARATOR_VARIANTS = str.maketrans({"٫": ".", "٬": ",", "’": "'", "‘": "'", "`": "'", "´": "'", "−": "-"})
_TYPED = re.compile(r"(?P<before>[^\d.,\-]{0,60})(?P<number>-?[\d.,' ]{0,60}\d)(?P<after>\D{0,60})")
_MAX_LENGTH = 60


def typed_currency(text: str) -> str:
    """The ISO 4217 code that a user typed."""
    code = currency_code(text[:_MAX_LENGTH])
    if code is None:
        raise UserError(f"{text.strip()[:20]!r} is not a currency code. Example: EUR")
    return code


def typed_amount(text: str, currency: str) -> Money:
    """The only amount that a text such as `1,000`, `1.000,50` or `1'000.50` can mean in this currency."""
    if currency not in ISO_4217:
        raise UserError(f"{currency[:20]!r} is not a currency code. Example: EUR")
    plain = collapse_spaces(text).translate(_SEPARATOR_VARIANTS)
    found = _TYPED.fullmatch(plain) if len(plain) <= _MAX_LENGTH else None
    if found is None:
        raise _refused(text, currency)
    for mark in (found["before"].strip(), found["after"].strip()):
        _check_mark(mark, currency, text)
    readings = _readings(found["number"].strip(), currency)
    if not readings:
        raise _refused(text, currency)
    if len(readings) > 1:
        whole, exact = (Money(int(one.scaleb(minor_units(currency))), currency) for one in readings)
        raise UserError(
            f"{text.strip()!r} can be read as {whole} or as {exact}. "
            f"Write {readings[0]} for the first, {exact.amount}0 for the second."
        )
    minor = readings[0].scaleb(minor_units(currency))
    if minor > MAX_CENTS:
        raise UserError(f"{text.strip()!r} is more than the highest price, {Money(MAX_CENTS, currency)}.")
    return Money(int(minor), currency)


def _readings(number: str, currency: str) -> list[Decimal]:
    """All amounts that a number can mean, the one with thousands separators first."""
    if not re.fullmatch(r"[\d.,' ]+", number):
        return []
    marks = list(dict.fromkeys(re.findall(r"[^\d]", number)))
    grouped = [_grouped(number, mark, currency) for mark in marks] if len(marks) == 1 else []
    whole, point, fraction = number, "", ""
    if not marks:
        grouped = [number]
    elif marks[-1] in ".," and number.count(marks[-1]) == 1:
        whole, point, fraction = number.partition(marks[-1])
    readings = [Decimal(digits) for digits in grouped if digits]
    if point and (ones := whole if whole.isdigit() else _grouped(whole, marks[0], currency)):
        decimals = minor_units(currency)
        # Extra decimals must be zeros; three digits that can be a group are a group.
        is_amount = not fraction[decimals:].strip("0")
        if is_amount and len(marks) <= 2 and not (readings and decimals < len(fraction)):
            readings.append(Decimal(f"{ones}.{fraction}"))
    return readings


def _grouped(number: str, mark: str, currency: str) -> str:
    """The digits of a number that a separator groups by thousands; empty if it does not."""
    parts = number.split(mark)
    head, *groups = map(len, parts)
    if not all(map(str.isdecimal, parts)) or number.startswith("0") or groups[-1:] != [3]:
        return ""
    by_thousands = head <= 3 and set(groups) == {3}
    by_hundreds = mark == "," and currency in INDIAN_GROUPING and head <= 2 and set(groups[:-1]) <= {2}
    return number.replace(mark, "") if by_thousands or by_hundreds else ""


def _check_mark(mark: str, currency: str, text: str) -> None:
    """Raise UserError if the text next to the number is not a mark of this currency."""
    shared = SIGNS.get(mark) or WORDS.get(mark.lower()) or ()
    if mark and currency not in shared and currency_code(mark) != currency:
        other = currency_code(mark)
        if other:
            raise UserError(f"{text.strip()!r} is in {other}, but the price must be in {currency}.")
        raise _refused(text, currency)


def _refused(text: str, currency: str) -> UserError:
    typed, decimals = text.strip()[:40], minor_units(currency)
    example = Money(1250 if decimals else 1200, currency).amount
    count = {0: "no decimals", 1: "1 decimal"}.get(decimals, f"{decimals} decimals")
    return UserError(f"{typed!r} is not a price in {currency}, which has {count}. Example: {example}")
