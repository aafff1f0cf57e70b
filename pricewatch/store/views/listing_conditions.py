"""The conditions of a listing filter as SQL, for the tables and views that have the columns of listings."""

from __future__ import annotations

from pricewatch.store.views.listing_filter import ListingFilter

# Must equal the expression of the index; {0} is the alias of the table.
WORDS_MATCH = (
    "listing_words({0}.title, {0}.brand, {0}.location, {0}.seller_name, {0}.attributes)"
    " @@ listing_query(CAST(:title_query AS text), CAST(:without AS text))"
)
# A page of a market is read from the primary key of market_listings, so it needs the id conditions too.
MARKET_ID_CONDITIONS = {"before_id": "ml.listing_id < :before_id", "above_id": "ml.listing_id > :above_id"}
IN_MARKET = """
EXISTS (SELECT FROM market_listings ml WHERE ml.market_id = :market_id AND ml.listing_id = {0}.id)
"""
_CONDITIONS = {
    "source_id": "{0}.source_id = :source_id",
    "availability": "{0}.availability = :availability",
    "currency": "{0}.currency = :currency",
    "lowest": "{0}.price_cents >= :lowest",
    "highest": "{0}.price_cents <= :highest",
    "unit_lowest": "unit_price_cents({0}.price_cents, {0}.area) >= :unit_lowest",
    "unit_highest": "unit_price_cents({0}.price_cents, {0}.area) <= :unit_highest",
    "area_min": "{0}.area >= :area_min",
    "area_max": "{0}.area <= :area_max",
    "rooms_min": "listing_rooms({0}.attributes) >= :rooms_min",
    "rooms_max": "listing_rooms({0}.attributes) <= :rooms_max",
    "place": "place_words({0}.location, {0}.attributes) @@ place_query(:place)",
    "seller_type": (
        "EXISTS (SELECT FROM sellers WHERE sellers.id = {0}.seller_id AND sellers.type = :seller_type)"
    ),
    # Must equal the predicate of the partial index, or the index is not used.
    "price_read_before": (
        "{0}.active AND {0}.price_cents IS NOT NULL AND {0}.price_observed_at < :price_read_before"
    ),
    "price_read_since": "{0}.price_observed_at >= :price_read_since",
    "before_id": "{0}.id < :before_id",
    "above_id": "{0}.id > :above_id",
}
_ATTRIBUTE_CONDITIONS = {
    "is": "attribute_is({0}.attributes -> :attribute_{1}, :attribute_{1}_is)",
    "min": "attribute_number({0}.attributes -> :attribute_{1}) >= :attribute_{1}_min",
    "max": "attribute_number({0}.attributes -> :attribute_{1}) <= :attribute_{1}_max",
}


def conditions_of(filter_: ListingFilter, alias: str) -> list[str]:
    """Return the conditions on the columns of listings; the market is left to the caller."""
    parameters = filter_.parameters()
    conditions = [condition for name, condition in _CONDITIONS.items() if name in parameters]
    if filter_.title_query is not None or filter_.without is not None:
        conditions.append(WORDS_MATCH)
    if filter_.active is not None:
        # A literal condition, because that is what the partial index has.
        conditions.append("{0}.active" if filter_.active else "NOT {0}.active")
    for number in range(len(filter_.attributes)):
        conditions += [
            condition.replace("{1}", str(number))
            for kind, condition in _ATTRIBUTE_CONDITIONS.items()
            if f"attribute_{number}_{kind}" in parameters
        ]
    return [condition.format(alias) for condition in conditions]


def words_parameters(filter_: ListingFilter) -> dict[str, str | None]:
    """Return both parameters of WORDS_MATCH, of which one may be NULL."""
    return {"title_query": filter_.title_query, "without": filter_.without}
