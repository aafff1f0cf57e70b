"""The attributes that listings of a market or source have, as the listings page offers them as filters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import Connection, text

from pricewatch.store.views import admin_listings
from pricewatch.store.views.listing_filter import ListingFilter

SAMPLE = 500
MOST_FACETS = 8
MOST_VALUES = 12
MOST_VALUE_LENGTH = 60
# An attribute is a number if nearly all of its values begin with one.
NUMBER_SHARE = 0.9
# These have filters of their own.
_OWN_FILTERS = frozenset({"rooms", "beds", "postcode", "district"})
_OF_MARKET = """
SELECT l.attributes FROM market_listings ml JOIN listings l ON l.id = ml.listing_id
WHERE ml.market_id = :market_id ORDER BY ml.listing_id DESC LIMIT :sample
"""
# There is no index by source: the newest listings are scanned.
_OF_SOURCE = """
SELECT l.attributes FROM listings l
WHERE l.source_id = :source_id AND l.id > (SELECT max(id) FROM listings) - :window
ORDER BY l.id DESC LIMIT :sample
"""
_FACETS = """
SELECT name, count(*) AS listings, count(number) FILTER (WHERE said ~ '^-?[0-9]') AS numbers,
       min(number) AS lowest, max(number) AS highest, array_agg(DISTINCT said ORDER BY said) AS said
FROM (
    SELECT a.key AS name, btrim(a.value #>> '{{}}') AS said, attribute_number(a.value) AS number
    FROM ({newest}) newest
    CROSS JOIN LATERAL jsonb_each(
        CASE jsonb_typeof(attributes) WHEN 'object' THEN attributes ELSE '{{}}' END) a
    WHERE jsonb_typeof(a.value) IN ('string', 'number')
) attributes
WHERE said <> '' GROUP BY name ORDER BY count(*) DESC, name
"""


@dataclass(frozen=True, slots=True)
class AttributeFacet:
    """An attribute to filter by: with values to choose from, or a number between two."""

    name: str
    values: tuple[str, ...] = ()
    lowest: Decimal | None = None
    highest: Decimal | None = None

    @property
    def is_number(self) -> bool:
        return not self.values


def facets(connection: Connection, filter_: ListingFilter) -> list[AttributeFacet]:
    """Return the attributes of the newest listings of the market or source, and those of the filter."""
    found = {one.name: one for one in _find(connection, filter_)}
    for one in filter_.attributes:
        if one.name not in found:
            found[one.name] = AttributeFacet(one.name, () if one.value is None else (one.value,))
    return list(found.values())


def _find(connection: Connection, filter_: ListingFilter) -> Iterator[AttributeFacet]:
    if filter_.market_id is None and filter_.source_id is None:
        return
    newest = _OF_SOURCE if filter_.market_id is None else _OF_MARKET
    values = {"market_id": filter_.market_id, "source_id": filter_.source_id, "sample": SAMPLE}
    rows = connection.execute(
        text(_FACETS.format(newest=newest)), {**values, "window": admin_listings.WINDOW}
    ).all()
    count = 0
    for row in rows:
        # Every listing has the same value: there is nothing to choose.
        if row.name in _OWN_FILTERS or len(row.said) < 2 or count == MOST_FACETS:
            continue
        if row.numbers >= NUMBER_SHARE * row.listings:
            yield AttributeFacet(row.name, (), row.lowest, row.highest)
        elif len(row.said) <= MOST_VALUES and max(map(len, row.said)) <= MOST_VALUE_LENGTH:
            yield AttributeFacet(row.name, tuple(row.said))
        else:
            continue
        count += 1
