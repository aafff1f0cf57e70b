"""A text that is nothing but one price: for places where a price is expected, and anything else is damage."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .marks import mark_after, mark_before
from .price import ParsedPrice, Refusal, parse_price
from .text import squash

_ONE_NUMBER = re.compile(r"(\D*?)(\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d+)?|\d[\d.,]*\d|\d)(\D*)")
# What may touch a number, or its sign, without being part of it: "19,-", "(19 €)", "Price:19", "19 €*".
_TOUCHES_LEFT = re.compile(r"(?:^|[\s:(])$")
_TOUCHES_RIGHT = re.compile(r"(?:[.,][-−–—]{1,2})?(?:$|[\s)*])")


def one_price(text: str, currency: str | None, hints: Iterable[str] = ()) -> ParsedPrice:
    """The price, in a currency that is known or likely; refused where a letter or sign sits at it."""
    read = parse_price(text, currency, hints)
    if read.amount is None:
        return read
    found = _ONE_NUMBER.fullmatch(squash(text))
    if found is None:
        return ParsedPrice(refusal=Refusal.SEVERAL, marked=read.marked)
    _, label = mark_before(found[1])
    _, tail = mark_after(found[3])
    if not _TOUCHES_LEFT.search(label) or not _TOUCHES_RIGHT.match(tail):
        return ParsedPrice(refusal=Refusal.UNCLEAR_NUMBER, marked=read.marked)
    return read
