"""Products with their current prices, and the offers of one product, for the admin pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, text

from pricewatch.money import Money, by_currency
from pricewatch.store.views.listing_columns import LISTING_COLUMNS, rows_with_money
from pricewatch.store.views.title_search import TITLE_MATCH, TitleMatch, search

MAX_OFFERS = 200

_COLUMNS = """
p.id, p.key, p.title, p.brand, p.mpn, p.gtin, o.listings, o.sources, o.on_sale, o.prices
"""
_OFFER_SUMMARY = """
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
SELECT {_COLUMNS} FROM products p {_OFFER_SUMMARY} WHERE {{conditions}} ORDER BY p.id DESC LIMIT :most
"""
_TITLE_SEARCH = TitleMatch("products", "products", "p", _COLUMNS, joins=_OFFER_SUMMARY)
_OFFERS = text(f"""
SELECT {LISTING_COLUMNS}, src.name AS source_name, l.product_link, l.shipping_cents
FROM listings l JOIN sources src ON src.id = l.source_id LEFT JOIN markets m ON m.id = l.market_id
WHERE l.product_id = :id
ORDER BY l.active DESC, (l.availability IN ('IN_STOCK', 'LISTED')) DESC, l.currency,
         l.price_cents NULLS LAST, l.id
LIMIT :most
""")


@dataclass(frozen=True, slots=True)
class CurrencyPrices:
    """The current prices of a product in one currency."""

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
    # One entry per currency: prices in different currencies are not compared.
    prices: list[CurrencyPrices]

    def lowest_in_currency_of(self, price: Money | None) -> Money | None:
        """Return the lowest current price in the currency of `price`."""
        return next((prices.lowest for prices in self.prices if prices.lowest.is_like(price)), None)


@dataclass(frozen=True, slots=True)
class ProductLink:
    """Why a listing is linked to a product."""

    by: str = ""
    why: str = ""

    @classmethod
    def of(cls, stored: Mapping[str, Any] | None) -> ProductLink:
        link = stored or {}
        return cls(link.get("by", ""), link.get("why", ""))


def products(
    connection: Connection, *, title_query: str | None = None, before_id: int | None = None, most: int
) -> list[ProductRow]:
    """List products, newest first, optionally with these words in the title."""
    conditions = ["p.id < :before_id"] if before_id is not None else ["true"]
    parameters = {"title_query": title_query, "before_id": before_id}
    if title_query:
        rows = search(connection, _TITLE_SEARCH, [*conditions, TITLE_MATCH.format("p")], parameters, most)
        return [_product(row) for row in rows]
    query = text(_PRODUCTS.format(conditions=" AND ".join(conditions)))
    return [_product(row) for row in connection.execute(query, {**parameters, "most": most}).mappings()]


def product(connection: Connection, product_id: int) -> ProductRow | None:
    query = text(_PRODUCTS.format(conditions="p.id = :id"))
    row = connection.execute(query, {"id": product_id, "most": 1}).mappings().first()
    return _product(row) if row else None


def offers(connection: Connection, product_id: int, now: datetime) -> list[dict[str, Any]]:
    """List the listings of a product: those on sale first, then by currency and price."""
    result = connection.execute(_OFFERS, {"id": product_id, "now": now, "most": MAX_OFFERS})
    return [row | {"link": ProductLink.of(row["product_link"])} for row in rows_with_money(result)]


def _product(row: RowMapping | dict[str, Any]) -> ProductRow:
    groups = by_currency(Money(*price) for price in row["prices"] or ())
    prices = [CurrencyPrices(group[0], group[-1], len(group)) for group in groups.values()]
    return ProductRow(**{**row, "prices": prices})
