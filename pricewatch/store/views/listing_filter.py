"""The filter by which listings are searched, in the admin pages and the public API."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from pricewatch.rules.market_membership import ANY_PRICE, PriceRange

# A page of a market is read from the primary key of market_listings, so it needs the id conditions too.
MARKET_ID_CONDITIONS = {"before_id": "ml.listing_id < :before_id", "above_id": "ml.listing_id > :above_id"}


@dataclass(frozen=True, slots=True)
class ListingFilter:
    """Conditions on listings; a listing must meet all that are set."""

    title_query: str | None = None
    source_id: str | None = None
    market_id: str | None = None
    active: bool | None = None
    availability: str | None = None
    currency: str | None = None
    # In one currency; listings in other currencies do not match.
    prices: PriceRange = ANY_PRICE
    price_read_before: datetime | None = None
    price_read_since: datetime | None = None
    before_id: int | None = None
    above_id: int | None = None

    @property
    def is_indexed(self) -> bool:
        """Whether indexes answer all conditions."""
        unindexed = (self.availability, self.currency, self.price_read_since)
        return all(value is None for value in unindexed) and not self.prices.is_set

    def parameters(self) -> dict[str, Any]:
        """Return the conditions that are set, by the name of their SQL parameter."""
        names = (field.name for field in fields(self) if field.name != "prices")
        parameters = {name: value for name in names if (value := getattr(self, name)) is not None}
        if self.prices.is_set:
            parameters["currency"] = self.prices.currency
        for name, end in (("lowest", self.prices.lowest), ("highest", self.prices.highest)):
            if end is not None:
                parameters[name] = end.minor
        return parameters
