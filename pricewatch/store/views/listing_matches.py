"""Which of some listings match a filter, at a cost that depends on their number only."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, text

from pricewatch.store.views.listing_conditions import IN_MARKET, conditions_of, words_parameters
from pricewatch.store.views.listing_filter import ListingFilter

# OFFSET 0 keeps the planner from searching the whole index of words first.
_MATCHES = """
SELECT l.id FROM (SELECT * FROM listings WHERE id = ANY(CAST(:ids AS bigint[])) OFFSET 0) l
WHERE {conditions}
"""


def matching_ids(connection: Connection, filter_: ListingFilter, ids: Sequence[int]) -> set[int]:
    """Return the ids of the listings that match."""
    if not ids:
        return set()
    conditions = conditions_of(filter_, "l")
    if filter_.market_id is not None:
        conditions.append(IN_MARKET.format("l"))
    query = text(_MATCHES.format(conditions=" AND ".join(conditions) or "true"))
    values = {**filter_.parameters(), **words_parameters(filter_), "ids": list(ids)}
    return set(connection.execute(query, values).scalars())
