"""A text that is nothing but one price: for places where a price is expected, and anything else is damage."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pricewatch.parsing.prices.currency_marks import mark_after, mark_before
from pricewatch.parsing.prices.numbers import numbers_in
from pricewatch.parsing.prices.price import ParsedPrice, PriceRefusal, parse_price, without_net
from pricewatch.parsing.text import squash

_ONE_NUMBER = re.compile(r"(\D*?)(\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d+)?|\d[\d.,]*\d|\d)(\D*)")
# What may touch a number, or its sign, without being part of it: "19,-", "(19 €)", "Price:19", "19 €*".
_TOUCHES_LEFT = re.compile(r"(?:^|[\s:(])$")
_TOUCHES_RIGHT = re.compile(r"(?:[.,][-−–—]{1,2})?(?:$|[\s)*])")


def one_price(text: str, currency: str | None, hints: Iterable[str] = ()) -> ParsedPrice:
    """The price, in a currency that is known or likely; refused where a letter or sign sits at it."""
    read = parse_price(text, currency, hints)
    if read.amount is None:
        return read
    found = _ONE_NUMBER.fullmatch(_without_net_beside(squash(text), currency, hints))
    if found is None:
        return ParsedPrice(refusal=PriceRefusal.SEVERAL, marked=read.marked)
    _, label = mark_before(found[1])
    _, tail = mark_after(found[3])
    if not _TOUCHES_LEFT.search(label) or not _TOUCHES_RIGHT.match(tail):
        return ParsedPrice(refusal=PriceRefusal.UNCLEAR_NUMBER, marked=read.marked)
    return read


def _without_net_beside(text: str, currency: str | None, hints: Iterable[str]) -> str:
    """The text, without a price that is labelled as one without tax: "126,24 € excl. VAT: 105,20 €"."""
    numbers = [number for number in numbers_in(text, currency, hints) if number.codes]
    kept = without_net(numbers)
    if len(kept) != 1 or len(numbers) == 1:
        return text
    at = numbers.index(kept[0])
    start = numbers[at - 1].end if at else 0
    return text[start : numbers[at + 1].start if at + 1 < len(numbers) else len(text)]
