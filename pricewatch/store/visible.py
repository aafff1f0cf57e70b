"""What consumers may see: the views leave out hidden sources, what is gone, and what nobody is sure of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, text

from pricewatch.store.browse import ListingsWanted

COLUMNS = (
    *("id", "source_id", "market_id", "title", "url", "price_cents", "price_max_cents", "currency"),
    *("availability", "brand", "gtin", "location", "area", "image_url", "product_id", "confidence"),
    *("first_seen_at", "last_seen_at", "times_seen"),
)
HISTORY_COLUMNS = ("observed_at", "price_cents", "price_max_cents", "currency", "availability")
# Of the view as a consumer of now sees it; nothing here names a table.
_FIND = "SELECT {columns} FROM visible_listings v WHERE {conditions} ORDER BY v.id DESC LIMIT :most"
_CONDITIONS = {
    "words": "to_tsvector('simple'::regconfig, v.title) @@ websearch_to_tsquery('simple'::regconfig, :words)",
    "source_id": "v.source_id = :source_id",
    "market_id": "v.market_id = :market_id",
    "availability": "v.availability = :availability",
    "min_price_cents": "v.price_cents >= :min_price_cents",
    "max_price_cents": "v.price_cents <= :max_price_cents",
    "before_id": "v.id < :before_id",
    "above_id": "v.id > :above_id",
    "id": "v.id = :id",
}
_HISTORY = text(f"""
SELECT {", ".join(HISTORY_COLUMNS)} FROM visible_price_history
WHERE listing_id = :id AND (CAST(:before AS timestamptz) IS NULL OR observed_at < :before)
ORDER BY observed_at DESC LIMIT :most
""")
EXPORT_PAGE = 2_000


def listings(connection: Connection, wanted: ListingsWanted, most: int) -> list[dict[str, Any]]:
    given = {name: value for name, value in asdict(wanted).items() if value is not None}
    given.pop("active", None)
    return _find(connection, given, most)


def listing(connection: Connection, listing_id: int) -> dict[str, Any] | None:
    return next(iter(_find(connection, {"id": listing_id}, 1)), None)


def _find(connection: Connection, given: dict[str, Any], most: int) -> list[dict[str, Any]]:
    conditions = " AND ".join(_CONDITIONS[name] for name in given) or "true"
    query = _FIND.format(columns=", ".join(f"v.{name}" for name in COLUMNS), conditions=conditions)
    return [dict(row) for row in connection.execute(text(query), {**given, "most": most}).mappings()]


def history(
    connection: Connection, listing_id: int, *, most: int, before: datetime | None = None
) -> list[dict[str, Any]]:
    """The newest first."""
    given = {"id": listing_id, "before": before, "most": most}
    return [dict(row) for row in connection.execute(_HISTORY, given).mappings()]


def all_listings(connection: Connection, wanted: ListingsWanted, most: int) -> Iterator[dict[str, Any]]:
    """Many of them, a page after the other, so that no export holds them all."""
    given = {name: value for name, value in asdict(wanted).items() if value is not None}
    given.pop("active", None)
    left = most
    while left > 0:
        rows = _find(connection, given, min(EXPORT_PAGE, left))
        yield from rows
        left -= len(rows)
        if len(rows) < EXPORT_PAGE:
            return
        given["before_id"] = rows[-1]["id"]
