"""The sample marketplace in the shape of a real site, its source and market, and the truth about both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pricewatch.bazaar.client import TruthListing
from tests.spiders.conftest import World

OFFERED = {"on_sale": "IN_STOCK", "out_of_stock": "OUT_OF_STOCK"}


class Known(NamedTuple):
    """One listing as the database has it, or as it should."""

    identity_key: str
    title: str
    price_cents: int | None
    currency: str | None
    availability: str
    active: bool


@dataclass(frozen=True)
class Site:
    """What a test has to know of a site: where its adapter looks, and what it can tell."""

    id: str
    currency: str
    # The category of the marketplace that the market consists of.
    category: str
    market: dict[str, Any]
    product_id: Callable[[TruthListing], str]
    # What its overview pages list, and in which state.
    availability: dict[str, str] = field(default_factory=lambda: {**OFFERED})
    rows: int = 90
    # Whether a listing's own page tells its stock, and that it is sold rather than gone.
    tells_stock: bool = True
    tells_sold: bool = False

    def known(self, true: TruthListing) -> Known:
        priced = true.mode != "hidden"
        # Where no card tells of stock, a page without a price leaves it untold.
        stock = self.availability[true.state] if priced or self.tells_stock else "LISTED"
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
    "willhaben", "EUR", "bikes", {"category": "marktplatz/bikes"}, lambda true: true.id, tells_sold=True
)
RENTALS = Site(
    "willhaben", "EUR", "rentals", {"category": "rentals"}, lambda true: true.id, rows=15, tells_sold=True
)
SGAMMO = Site("sgammo", "USD", "instruments", {"category": "instruments"}, lambda true: true.id)
APARTMENTS = Site(
    "apartments",
    "USD",
    "rentals",
    {"city": "Wien", "state": "AT"},
    _key,
    # The site shows what is to let; a placard says nothing of stock.
    {"on_sale": "IN_STOCK", "out_of_stock": "IN_STOCK"},
    rows=3,
    tells_stock=False,
)
MERCARI = Site(
    "mercari", "JPY", "cameras", {"category": "cameras"}, _key, {**OFFERED, "sold": "SOLD"}, rows=7
)


class SiteWorld(World):
    """A world whose marketplace looks like the site."""

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
        """What the market has, of these states or of all that it shows."""
        wanted = states or tuple(self.site.availability)
        city = self.site.market.get("city")
        return [
            true
            for true in self.bazaar.truth(self.site.category)
            if true.state in wanted and city in (None, true.city)
        ]

    def stored(self) -> dict[str, Known]:
        """What the database has of the market, by path."""
        rows = self.database.rows(
            "SELECT regexp_replace(canonical_url, '^https://[^/]+', ''), identity_key, title, price_cents,"
            " currency::text, availability, active FROM listings WHERE market_id = :market",
            market=self.market,
        )
        return {path: Known(*rest) for path, *rest in rows}

    def true_listings(self) -> dict[str, Known]:
        return {true.url.rstrip("/"): self.site.known(true) for true in self.truth()}
