"""Whether a listing belongs to a market: its price range and excluded keywords."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pricewatch.money import Money


@dataclass(frozen=True, slots=True)
class PriceRange:
    """The price range of a market; a bound of None is open. Both bounds have the same currency."""

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

    def can_compare(self, price: Money | None) -> bool:
        """Return whether the price can be compared with the range: it is known and in the same currency."""
        return price is not None and (price.is_like(self.lowest) or price.is_like(self.highest))

    def excludes(self, price: Money | None) -> bool:
        if price is None or not self.can_compare(price):
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
    """Return whether the title has no excluded keyword and the price is not outside the range.

    A price that is unknown or in another currency cannot be compared, so the listing stays.
    """
    lowered = title.casefold()
    if any(word.casefold() in lowered for word in exclude_keywords if word.strip()):
        return False
    return not prices.excludes(price)
