"""What people and programs write into fields and addresses, read as values."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Annotated

from fastapi import HTTPException, Path, Query

from pricewatch.items import MAX_CENTS

LARGEST_ID = 2**62
_NEXT = "Continue after the last page: its `next`."
Id = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Before = Annotated[int | None, Query(ge=1, le=LARGEST_ID, description=_NEXT)]
After = Annotated[int, Query(ge=0, le=LARGEST_ID, description=_NEXT)]


def cents(text: str) -> int | None:
    """12.50 or 12,50: 1250; empty is nothing."""
    if not text.strip():
        return None
    try:
        value = Decimal(text.strip().replace(",", ".")) * 100
        if not value.is_finite() or not 0 <= value <= MAX_CENTS:
            raise ValueError
    except (InvalidOperation, ValueError):
        raise HTTPException(400, f"{text[:20]!r} is no price such as 12.50.") from None
    return int(value)


def percent(text: str) -> float | None:
    if not text.strip():
        return None
    try:
        value = Decimal(text.strip().rstrip("%").replace(",", "."))
        if not value.is_finite() or not 0 < value <= 1000:
            raise ValueError
    except (InvalidOperation, ValueError):
        raise HTTPException(400, f"{text[:20]!r} is no percentage such as 10.") from None
    return float(value)
