"""Typed path, query and form parameters that pages and API share."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Annotated

from fastapi import HTTPException, Path, Query

from pricewatch.errors import UserError
from pricewatch.money import Money
from pricewatch.parsing.prices.typed_amount import typed_amount, typed_currency
from pricewatch.rules.rendering import INHERIT
from pricewatch.vocabulary import Render

LARGEST_ID = 2**62
_NEXT = "The `next` of the previous page."
Id = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Before = Annotated[int | None, Query(ge=1, le=LARGEST_ID, description=_NEXT)]
After = Annotated[int, Query(ge=0, le=LARGEST_ID, description=_NEXT)]
RENDER_CHOICES: dict[str, str] = {
    Render.AUTO: "only if a page shows no price without it",
    Render.NEVER: "never",
    Render.ALWAYS: "always",
}
TARGET_RENDER_CHOICES = {INHERIT: "as the site", **RENDER_CHOICES}


def price(text: str, currency: str) -> Money | None:
    """Parse a typed price in the chosen currency; None if the field is empty."""
    if not text.strip():
        return None
    if not currency.strip():
        raise UserError("Choose the currency of the price.")
    return typed_amount(text, typed_currency(currency))


def percent(text: str) -> float | None:
    if not text.strip():
        return None
    try:
        value = Decimal(text.strip().rstrip("%").replace(",", "."))
        if not value.is_finite() or not 0 < value <= 1000:
            raise ValueError
    except (InvalidOperation, ValueError):
        raise HTTPException(400, f"{text[:20]!r} is not a percentage. Example: 10") from None
    return float(value)
