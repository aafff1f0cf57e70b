"""Whether a listing belongs to a market."""

from __future__ import annotations

from collections.abc import Iterable


def belongs(
    title: str,
    price_cents: int | None,
    *,
    exclude_keywords: Iterable[str] = (),
    min_price_cents: int | None = None,
    max_price_cents: int | None = None,
) -> bool:
    """No excluded word in the title, and a price inside the market's range; a price unknown is no offence."""
    lowered = title.casefold()
    if any(word.casefold() in lowered for word in exclude_keywords if word.strip()):
        return False
    if price_cents is None:
        return True
    return (min_price_cents or 0) <= price_cents <= (max_price_cents or price_cents)
