"""The listings of the marketplace in the form of the database, so that the two can be compared."""

from __future__ import annotations

import math
from typing import NamedTuple

from pricewatch.bazaar.client import Bazaar, TruthListing
from tests.databases import Database

AVAILABILITY = {"on_sale": "IN_STOCK", "out_of_stock": "OUT_OF_STOCK"}


class ListedCard(NamedTuple):
    """One listing as on an overview page."""

    identity_key: str
    title: str
    price_cents: int | None
    currency: str | None
    availability: str


def listed(bazaar: Bazaar, category: str) -> dict[str, ListedCard]:
    """Return the expected cards of a category, by path."""
    return {listing.url: _card_of(listing) for listing in offered(bazaar, category)}


def offered(bazaar: Bazaar, category: str) -> list[TruthListing]:
    return [listing for listing in bazaar.truth(category) if listing.state in AVAILABILITY]


def stored(database: Database, market: str) -> dict[str, ListedCard]:
    """Return the stored cards of a market, by path."""
    rows = database.rows(
        "SELECT regexp_replace(canonical_url, '^https://[^/]+', ''), identity_key, title, price_cents,"
        " currency::text, availability FROM listings WHERE market_id = :market",
        market=market,
    )
    return {path: ListedCard(*rest) for path, *rest in rows}


def check_history(database: Database) -> None:
    """Check that each listing's last history row is its price, and that consecutive rows differ."""
    assert (
        database.rows(
            "SELECT l.identity_key FROM listings l LEFT JOIN LATERAL (SELECT * FROM price_history h"
            " WHERE h.listing_id = l.id ORDER BY observed_at DESC LIMIT 1) h ON true"
            " WHERE (l.price_cents, l.price_cents IS NULL OR l.currency = h.currency,"
            "        l.price_cents IS NULL OR l.availability = h.availability)"
            " IS DISTINCT FROM (h.price_cents, true, true)"
        )
        == []
    )
    assert (
        database.rows(
            "SELECT listing_id FROM (SELECT *, lag((price_cents, currency, availability))"
            " OVER (PARTITION BY listing_id ORDER BY observed_at) AS before FROM price_history) AS h"
            " WHERE before = (price_cents, currency, availability)"
        )
        == []
    )


def pages_of(bazaar: Bazaar, category: str, size: int) -> int:
    return math.ceil(len(offered(bazaar, category)) / size)


def requests_for(bazaar: Bazaar, part: str) -> list[str]:
    """Return the paths requested so far that contain this part."""
    return [entry.path for entry in bazaar.log() if part in entry.path]


def _card_of(listing: TruthListing) -> ListedCard:
    hidden = listing.mode == "hidden"
    return ListedCard(
        identity_key=f"PID:{listing.id}",
        title=listing.title,
        price_cents=None if hidden else listing.price,
        currency=None if hidden else listing.currency,
        availability=AVAILABILITY[listing.state],
    )
