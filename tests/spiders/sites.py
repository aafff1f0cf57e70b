"""The sample marketplace imitating a real site, its source and market, and the expected listings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pricewatch.bazaar.client import TruthListing
from tests.spiders.conftest import World

OFFERED = {"on_sale": "IN_STOCK", "out_of_stock": "OUT_OF_STOCK"}


class Known(NamedTuple):
    """One listing as stored, or as expected."""

    identity_key: str
    title: str
    price_cents: int | None
    currency: str | None
    availability: str
    active: bool


@dataclass(frozen=True)
class Site:
    """The properties of a site that tests depend on."""

    id: str
    currency: str
    # The category of the marketplace that makes up the market.
    category: str
    market: dict[str, Any]
    product_id: Callable[[TruthListing], str]
    # The listing states on its overview pages, and the stored availability of each.
    availability: dict[str, str] = field(default_factory=lambda: {**OFFERED})
    rows: int = 90
    # Whether product pages show the stock, and whether they distinguish sold from gone.
    shows_stock: bool = True
    shows_sold: bool = False

    def known(self, true: TruthListing) -> Known:
        priced = true.mode != "hidden"
        # If cards do not show the stock, a page without a price does not either.
        stock = self.availability[true.state] if priced or self.shows_stock else "LISTED"
        return Known(
            f"PID:{self.product_id(true)}",
            true.title,
            true.price if priced else None,
            self.currency if priced else None,
            stock,
            stock != "SOLD",
        )


def _key(true: TruthListing) -> str:
    return true.url.rstrip("/").rpartition("/")[2]


GOODS = Site(
    "willhaben", "EUR", "bikes", {"category": "marktplatz/bikes"}, lambda true: true.id, shows_sold=True
)
RENTALS = Site(
    "willhaben", "EUR", "rentals", {"category": "rentals"}, lambda true: true.id, rows=15, shows_sold=True
)
SGAMMO = Site("sgammo", "USD", "instruments", {"category": "instruments"}, lambda true: true.id)
APARTMENTS = Site(
    "apartments",
    "USD",
    "rentals",
    {"city": "Wien", "state": "AT"},
    _key,
    # The site shows only available listings; its cards do not show the stock.
    {"on_sale": "IN_STOCK", "out_of_stock": "IN_STOCK"},
    rows=3,
    shows_stock=False,
)
MERCARI = Site(
    "mercari", "JPY", "cameras", {"category": "cameras"}, _key, {**OFFERED, "sold": "SOLD"}, rows=7
)


class SiteWorld(World):
    """A world whose marketplace imitates the site."""

    def __init__(self, site: Site, *parts: Any) -> None:
        super().__init__(*parts)
        self.site = site
        self.market = f"{site.id}-market"
        self.bazaar.behave(max_rows=site.rows)
        self.database.do(
            "INSERT INTO sources (id, name, adapter_id, domain, base_url, tos_approved_by,"
            " requests_per_second, min_delay_ms, max_concurrent)"
            " VALUES (:id, :id, :id, '127.0.0.1', :url, 'a test', 1000, 0, 16) ON CONFLICT (id) DO UPDATE SET"
            " base_url = :url, tos_approved_by = 'a test', requests_per_second = 1000, min_delay_ms = 0,"
            " max_concurrent = 16",
            id=site.id,
            url=self.bazaar.url,
        )
        self.database.do(
            "INSERT INTO markets (id, source_id, display_name, tier) VALUES (:id, :source, :id, 'hot')",
            id=self.market,
            source=site.id,
        )
        self.set_market(**site.market)

    def listing(self, true: TruthListing) -> Any:
        path = true.url.rstrip("/")
        return self.database.row("SELECT * FROM listings WHERE canonical_url LIKE :url", url=f"%{path}")

    def fade(self, true: TruthListing, hours: float = 30) -> None:
        self.database.do(
            "UPDATE listings SET last_seen_at = last_seen_at - make_interval(hours => :hours) WHERE id = :id",
            hours=hours,
            id=self.listing(true).id,
        )

    def truth(self, *states: str) -> list[TruthListing]:
        """Return the listings of the market in these states, or in all states it shows."""
        states = states or tuple(self.site.availability)
        city = self.site.market.get("city")
        return [
            true
            for true in self.bazaar.truth(self.site.category)
            if true.state in states and city in (None, true.city)
        ]

    def stored(self) -> dict[str, Known]:
        """Return the stored listings of the market, by path."""
        rows = self.database.rows(
            "SELECT regexp_replace(canonical_url, '^https://[^/]+', ''), identity_key, title, price_cents,"
            " currency::text, availability, active FROM listings WHERE market_id = :market",
            market=self.market,
        )
        return {path: Known(*rest) for path, *rest in rows}

    def true_listings(self) -> dict[str, Known]:
        return {true.url.rstrip("/"): self.site.known(true) for true in self.truth()}
