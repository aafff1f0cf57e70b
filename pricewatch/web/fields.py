"""What people write into fields, read as values."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from fastapi import HTTPException

from pricewatch.items import MAX_CENTS


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
