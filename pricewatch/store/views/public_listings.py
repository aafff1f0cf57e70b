"""Listings for the public API and exports.

The database views leave out hidden sources, removed listings and listings with low confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, text

from pricewatch.store.views.admin_listings import limit_to_window, page_of_window
from pricewatch.store.views.listing_filter import MARKET_ID_CONDITIONS, ListingFilter
from pricewatch.store.views.title_search import MATCH, TitleMatch, search

COLUMNS = (
    *("id", "source_id", "market_id", "title", "url", "price_cents", "price_max_cents", "currency"),
    *("availability", "brand", "gtin", "location", "area", "image_url", "product_id"),
    *("freshness_confidence", "price_confidence", "price_observed_at"),
    *("first_seen_at", "last_seen_at", "times_seen"),
)
HISTORY_COLUMNS = ("observed_at", "price_cents", "price_max_cents", "currency", "availability")
_FIND = "SELECT {columns} FROM {origin} WHERE {conditions} ORDER BY {order} DESC LIMIT :most"
# market_listings has all listings of a market; listings.market_id is only the market that last saw a listing.
_MARKET = "market_listings ml JOIN visible_listings v ON v.id = ml.listing_id"
_IN_MARKET = """
EXISTS (SELECT FROM market_listings ml WHERE ml.market_id = :market_id AND ml.listing_id = v.id)
"""
_CONDITIONS = {
    "title_query": MATCH.format("v"),
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
# `confidence` is that of the last sighting; the API derives its badge from it.
_TITLE_SEARCH = TitleMatch(
    "listings", "visible_listings", "v", ", ".join(f"v.{name}" for name in (*COLUMNS, "confidence"))
)
_HISTORY = text(f"""
SELECT {", ".join(HISTORY_COLUMNS)} FROM visible_price_history
WHERE listing_id = :id AND (CAST(:before AS timestamptz) IS NULL OR observed_at < :before)
ORDER BY observed_at DESC LIMIT :most
""")
EXPORT_PAGE = 2_000
Connect = Callable[[], AbstractContextManager[Connection]]


def listings(
    connection: Connection, filter_: ListingFilter, most: int
) -> tuple[list[dict[str, Any]], int | None]:
    """Return a page and the id below which the next one begins; a page may be short if matches are rare."""
    if filter_.title_query is not None or (filter_.market_id is not None and filter_.is_indexed):
        rows = _find(connection, _parameters(filter_), most + 1)
        return rows[:most], rows[most - 1]["id"] if len(rows) > most else None
    filter_ = limit_to_window(connection, filter_)
    return page_of_window(_find(connection, _parameters(filter_), most + 1), filter_, most)


def listing(connection: Connection, listing_id: int) -> dict[str, Any] | None:
    return next(iter(_find(connection, {"id": listing_id}, 1)), None)


def _parameters(filter_: ListingFilter) -> dict[str, Any]:
    parameters = filter_.parameters()
    # The views have only active listings.
    parameters.pop("active", None)
    return parameters


def _find(connection: Connection, parameters: dict[str, Any], most: int) -> list[dict[str, Any]]:
    if "title_query" in parameters:
        conditions = {**_CONDITIONS, "market_id": _IN_MARKET}
        return search(connection, _TITLE_SEARCH, [conditions[name] for name in parameters], parameters, most)
    of_market = "market_id" in parameters
    where = [_CONDITIONS[name] for name in parameters]
    if of_market:
        where += [condition for name, condition in MARKET_ID_CONDITIONS.items() if name in parameters]
    query = _FIND.format(
        columns=_TITLE_SEARCH.columns,
        origin=_MARKET if of_market else "visible_listings v",
        conditions=" AND ".join(where) or "true",
        order="ml.listing_id" if of_market else "v.id",
    )
    return [dict(row) for row in connection.execute(text(query), {**parameters, "most": most}).mappings()]


def history(
    connection: Connection, listing_id: int, *, most: int, before: datetime | None = None
) -> list[dict[str, Any]]:
    """List price history, newest first."""
    parameters = {"id": listing_id, "before": before, "most": most}
    return [dict(row) for row in connection.execute(_HISTORY, parameters).mappings()]


def all_listings(connect: Connect, filter_: ListingFilter, most: int) -> Iterator[dict[str, Any]]:
    """Yield up to `most` listings, read page by page.

    An export holds neither all rows in memory nor a connection while its client reads.
    """
    left, before_id = most, filter_.before_id
    while left > 0:
        with connect() as connection:
            page = replace(filter_, before_id=before_id)
            rows, before_id = listings(connection, page, min(EXPORT_PAGE, left))
        yield from rows
        left -= len(rows)
        if before_id is None:
            return


def all_history(connect: Connect, listing_id: int, most: int) -> Iterator[dict[str, Any]]:
    """Yield up to `most` rows of price history, newest first, read page by page."""
    left, before = most, None
    while left > 0:
        size = min(EXPORT_PAGE, left)
        with connect() as connection:
            rows = history(connection, listing_id, most=size, before=before)
        yield from rows
        if len(rows) < size:
            return
        left, before = left - size, rows[-1]["observed_at"]
