"""Prices by quantity: "1-4: $13.95, 5-9: $13.50, 10+: $12.95"."""

from __future__ import annotations

import re

from pricewatch.parsing.prices.one_price import one_price

_MARK = r"[^\s\d.,:;()+-]{1,4}"
_TIER = re.compile(
    r"(?<![^\s(;,|])(\d{1,5})\s*+(?:(?:[-–]\s*+\d{1,5}(?!\d)|\+)\s*+:?|:)\s*+"
    rf"((?:{_MARK}\s?)?\d(?:[\d.,'’]*\d)?(?![.,]?\d)(?:\s?{_MARK})?)"
    # The next text is another tier or not a number: "$13 95" has lost its decimal point.
    r"(?=\s*+(?:$|[^\s\d]|\d{1,5}\s*+[-–+:]))"
)


def tiers_in(text: str, currency: str) -> set[tuple[int, int]]:
    """Pairs of minimum quantity and price in minor units; ignores numbers without a currency."""
    found = ((int(first), one_price(money, currency)) for first, money in _TIER.findall(text))
    marked = [(first, price.cents()) for first, price in found if price.marked and price.currency == currency]
    return {(first, cents) for first, cents in marked if cents}


def unit_price(tiers: set[tuple[int, int]], listed: list[int]) -> tuple[int | None, bool]:
    """The price of one unit and whether it is certain; `listed` is a single price or both ends of a range."""
    of_one = {price for first, price in tiers if first == 1}
    if not of_one and len(tiers) > 1:
        # If all tiers have the same price, it is also the price of one unit.
        of_one = {price for _, price in tiers}
    highest = max((price for _, price in tiers), default=0)
    if len(of_one) != 1:
        price = listed[0] if len(listed) == 1 else None
        return price, price is None or price >= highest
    price = of_one.pop()
    # One unit is never cheaper than several, so it is the high end of a range.
    return price, price == highest and (not listed or price == listed[-1])
