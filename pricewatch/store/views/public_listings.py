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

from pricewatch.store.views import admin_listings
from pricewatch.store.views.admin_listings import limit_to_window, needs_window, page_of_window
from pricewatch.store.views.listing_conditions import (
    IN_MARKET,
    MARKET_ID_CONDITIONS,
    WORDS_MATCH,
    conditions_of,
    words_parameters,
)
from pricewatch.store.views.listing_filter import ListingFilter
from pricewatch.store.views.title_search import TitleMatch, search, search_newest

COLUMNS = (
    *("id", "source_id", "market_id", "title", "url", "price_cents", "price_max_cents", "currency"),
    *("availability", "brand", "gtin", "location", "area", "image_url", "product_id"),
    *("freshness_confidence", "price_confidence", "price_observed_at"),
    *("first_seen_at", "last_seen_at", "times_seen", "rooms", "unit_price_cents"),
)
# An export of everything says also what became of a listing.
ALL_COLUMNS = (*COLUMNS, "active", "sold_at", "deactivated_at")
_EXPRESSIONS = {
    "rooms": "listing_rooms(v.attributes)",
    "unit_price_cents": "unit_price_cents(v.price_cents, v.area)",
    # Not joined: the planner would read and sort the whole window instead of stopping at a full page.
    "seller_name": "coalesce((SELECT name FROM sellers WHERE sellers.id = v.seller_id), v.seller_name)",
    "seller_type": "(SELECT type FROM sellers WHERE sellers.id = v.seller_id)",
}
HISTORY_COLUMNS = ("observed_at", "price_cents", "price_max_cents", "currency", "availability")
_FIND = "SELECT {columns} FROM {origin} WHERE {conditions} ORDER BY {order} DESC LIMIT :most"
# market_listings has all listings of a market; listings.market_id is only the market that last saw a listing.
_MARKET = "market_listings ml JOIN visible_listings v ON v.id = ml.listing_id"
# `confidence` is that of the last sighting; the API derives its badge from it.
_SELECTED = ", ".join(
    f"{_EXPRESSIONS.get(name, f'v.{name}')} AS {name}"
    for name in (*COLUMNS, "attributes", "seller_name", "seller_type", "confidence")
)
_TITLE_SEARCH = TitleMatch("listings", "visible_listings", "v", _SELECTED, match=WORDS_MATCH)
_ONE = text(f"SELECT {_SELECTED} FROM visible_listings v WHERE v.id = :id")
_HISTORY = f"""
SELECT {", ".join(HISTORY_COLUMNS)} FROM {{table}}
WHERE listing_id = :id AND (CAST(:before AS timestamptz) IS NULL OR observed_at < :before)
ORDER BY observed_at DESC LIMIT :most
"""
_EXISTS = "SELECT EXISTS (SELECT FROM {table} WHERE id = :id)"
EXPORT_PAGE = 2_000
Connect = Callable[[], AbstractContextManager[Connection]]


def listings(
    connection: Connection, filter_: ListingFilter, most: int
) -> tuple[list[dict[str, Any]], int | None]:
    """Return a page and the id below which the next one begins; a page may be short if matches are rare."""
    if filter_.active is False:
        # The views have only active listings.
        return [], None
    is_bounded = filter_.title_query is not None or filter_.market_id is not None
    if is_bounded and not needs_window(connection, filter_, most):
        rows = _find(connection, filter_, most + 1)
        return rows[:most], rows[most - 1]["id"] if len(rows) > most else None
    filter_ = limit_to_window(connection, filter_)
    return page_of_window(_find(connection, filter_, most + 1, in_window=True), filter_, most)


def listing(connection: Connection, listing_id: int) -> dict[str, Any] | None:
    row = connection.execute(_ONE, {"id": listing_id}).mappings().first()
    return dict(row) if row else None


def has_listing(connection: Connection, listing_id: int, *, only_visible: bool = True) -> bool:
    table = "visible_listings" if only_visible else "listings"
    return bool(connection.execute(text(_EXISTS.format(table=table)), {"id": listing_id}).scalar_one())


def _find(
    connection: Connection, filter_: ListingFilter, most: int, *, in_window: bool = False
) -> list[dict[str, Any]]:
    parameters = {**filter_.parameters(), **words_parameters(filter_)}
    conditions, of_market = conditions_of(filter_, "v"), filter_.market_id is not None
    if filter_.title_query is not None:
        conditions += [IN_MARKET.format("v")] if of_market else []
        if in_window:
            window = admin_listings.WINDOW
            return search_newest(connection, _TITLE_SEARCH, conditions, parameters, most, window)
        return search(connection, _TITLE_SEARCH, conditions, parameters, most)
    if of_market:
        conditions.append("ml.market_id = :market_id")
        conditions += [condition for name, condition in MARKET_ID_CONDITIONS.items() if name in parameters]
    query = _FIND.format(
        columns=_SELECTED,
        origin=_MARKET if of_market else "visible_listings v",
        conditions=" AND ".join(conditions) or "true",
        order="ml.listing_id" if of_market else "v.id",
    )
    return [dict(row) for row in connection.execute(text(query), {**parameters, "most": most}).mappings()]


def history(
    connection: Connection,
    listing_id: int,
    *,
    most: int,
    before: datetime | None = None,
    only_visible: bool = True,
) -> list[dict[str, Any]]:
    """List price history, newest first."""
    parameters = {"id": listing_id, "before": before, "most": most}
    query = text(_HISTORY.format(table="visible_price_history" if only_visible else "price_history"))
    return [dict(row) for row in connection.execute(query, parameters).mappings()]


def all_listings(
    connect: Connect, filter_: ListingFilter, most: int, *, everything_at: datetime | None = None
) -> Iterator[dict[str, Any]]:
    """Yield up to `most` listings, read page by page; with a time, also those that consumers do not see.

    An export holds neither all rows in memory nor a connection while its client reads.
    """
    left, before_id = most, filter_.before_id
    while left > 0:
        with connect() as connection:
            page, size = replace(filter_, before_id=before_id), min(EXPORT_PAGE, left)
            if everything_at is None:
                rows, before_id = listings(connection, page, size)
            else:
                found = admin_listings.listings_page(connection, page, now=everything_at, most=size)
                rows, before_id = found
        yield from rows
        left -= len(rows)
        if before_id is None:
            return


def all_history(
    connect: Connect, listing_id: int, most: int, *, only_visible: bool = True
) -> Iterator[dict[str, Any]]:
    """Yield up to `most` rows of price history, newest first, read page by page."""
    left, before = most, None
    while left > 0:
        size = min(EXPORT_PAGE, left)
        with connect() as connection:
            rows = history(connection, listing_id, most=size, before=before, only_visible=only_visible)
        yield from rows
        if len(rows) < size:
            return
        left, before = left - size, rows[-1]["observed_at"]
