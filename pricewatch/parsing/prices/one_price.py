"""A text that consists of one price; for places where anything else is an error."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pricewatch.parsing.prices.currency_marks import mark_after, mark_before
from pricewatch.parsing.prices.numbers import numbers_in
from pricewatch.parsing.prices.price import ParsedPrice, PriceRefusal, exclude_net, parse_price
from pricewatch.parsing.text import collapse_spaces

_ONE_NUMBER = re.compile(r"(\D*?)(\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d+)?|\d[\d.,]*\d|\d)(\D*)")
# Characters that may touch a number or its sign: "19,-", "(19 €)", "Price:19", "19 €*".
_TOUCHES_LEFT = re.compile(r"(?:^|[\s:(])$")
_TOUCHES_RIGHT = re.compile(r"(?:[.,][-−–—]{1,2})?(?:$|[\s)*])")


def one_price(text: str, currency: str | None, hints: Iterable[str] = ()) -> ParsedPrice:
    """The price in a known or likely currency; refused if other characters touch it."""
    read = parse_price(text, currency, hints)
    if read.amount is None:
        return read
    found = _ONE_NUMBER.fullmatch(_without_net_price(collapse_spaces(text), currency, hints))
    if found is None:
        return ParsedPrice(refusal=PriceRefusal.SEVERAL, marked=read.marked)
    _, label = mark_before(found[1])
    _, tail = mark_after(found[3])
    if not _TOUCHES_LEFT.search(label) or not _TOUCHES_RIGHT.match(tail):
        return ParsedPrice(refusal=PriceRefusal.UNCLEAR_NUMBER, marked=read.marked)
    return read


def _without_net_price(text: str, currency: str | None, hints: Iterable[str]) -> str:
    """The text without a net price: "126,24 € excl. VAT: 105,20 €"."""
    numbers = [number for number in numbers_in(text, currency, hints) if number.codes]
    gross = exclude_net(numbers)
    if len(gross) != 1 or len(numbers) == 1:
        return text
    index = numbers.index(gross[0])
    start = numbers[index - 1].end if index else 0
    return text[start : numbers[index + 1].start if index + 1 < len(numbers) else len(text)]
