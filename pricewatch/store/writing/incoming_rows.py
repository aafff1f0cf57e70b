"""Observations to be stored, sent to the database as one JSON array.

A batch is first loaded into the temporary table `incoming`, together with what is known about the same
listings. The steps that follow (upsert, price history) are set operations on that table and the stored ones.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, text

from pricewatch import clock
from pricewatch.items import Card, Observation, Offer
from pricewatch.rules.freshness import CLOCKS_APART
from pricewatch.vocabulary import Availability

Row = dict[str, Any]

COLUMNS = """
    source_id text, identity_key text, url text, canonical_url text, title text,
    price_cents integer, price_max_cents integer, currency text, availability text,
    shipping_cents integer, tax_included boolean,
    platform_id text, sku text, gtin text, mpn text, brand text,
    seller_key text, seller_name text, seller_type text,
    location text, area numeric, attributes jsonb, image_url text,
    observed_at timestamptz, sold_at timestamptz, detail boolean, detail_due_at timestamptz,
    adapter_version text, unit integer
"""
KNOWN_COLUMNS = """
    listing_id bigint, keep_url boolean, known_price_cents integer, known_currency text,
    known_availability text, known_active boolean, known_at timestamptz, is_new boolean, is_older boolean,
    clock_was_ahead boolean, has_stock boolean, seller_id bigint, appended boolean, quarantined boolean,
    needs_person boolean
"""

_CREATE = text(
    f"CREATE TEMPORARY TABLE IF NOT EXISTS incoming ({COLUMNS}, {KNOWN_COLUMNS}) ON COMMIT DELETE ROWS"
)
_EMPTY = text("DELETE FROM incoming")

# The rows are sorted, so that two writers lock the same listings in the same order. A listing is matched by
# its identity key, or else by its canonical URL: a listing whose id changed on the site is not a new one.
_MATCH = """
INSERT INTO incoming
SELECT r.*,
       coalesce(same.id, moved.id),
       same.id IS NOT NULL AND moved.id <> same.id,
       coalesce(same.price_cents, moved.price_cents),
       coalesce(same.currency, moved.currency),
       coalesce(same.availability, moved.availability),
       coalesce(same.active, moved.active),
       known.read_at,
       same.id IS NULL AND moved.id IS NULL,
       coalesce(r.observed_at < known.at AND known.at <= :latest, false),
       coalesce(greatest(known.at, same.last_seen_at, moved.last_seen_at) > :latest, false),
       r.availability IS NOT NULL,
       NULL,
       false,
       false
FROM {rows}
LEFT JOIN LATERAL (
    SELECT * FROM listings l
    WHERE l.source_id = r.source_id AND l.identity_key = r.identity_key FOR UPDATE
) same ON true
LEFT JOIN LATERAL (
    SELECT * FROM listings l
    WHERE l.source_id = r.source_id AND l.canonical_url = r.canonical_url FOR UPDATE
) moved ON true
CROSS JOIN LATERAL (
    SELECT read_at,
           greatest(read_at, CASE WHEN same.id IS NULL THEN moved.deactivated_at
                                  ELSE same.deactivated_at END) AS at
    FROM (SELECT coalesce(greatest(same.price_observed_at, same.stock_observed_at),
                          greatest(moved.price_observed_at, moved.stock_observed_at)) AS read_at) times
) known
"""
_MATCH_ROWS = text(_MATCH.format(rows=f"json_to_recordset(CAST(:rows AS json)) AS r({COLUMNS})"))
_MATCH_COLLECTED = text(
    _MATCH.format(
        rows=f"""(
        SELECT DISTINCT ON (source_id, canonical_url) * FROM (
            SELECT DISTINCT ON (r.source_id, r.identity_key) r.*
            FROM collected_cards c, jsonb_to_record(c.card) AS r({COLUMNS})
            WHERE c.run_id = :run_id
            ORDER BY r.source_id, r.identity_key, c.id DESC
        ) latest
        ORDER BY source_id, canonical_url, observed_at DESC
    ) AS r"""
    )
)

# The same cards without types, because a value may not fit its type.
_READ_COLLECTED = text("""
SELECT DISTINCT ON (card ->> 'source_id', card ->> 'canonical_url') card FROM (
    SELECT DISTINCT ON (card ->> 'source_id', identity_key) card
    FROM collected_cards WHERE run_id = :run_id
    ORDER BY card ->> 'source_id', identity_key, id DESC
) latest
ORDER BY card ->> 'source_id', card ->> 'canonical_url', card ->> 'observed_at' DESC
""")

# A card without stock information keeps the known stock; there is none for new, sold and inactive listings.
_SET_STOCK = text("""
UPDATE incoming SET availability = CASE WHEN known_active AND known_availability <> 'SOLD'
                                        THEN known_availability ELSE 'LISTED' END
WHERE NOT has_stock
""")


class ConcurrentInsert(Exception):
    """Another process inserted one of these listings at the same time; repeat the batch."""


def card_row(card: Card, source_id: str, observed_at: str, adapter_version: str) -> Row:
    return _common_fields(card) | {
        "source_id": source_id,
        "observed_at": observed_at,
        "detail": False,
        "adapter_version": adapter_version,
    }


def offer_row(offer: Offer, detail_due_at: datetime) -> Row:
    return _common_fields(offer) | {
        "source_id": offer.source,
        "shipping_cents": offer.shipping_cents,
        "tax_included": offer.tax_included,
        "gtin": offer.gtin,
        "mpn": offer.mpn,
        "brand": offer.brand,
        "observed_at": offer.observed_at.isoformat() if offer.observed_at else None,
        "sold_at": offer.sold_at.isoformat() if offer.sold_at else None,
        "detail": True,
        "detail_due_at": detail_due_at.isoformat(),
        "adapter_version": offer.adapter_version,
    }


def _common_fields(item: Observation) -> Row:
    seller = item.seller
    return {
        "identity_key": item.identity_key,
        "url": item.fetch_url or item.url,
        "canonical_url": item.url,
        "title": item.title,
        "price_cents": item.price_cents,
        "price_max_cents": item.price_max_cents,
        "currency": item.currency,
        "availability": _stock(item.availability),
        "platform_id": item.product_id,
        "sku": item.sku,
        "seller_key": seller.id if seller else None,
        "seller_name": seller.name if seller else None,
        "seller_type": seller.type if seller else None,
        "location": item.location,
        "area": item.area,
        "attributes": item.attributes,
        "image_url": item.image,
    }


def _stock(availability: Availability | None) -> Availability | None:
    """Return the stock information; `LISTED` means that there is none."""
    return None if availability is Availability.LISTED else availability


def load_collected(connection: Connection, run_id: int) -> None:
    """Load all cards that a discovery run has collected into `incoming`."""
    _create_empty(connection)
    connection.execute(_MATCH_COLLECTED, {"run_id": run_id, "latest": _latest()})
    connection.execute(_SET_STOCK)


def read_collected(connection: Connection, run_id: int) -> list[Row]:
    """Return all cards that a discovery run has collected, one row per listing."""
    return list(connection.execute(_READ_COLLECTED, {"run_id": run_id}).scalars())


def load(connection: Connection, rows: list[Row]) -> None:
    """Load rows into `incoming` with what is known about their listings, and lock those listings."""
    ordered = sorted(rows, key=lambda row: (row["source_id"], row["identity_key"]))
    _create_empty(connection)
    values = {"rows": json.dumps(ordered, separators=(",", ":")), "latest": _latest()}
    connection.execute(_MATCH_ROWS, values)
    connection.execute(_SET_STOCK)


def _latest() -> datetime:
    """Return the latest plausible time; a later stored time was written while a clock was ahead."""
    return clock.now() + CLOCKS_APART


def _create_empty(connection: Connection) -> None:
    connection.execute(_CREATE)
    connection.execute(_EMPTY)
