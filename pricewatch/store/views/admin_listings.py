"""Listings and products as people look at them: a page at a time, with the line of their prices."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, RowMapping, text

from pricewatch.money import Money, by_currency
from pricewatch.rules.market_membership import ANY_PRICE, PriceRange
from pricewatch.store.views.title_search import MATCH, TitleMatch, search

SPARK_DAYS = 90
MOST_SPARK_POINTS = 40
MOST_HISTORY = 2_000
LOOKED_AT = 500
# Prices and stock have no index of their own: that many of the newest listings are looked at for one page.
WINDOW = 20_000

_COLUMNS = """
l.id, l.source_id, l.market_id, l.title, l.url, l.price_cents, l.price_max_cents, l.currency, l.availability,
l.active, l.sold_at, l.deactivated_at, l.removed_at, l.first_seen_at, l.last_seen_at, l.last_verified_at,
l.times_seen, l.location, l.brand, l.product_id, l.verification_status, l.price_observed_at,
confidence(coalesce(m.tier, 'standard'), l.last_seen_at, l.last_verified_at, :now) AS confidence,
price_confidence(coalesce(m.tier, 'standard'), l.price_observed_at, :now) AS price_confidence
"""
# The page after the last one begins below its smallest id: no OFFSET, no count of everything.
_FIND = f"""
SELECT {_COLUMNS}
FROM {{origin}} LEFT JOIN markets m ON m.id = l.market_id
WHERE {{conditions}} ORDER BY {{order}} DESC LIMIT :most
"""
_CONDITIONS = {
    "words": MATCH.format("l"),
    "source_id": "l.source_id = :source_id",
    "availability": "l.availability = :availability",
    "currency": "l.currency = :currency",
    "lowest": "l.price_cents >= :lowest",
    "highest": "l.price_cents <= :highest",
    # Written as the partial index has it: a price is old only while it is asked for.
    "price_read_before": (
        "l.active AND l.price_cents IS NOT NULL AND l.price_observed_at < :price_read_before"
    ),
    "price_read_since": "l.price_observed_at >= :price_read_since",
    "before_id": "l.id < :before_id",
    "above_id": "l.id > :above_id",
}
OF_MARKET = {"before_id": "ml.listing_id < :before_id", "above_id": "ml.listing_id > :above_id"}
_SEARCHED = TitleMatch(
    "listings", "listings", "l", _COLUMNS, joins="LEFT JOIN markets m ON m.id = l.market_id"
)
_NEWEST = text("SELECT max(id) FROM listings")
_IN_MARKET = """
EXISTS (SELECT FROM market_listings ml WHERE ml.market_id = :market_id AND ml.listing_id = l.id)
"""

# Days before today are asked for only where a partition can have them; the last row before says the rest.
_SPARKS = text("""
SELECT l.id, h.observed_at, h.price_cents, h.currency, h.availability
FROM unnest(CAST(:ids AS bigint[])) AS l(id) CROSS JOIN LATERAL (
    SELECT observed_at, price_cents, currency, availability FROM price_history
    WHERE listing_id = l.id AND observed_at > :since ORDER BY observed_at DESC LIMIT :most
) h
""")

_ONE = text(f"""
SELECT {_COLUMNS}, l.canonical_url, l.identity_key, l.platform_id, l.sku, l.gtin, l.mpn, l.area, l.attributes,
       l.image_url, l.shipping_cents, l.tax_included, l.strikes, l.last_scraped_at, l.adapter_version,
       l.product_link, l.stock_observed_at, coalesce(m.tier, 'standard') AS tier,
       src.name AS source_name, src.visibility, p.title AS product_title,
       s.name AS seller_name, s.type AS seller_type, s.platform_id AS seller_platform_id
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
SELECT currency FROM (SELECT currency FROM listings ORDER BY id DESC LIMIT :looked_at) newest
WHERE currency IS NOT NULL GROUP BY currency ORDER BY count(*) DESC, currency
""")
_TARGETS = text(
    "SELECT id, url, status, schedule, last_status, missing_since FROM targets WHERE listing_id = :id"
)

_PRODUCT_COLUMNS = """
p.id, p.key, p.title, p.brand, p.mpn, p.gtin, o.listings, o.sources, o.on_sale, o.prices
"""
_OFFERED = """
CROSS JOIN LATERAL (
    SELECT count(*) AS listings, count(DISTINCT l.source_id) AS sources,
           count(*) FILTER (WHERE l.active AND l.availability IN ('IN_STOCK', 'LISTED')) AS on_sale,
           jsonb_agg(jsonb_build_array(l.price_cents, l.currency)) FILTER (
               WHERE l.active AND l.availability IN ('IN_STOCK', 'LISTED') AND l.price_cents IS NOT NULL)
               AS prices
    FROM listings l WHERE l.product_id = p.id
) o
"""
_PRODUCTS = f"""
SELECT {_PRODUCT_COLUMNS} FROM products p {_OFFERED} WHERE {{conditions}} ORDER BY p.id DESC LIMIT :most
"""
_SEARCHED_PRODUCTS = TitleMatch("products", "products", "p", _PRODUCT_COLUMNS, joins=_OFFERED)
_OFFERS = text(f"""
SELECT {_COLUMNS}, src.name AS source_name, l.product_link, l.shipping_cents
FROM listings l JOIN sources src ON src.id = l.source_id LEFT JOIN markets m ON m.id = l.market_id
WHERE l.product_id = :id
ORDER BY l.active DESC, (l.availability IN ('IN_STOCK', 'LISTED')) DESC, l.currency,
         l.price_cents NULLS LAST, l.id
LIMIT 200
""")


@dataclass(frozen=True, slots=True)
class CurrencyPrices:
    """What a product costs now where it is sold in one currency."""

    lowest: Money
    highest: Money
    on_sale: int

    @property
    def currency(self) -> str:
        return self.lowest.currency


@dataclass(frozen=True, slots=True)
class ProductRow:
    id: int
    key: str
    title: str
    brand: str | None
    mpn: str | None
    gtin: str | None
    listings: int
    sources: int
    on_sale: int
    # One for each currency: prices of two currencies are not compared.
    prices: list[CurrencyPrices]

    def lowest_like(self, price: Money | None) -> Money | None:
        """The lowest current price of the same currency."""
        return next((one.lowest for one in self.prices if one.lowest.is_like(price)), None)


@dataclass(frozen=True, slots=True)
class ProductLink:
    """Why a listing is taken for one of a product."""

    by: str = ""
    why: str = ""

    @classmethod
    def of(cls, kept: Mapping[str, Any] | None) -> ProductLink:
        given = kept or {}
        return cls(given.get("by", ""), given.get("why", ""))


@dataclass(frozen=True, slots=True)
class ListingsWanted:
    """Which listings are meant; every field narrows the choice."""

    words: str | None = None
    source_id: str | None = None
    market_id: str | None = None
    active: bool | None = None
    availability: str | None = None
    currency: str | None = None
    # Money of one currency; listings of another one are not compared with it, and so not found.
    prices: PriceRange = ANY_PRICE
    price_read_before: datetime | None = None
    price_read_since: datetime | None = None
    before_id: int | None = None
    above_id: int | None = None

    @property
    def is_indexed(self) -> bool:
        """Whether nothing is asked for that only the listings themselves can tell."""
        asked = (self.availability, self.currency, self.price_read_since)
        return all(one is None for one in asked) and not self.prices.is_set

    def given(self) -> dict[str, Any]:
        """What narrows the choice, by the names that the conditions have."""
        names = (field.name for field in fields(self) if field.name != "prices")
        found = {name: value for name in names if (value := getattr(self, name)) is not None}
        if self.prices.is_set:
            found["currency"] = self.prices.currency
        for name, end in (("lowest", self.prices.lowest), ("highest", self.prices.highest)):
            if end is not None:
                found[name] = end.minor
        return found


def listings(
    connection: Connection, wanted: ListingsWanted, *, now: datetime, most: int
) -> list[dict[str, Any]]:
    given = wanted.given()
    conditions = [_CONDITIONS[name] for name in given if name in _CONDITIONS]
    if wanted.active is not None:
        # Written as the partial index has it.
        conditions.append("l.active" if wanted.active else "NOT l.active")
    if wanted.words is not None:
        conditions += [_IN_MARKET] if wanted.market_id is not None else []
        return [
            _priced(row) for row in search(connection, _SEARCHED, conditions, {**given, "now": now}, most)
        ]
    origin, order = "listings l", "l.id"
    if wanted.market_id is not None:
        origin, order = "market_listings ml JOIN listings l ON l.id = ml.listing_id", "ml.listing_id"
        conditions.append("ml.market_id = :market_id")
        # The same ids, by the index that they are read from.
        conditions += [condition for name, condition in OF_MARKET.items() if name in given]
    query = _FIND.format(origin=origin, conditions=" AND ".join(conditions) or "true", order=order)
    return _rows(connection.execute(text(query), {**given, "now": now, "most": most}))


def listings_page(
    connection: Connection, wanted: ListingsWanted, *, now: datetime, most: int
) -> tuple[list[dict[str, Any]], int | None]:
    """A page, and where the next one begins; a page may be short where what is asked for is rare."""
    if wanted.words is not None or wanted.is_indexed:
        rows = listings(connection, wanted, now=now, most=most + 1)
        return rows[:most], rows[most - 1]["id"] if len(rows) > most else None
    wanted = in_window(connection, wanted)
    return page_in_window(listings(connection, wanted, now=now, most=most + 1), wanted, most)


def in_window(connection: Connection, wanted: ListingsWanted) -> ListingsWanted:
    """The same, of no more listings than may be looked at for one page."""
    newest = connection.execute(_NEWEST).scalar() or 0
    floor = min(wanted.before_id or newest + 1, newest + 1) - WINDOW
    return replace(wanted, above_id=max(floor, 0) - 1)


def page_in_window(
    rows: list[dict[str, Any]], wanted: ListingsWanted, most: int
) -> tuple[list[dict[str, Any]], int | None]:
    """What was found in it, and where to go on: behind the last one, or behind all that was looked at."""
    if len(rows) > most:
        return rows[:most], rows[most - 1]["id"]
    floor = (wanted.above_id or 0) + 1
    return rows, floor if floor > 0 else None


def sparks(connection: Connection, ids: Sequence[int], now: datetime) -> dict[int, list[dict[str, Any]]]:
    """The last changes of price of each of these, the oldest first; none where there was no change."""
    found: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    given = {"ids": list(ids), "since": now - timedelta(days=SPARK_DAYS), "most": MOST_SPARK_POINTS}
    for row in connection.execute(_SPARKS, given).mappings():
        found[row["id"]].append(_priced(row))
    return {listing_id: found[listing_id][::-1] for listing_id in ids}


def listing(connection: Connection, listing_id: int, now: datetime) -> dict[str, Any] | None:
    row = connection.execute(_ONE, {"id": listing_id, "now": now}).mappings().first()
    return _priced(row) if row else None


def history(connection: Connection, listing_id: int, most: int = MOST_HISTORY) -> list[dict[str, Any]]:
    """The newest rows, the oldest of them first."""
    return _rows(connection.execute(_HISTORY, {"id": listing_id, "most": most}))[::-1]


def attempts(connection: Connection, listing_id: int) -> list[dict[str, Any]]:
    return _rows(connection.execute(_ATTEMPTS, {"id": listing_id}))


def targets_of(connection: Connection, listing_id: int) -> list[dict[str, Any]]:
    return _rows(connection.execute(_TARGETS, {"id": listing_id}))


def products(
    connection: Connection, *, words: str | None = None, before_id: int | None = None, most: int
) -> list[ProductRow]:
    conditions = ["p.id < :before_id"] if before_id is not None else ["true"]
    given = {"words": words, "before_id": before_id}
    if words:
        rows = search(connection, _SEARCHED_PRODUCTS, [*conditions, MATCH.format("p")], given, most)
        return [_product(row) for row in rows]
    query = text(_PRODUCTS.format(conditions=" AND ".join(conditions)))
    return [_product(row) for row in connection.execute(query, {**given, "most": most}).mappings()]


def product(connection: Connection, product_id: int) -> ProductRow | None:
    query = text(_PRODUCTS.format(conditions="p.id = :id"))
    row = connection.execute(query, {"id": product_id, "most": 1}).mappings().first()
    return _product(row) if row else None


def offers(connection: Connection, product_id: int, now: datetime) -> list[dict[str, Any]]:
    """All listings of a product side by side, by currency, the cheapest that can be bought first."""
    rows = _rows(connection.execute(_OFFERS, {"id": product_id, "now": now}))
    return [row | {"link": ProductLink.of(row["product_link"])} for row in rows]


def currencies(connection: Connection) -> list[str]:
    """The currencies of the newest listings, the most common one first."""
    return list(connection.execute(_CURRENCIES, {"looked_at": LOOKED_AT}).scalars())


def _product(row: RowMapping | dict[str, Any]) -> ProductRow:
    groups = by_currency(Money(*price) for price in row["prices"] or ())
    prices = [CurrencyPrices(group[0], group[-1], len(group)) for group in groups.values()]
    return ProductRow(**{**row, "prices": prices})


def _rows(result: Any) -> list[dict[str, Any]]:
    return [_priced(row) for row in result.mappings()]


def _priced(row: RowMapping | dict[str, Any]) -> dict[str, Any]:
    """A row with its price as money, where it has one."""
    if "price_cents" not in row:
        return dict(row)
    currency = row["currency"]
    highest = Money.of(row.get("price_max_cents"), currency)
    return {**row, "price": Money.of(row["price_cents"], currency), "price_max": highest}
