"""The value of a written number, by the separators and the currency that it has."""

from __future__ import annotations

import re
from decimal import Decimal

from price_parser.parser import parse_number

from pricewatch.money import ISO_4217, minor_units
from pricewatch.parsing.prices.currency import INDIAN_GROUPING

_MAX_DIGITS = 40


def amount_of(number: str, currency: str | None) -> Decimal | None:
    """The value of a number by the rules of its currency; None if it can be read in two ways."""
    if len(number) > _MAX_DIGITS:
        return None
    digits = number.replace(" ", "").replace("'", "").replace("’", "")
    decimals = minor_units(currency) if currency in ISO_4217 else 2
    separators = [ch for ch in digits if ch in ".,"]
    if not separators:
        return Decimal(digits)
    last = separators[-1]
    tail = len(digits) - digits.rindex(last) - 1
    mixed = len(set(separators)) > 1
    if separators.count(last) > 1:
        # A repeated separator groups thousands; with a second kind before it, the number is not valid.
        return None if mixed else _grouped(digits, last, is_indian=currency in INDIAN_GROUPING)
    if tail == 3 and not mixed:
        if decimals == 3:
            return parse_number(digits, last)
        if digits.startswith("0"):
            return parse_number(digits, last)
        return _grouped(digits, last)
    if tail == 3 and decimals != 3:
        return None
    if mixed and not _are_groups(digits[: digits.rindex(last)]):
        return None
    if tail > 3 and tail != decimals and set(digits[-tail + 2 :]) != {"0"}:
        return None
    return parse_number(digits, last)


def _are_groups(whole: str) -> bool:
    """Whether the integer part is grouped by thousands, or by hundreds as in India."""
    head, *groups = re.split(r"[.,]", whole)
    return 1 <= len(head) <= 3 and len(groups[-1]) == 3 and all(len(group) in (2, 3) for group in groups)


def _grouped(digits: str, separator: str, *, is_indian: bool = False) -> Decimal | None:
    head, *groups = digits.split(separator)
    shorter = {2, 3} if is_indian and separator == "," else {3}
    if not 1 <= len(head) <= 3 or len(groups[-1]) != 3 or any(len(group) not in shorter for group in groups):
        return None
    return Decimal(head + "".join(groups))
