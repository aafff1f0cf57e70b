"""Whether a listing belongs to a market."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pricewatch.money import Money


@dataclass(frozen=True, slots=True)
class PriceRange:
    """The prices that a market is about; an end that is None is open. Both ends have the same currency."""

    lowest: Money | None = None
    highest: Money | None = None

    @classmethod
    def of(cls, lowest: int | None, highest: int | None, currency: str | None) -> PriceRange:
        return cls(Money.of(lowest, currency), Money.of(highest, currency))

    @property
    def currency(self) -> str | None:
        end = self.lowest or self.highest
        return end.currency if end else None

    @property
    def is_set(self) -> bool:
        return self.currency is not None

    def is_about(self, price: Money | None) -> bool:
        """Whether the price can be compared with the range: it is known, and of the same currency."""
        return price is not None and (price.is_like(self.lowest) or price.is_like(self.highest))

    def excludes(self, price: Money | None) -> bool:
        if price is None or not self.is_about(price):
            return False
        return (self.lowest is not None and price < self.lowest) or (
            self.highest is not None and price > self.highest
        )


ANY_PRICE = PriceRange()


def belongs(
    title: str,
    price: Money | None,
    *,
    exclude_keywords: Iterable[str] = (),
    prices: PriceRange = ANY_PRICE,
) -> bool:
    """No excluded word in the title, and no price outside of the market's range.

    A price that is unknown or of another currency says nothing about the range, so the listing stays.
    """
    lowered = title.casefold()
    if any(word.casefold() in lowered for word in exclude_keywords if word.strip()):
        return False
    return not prices.excludes(price)
