"""Prices by quantity: "1-4: $13.95, 5-9: $13.50, 10+: $12.95"."""

from __future__ import annotations

import re

from pricewatch.parsing.prices.one_price import one_price

_MARK = r"[^\s\d.,:;()+-]{1,4}"
_TIER = re.compile(
    r"(?<![^\s(;,|])(\d{1,5})\s*(?:[-–]\s*\d{1,5}(?!\d)\s*:?|\+\s*:?|:)\s*"
    rf"((?:{_MARK}\s?)?\d(?:[\d.,'’]*\d)?(?![.,]?\d)(?:\s?{_MARK})?)"
    # Behind it comes another tier, or no number: "$13 95" has lost its point.
    r"(?=\s*(?:$|[^\s\d]|\d{1,5}\s*[-–+:]))"
)


def tiers_in(text: str, currency: str) -> set[tuple[int, int]]:
    """The tiers of a text: from which quantity on, and at which price; a bare number is no price."""
    found = ((int(first), one_price(money, currency)) for first, money in _TIER.findall(text))
    marked = [(first, price.cents()) for first, price in found if price.marked and price.currency == currency]
    return {(first, cents) for first, cents in marked if cents}


def unit_price(tiers: set[tuple[int, int]], beside: list[int]) -> tuple[int | None, bool]:
    """The price of one unit, and whether to trust it; `beside` are the one price or the ends of a range."""
    of_one = {price for first, price in tiers if first == 1}
    if not of_one and len(tiers) > 1:
        # Where all tiers cost the same, one unit does too.
        of_one = {price for _, price in tiers}
    dearest = max((price for _, price in tiers), default=0)
    if len(of_one) != 1:
        price = beside[0] if len(beside) == 1 else None
        return price, price is None or price >= dearest
    price = of_one.pop()
    # One unit is never cheaper than several, and a range of prices ends with it.
    return price, price == dearest and (not beside or price == beside[-1])
