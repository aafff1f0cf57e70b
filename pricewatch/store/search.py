"""Finding listings: by words of the title and by what they are, newest first, a page at a time."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, text

# The page after the last one begins below its smallest id: no OFFSET, no count of everything.
_SEARCH = """
SELECT l.*, confidence(coalesce(m.tier, 'standard'), l.last_seen_at, l.last_verified_at, :now) AS confidence
FROM listings l LEFT JOIN markets m ON m.id = l.market_id
WHERE {conditions}
ORDER BY l.id DESC LIMIT :most
"""
CONDITIONS = {
    "words": "to_tsvector('simple'::regconfig, l.title) @@ websearch_to_tsquery('simple'::regconfig, :words)",
    "source_id": "l.source_id = :source_id",
    "market_id": "l.market_id = :market_id",
    "active": "l.active = :active",
    "min_price_cents": "l.price_cents >= :min_price_cents",
    "max_price_cents": "l.price_cents <= :max_price_cents",
    "before_id": "l.id < :before_id",
}


def find_listings(connection: Connection, *, now: Any, most: int = 50, **wanted: Any) -> list[Row[Any]]:
    """Listings that fit everything that is asked for; what is None is not asked for."""
    given = {name: value for name, value in wanted.items() if value is not None}
    conditions = " AND ".join(CONDITIONS[name] for name in given) or "true"
    query = text(_SEARCH.format(conditions=conditions))
    return list(connection.execute(query, {**given, "now": now, "most": most}))
