"""One price out of several fields for machines, in minor units, and the text that people see."""

from __future__ import annotations

from collections.abc import Iterable

from pricewatch.money import minor_units
from pricewatch.parsing.prices.numbers import numbers_in
from pricewatch.parsing.prices.one_price import one_price
from pricewatch.parsing.prices.price import to_cents
from pricewatch.parsing.prices.price_roles import Role

_NOT_ONE_PRICE = frozenset({Role.FROM, Role.RANGE})


def agreed_price(fields: Iterable[int | None], shown: list[str], currency: str) -> int | None:
    """What the fields agree on and the page shows; a field may be rounded, and the finer one is taken."""
    whole = 10 ** minor_units(currency)
    amounts = sorted({cents for cents in fields if cents})
    if shown:
        numbers = [number for text in shown for number in numbers_in(text, currency)]
        if any(number.role in _NOT_ONE_PRICE for number in numbers):
            return None
        if amounts:
            seen = [to_cents(number.amount, currency) or 0 for number in numbers if number.amount]
            amounts = [cents for cents in amounts if any(abs(cents - other) < whole for other in seen)]
        else:
            alone = one_price(shown[0], currency).cents() if len(shown) == 1 else None
            amounts = [alone] if alone else []
    if not amounts or amounts[-1] - amounts[0] >= whole:
        return None
    return next((cents for cents in amounts if cents % whole), amounts[0])
