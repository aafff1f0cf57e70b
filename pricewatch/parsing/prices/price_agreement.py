"""One price from several machine-readable fields and the displayed text."""

from __future__ import annotations

from collections.abc import Iterable

from pricewatch.money import minor_units
from pricewatch.parsing.prices.numbers import numbers_in
from pricewatch.parsing.prices.one_price import one_price
from pricewatch.parsing.prices.price import to_cents
from pricewatch.parsing.prices.price_roles import Role

_NOT_ONE_PRICE = frozenset({Role.FROM, Role.RANGE})


def agreed_price(fields: Iterable[int | None], displayed: list[str], currency: str) -> int | None:
    """The price in minor units that the fields and the displayed texts agree on.

    A field may be rounded to whole units; the more precise one is returned. Two precise ones must be equal.
    """
    unit = 10 ** minor_units(currency)
    amounts = sorted({cents for cents in fields if cents})
    if displayed:
        numbers = [number for text in displayed for number in numbers_in(text, currency)]
        if any(number.role in _NOT_ONE_PRICE for number in numbers):
            return None
        if amounts:
            displayed_cents = [to_cents(number.amount, currency) or 0 for number in numbers if number.amount]
            amounts = [
                cents for cents in amounts if any(abs(cents - other) < unit for other in displayed_cents)
            ]
        else:
            alone = one_price(displayed[0], currency).cents() if len(displayed) == 1 else None
            amounts = [alone] if alone else []
    if not amounts or amounts[-1] - amounts[0] >= unit:
        return None
    precise = [cents for cents in amounts if cents % unit]
    return None if len(precise) > 1 else next(iter(precise), amounts[0])
