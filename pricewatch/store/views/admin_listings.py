"""Listings for the admin pages: search, details, price history and sparklines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, text

from pricewatch.store.views.listing_columns import LISTING_COLUMNS, rows_with_money, with_money
from pricewatch.store.views.listing_conditions import (
    IN_MARKET,
    MARKET_ID_CONDITIONS,
    WORDS_MATCH,
    conditions_of,
    words_parameters,
)
from pricewatch.store.views.listing_filter import ListingFilter
from pricewatch.store.views.title_search import TitleMatch, is_common, search, search_newest

SPARKLINE_DAYS = 90
MAX_SPARKLINE_POINTS = 40
MAX_HISTORY = 2_000
CURRENCY_SAMPLE = 500
# Filters by price, place or attributes have no index: one page scans at most this many listings.
WINDOW = 20_000


# Keyset pagination: the next page begins below the smallest id of this one, without OFFSET or a total count.
_FIND = f"""
SELECT {LISTING_COLUMNS}
FROM {{origin}} LEFT JOIN markets m ON m.id = l.market_id
WHERE {{conditions}} ORDER BY {{order}} DESC LIMIT :most
"""
_TITLE_SEARCH = TitleMatch(
    "listings",
    "listings",
    "l",
    LISTING_COLUMNS,
    joins="LEFT JOIN markets m ON m.id = l.market_id",
    match=WORDS_MATCH,
)
_NEWEST = text("SELECT max(id) FROM listings")

# The lower bound lets PostgreSQL skip older partitions of price_history.
_SPARKLINES = text("""
SELECT l.id, h.observed_at, h.price_cents, h.currency, h.availability
FROM unnest(CAST(:ids AS bigint[])) AS l(id) CROSS JOIN LATERAL (
    SELECT observed_at, price_cents, currency, availability FROM price_history
    WHERE listing_id = l.id AND observed_at > :since ORDER BY observed_at DESC LIMIT :most
) h
""")

_LISTING = text(f"""
SELECT {LISTING_COLUMNS}, l.canonical_url, l.identity_key, l.platform_id, l.sku, l.mpn,
       l.attributes, l.shipping_cents, l.tax_included, l.strikes, l.last_scraped_at,
       l.adapter_version, l.product_link, l.stock_observed_at, coalesce(m.tier, 'standard') AS tier,
       src.name AS source_name, src.visibility, p.title AS product_title,
       coalesce(s.name, l.seller_name) AS seller_name, s.type AS seller_type,
       s.platform_id AS seller_platform_id
FROM listings l JOIN sources src ON src.id = l.source_id LEFT JOIN markets m ON m.id = l.market_id
LEFT JOIN sellers s ON s.id = l.seller_id LEFT JOIN products p ON p.id = l.product_id
WHERE l.id = :id
""")
_HISTORY = text("""
SELECT observed_at, price_cents, price_max_cents, currency, availability, run_type, run_id, adapter_version
FROM price_history WHERE listing_id = :id ORDER BY observed_at DESC LIMIT :most
""")
_ATTEMPTS = text("""
SELECT run_id, checked_at, method, http_status, final_url, outcome, reason, marker, strike
FROM verification_attempts WHERE listing_id = :id ORDER BY checked_at DESC LIMIT 20
""")
_CURRENCIES = text("""
SELECT currency FROM (SELECT currency FROM listings ORDER BY id DESC LIMIT :sample) newest
WHERE currency IS NOT NULL GROUP BY currency ORDER BY count(*) DESC, currency
""")
_TARGETS = text(
    "SELECT id, url, status, schedule, last_status, missing_since FROM targets WHERE listing_id = :id"
)


def listings(
    connection: Connection, filter_: ListingFilter, *, now: datetime, most: int, in_window: bool = False
) -> list[dict[str, Any]]:
    """List the listings that match, newest first; a window is scanned without the index of words."""
    parameters = {**filter_.parameters(), **words_parameters(filter_), "now": now}
    conditions = conditions_of(filter_, "l")
    if filter_.title_query is not None:
        conditions += [IN_MARKET.format("l")] if filter_.market_id is not None else []
        if in_window:
            rows = search_newest(connection, _TITLE_SEARCH, conditions, parameters, most, WINDOW)
        else:
            rows = search(connection, _TITLE_SEARCH, conditions, parameters, most)
        return [with_money(row) for row in rows]
    origin, order = "listings l", "l.id"
    if filter_.market_id is not None:
        origin, order = "market_listings ml JOIN listings l ON l.id = ml.listing_id", "ml.listing_id"
        conditions.append("ml.market_id = :market_id")
        conditions += [condition for name, condition in MARKET_ID_CONDITIONS.items() if name in parameters]
    query = _FIND.format(origin=origin, conditions=" AND ".join(conditions) or "true", order=order)
    return rows_with_money(connection.execute(text(query), {**parameters, "most": most}))


def listings_page(
    connection: Connection, filter_: ListingFilter, *, now: datetime, most: int
) -> tuple[list[dict[str, Any]], int | None]:
    """Return a page and the id below which the next one begins; a page may be short if matches are rare."""
    if not needs_window(connection, filter_, most):
        rows = listings(connection, filter_, now=now, most=most + 1)
        return rows[:most], rows[most - 1]["id"] if len(rows) > most else None
    filter_ = limit_to_window(connection, filter_)
    return page_of_window(
        listings(connection, filter_, now=now, most=most + 1, in_window=True), filter_, most
    )


def needs_window(connection: Connection, filter_: ListingFilter, most: int) -> bool:
    """Whether neither an index of its own nor the matches of rare words limit what a page scans."""
    if filter_.is_indexed:
        return False
    return filter_.title_query is None or is_common(
        connection, _TITLE_SEARCH, words_parameters(filter_), most + 1
    )


def limit_to_window(connection: Connection, filter_: ListingFilter) -> ListingFilter:
    """Restrict a filter to the listings that one page may scan."""
    newest = connection.execute(_NEWEST).scalar() or 0
    floor = min(filter_.before_id or newest + 1, newest + 1) - WINDOW
    return replace(filter_, above_id=max(floor, 0) - 1)


def page_of_window(
    rows: list[dict[str, Any]], filter_: ListingFilter, most: int
) -> tuple[list[dict[str, Any]], int | None]:
    """Return the page and the id below which the next one begins: that of the last row, or of the window."""
    if len(rows) > most:
        return rows[:most], rows[most - 1]["id"]
    floor = (filter_.above_id or 0) + 1
    return rows, floor if floor > 0 else None


def sparkline_points(
    connection: Connection, ids: Sequence[int], now: datetime
) -> dict[int, list[dict[str, Any]]]:
    """Return the last price changes of each listing, oldest first; empty if there was no change."""
    points: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    since = now - timedelta(days=SPARKLINE_DAYS)
    parameters = {"ids": list(ids), "since": since, "most": MAX_SPARKLINE_POINTS}
    for row in connection.execute(_SPARKLINES, parameters).mappings():
        points[row["id"]].append(with_money(row))
    return {listing_id: points[listing_id][::-1] for listing_id in ids}


def listing(connection: Connection, listing_id: int, now: datetime) -> dict[str, Any] | None:
    row = connection.execute(_LISTING, {"id": listing_id, "now": now}).mappings().first()
    return with_money(row) if row else None


def history(connection: Connection, listing_id: int, most: int = MAX_HISTORY) -> list[dict[str, Any]]:
    """List the newest rows of price history, oldest first."""
    return rows_with_money(connection.execute(_HISTORY, {"id": listing_id, "most": most}))[::-1]


def attempts(connection: Connection, listing_id: int) -> list[dict[str, Any]]:
    """List the newest verification attempts."""
    return rows_with_money(connection.execute(_ATTEMPTS, {"id": listing_id}))


def find_targets(connection: Connection, listing_id: int) -> list[dict[str, Any]]:
    return rows_with_money(connection.execute(_TARGETS, {"id": listing_id}))


def currencies(connection: Connection) -> list[str]:
    """List the currencies of the newest listings, most common first."""
    return list(connection.execute(_CURRENCIES, {"sample": CURRENCY_SAMPLE}).scalars())
