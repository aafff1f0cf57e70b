"""What consumers may see: the views leave out hidden sources, what is gone, and what nobody is sure of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, text

from pricewatch.store.views.admin_listings import OF_MARKET, ListingsWanted, in_window, page_in_window
from pricewatch.store.views.title_search import MATCH, TitleMatch, search

COLUMNS = (
    *("id", "source_id", "market_id", "title", "url", "price_cents", "price_max_cents", "currency"),
    *("availability", "brand", "gtin", "location", "area", "image_url", "product_id"),
    *("freshness_confidence", "price_confidence", "price_observed_at"),
    *("first_seen_at", "last_seen_at", "times_seen"),
)
HISTORY_COLUMNS = ("observed_at", "price_cents", "price_max_cents", "currency", "availability")
# Of the view as a consumer of now sees it; nothing here names a table.
_FIND = "SELECT {columns} FROM {origin} WHERE {conditions} ORDER BY {order} DESC LIMIT :most"
# A market is what its own index lists: `market_id` of a listing names only the market that saw it last.
_MARKET = "market_listings ml JOIN visible_listings v ON v.id = ml.listing_id"
_IN_MARKET = """
EXISTS (SELECT FROM market_listings ml WHERE ml.market_id = :market_id AND ml.listing_id = v.id)
"""
_CONDITIONS = {
    "words": MATCH.format("v"),
    "source_id": "v.source_id = :source_id",
    "market_id": "ml.market_id = :market_id",
    "availability": "v.availability = :availability",
    "currency": "v.currency = :currency",
    "lowest": "v.price_cents >= :lowest",
    "highest": "v.price_cents <= :highest",
    "price_read_since": "v.price_observed_at >= :price_read_since",
    "before_id": "v.id < :before_id",
    "above_id": "v.id > :above_id",
    "id": "v.id = :id",
}
# `confidence` is that of the sighting, which a badge is made of.
_SEARCHED = TitleMatch(
    "listings", "visible_listings", "v", ", ".join(f"v.{name}" for name in (*COLUMNS, "confidence"))
)
_HISTORY = text(f"""
SELECT {", ".join(HISTORY_COLUMNS)} FROM visible_price_history
WHERE listing_id = :id AND (CAST(:before AS timestamptz) IS NULL OR observed_at < :before)
ORDER BY observed_at DESC LIMIT :most
""")
EXPORT_PAGE = 2_000


def listings(
    connection: Connection, wanted: ListingsWanted, most: int
) -> tuple[list[dict[str, Any]], int | None]:
    """A page, and where the next one begins; a page may be short where what is asked for is rare."""
    if wanted.words is not None or (wanted.market_id is not None and wanted.is_indexed):
        rows = _find(connection, _given(wanted), most + 1)
        return rows[:most], rows[most - 1]["id"] if len(rows) > most else None
    wanted = in_window(connection, wanted)
    return page_in_window(_find(connection, _given(wanted), most + 1), wanted, most)


def listing(connection: Connection, listing_id: int) -> dict[str, Any] | None:
    return next(iter(_find(connection, {"id": listing_id}, 1)), None)


def _given(wanted: ListingsWanted) -> dict[str, Any]:
    given = wanted.given()
    # Nobody sees what is not.
    given.pop("active", None)
    return given


def _find(connection: Connection, given: dict[str, Any], most: int) -> list[dict[str, Any]]:
    if "words" in given:
        named = {**_CONDITIONS, "market_id": _IN_MARKET}
        return search(connection, _SEARCHED, [named[name] for name in given], given, most)
    of_market = "market_id" in given
    conditions = [_CONDITIONS[name] for name in given]
    if of_market:
        # The same ids, by the index that they are read from.
        conditions += [condition for name, condition in OF_MARKET.items() if name in given]
    query = _FIND.format(
        columns=_SEARCHED.columns,
        origin=_MARKET if of_market else "visible_listings v",
        conditions=" AND ".join(conditions) or "true",
        order="ml.listing_id" if of_market else "v.id",
    )
    return [dict(row) for row in connection.execute(text(query), {**given, "most": most}).mappings()]


def history(
    connection: Connection, listing_id: int, *, most: int, before: datetime | None = None
) -> list[dict[str, Any]]:
    """The newest first."""
    given = {"id": listing_id, "before": before, "most": most}
    return [dict(row) for row in connection.execute(_HISTORY, given).mappings()]


def all_listings(connection: Connection, wanted: ListingsWanted, most: int) -> Iterator[dict[str, Any]]:
    """Many of them, a page after the other, so that no export holds them all."""
    left, following = most, wanted.before_id
    while left > 0:
        rows, following = listings(connection, replace(wanted, before_id=following), min(EXPORT_PAGE, left))
        yield from rows
        left -= len(rows)
        if following is None:
            return
