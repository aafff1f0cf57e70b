"""The step before the upsert: a price that jumps is quarantined until another run confirms it.

The listing still counts as seen. Its stored price and stock stay, and do not become any fresher.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from sqlalchemy import Connection, text

from pricewatch import clock
from pricewatch.items import ProductPage
from pricewatch.rules.price_jump import AGREES_WITHIN, JUMP_FACTOR
from pricewatch.store.engine.json_safe import json_safe
from pricewatch.store.writing import quarantine_rows
from pricewatch.store.writing.batch import Batch, WriteUnit
from pricewatch.store.writing.strict_review_rows import NEEDS_PERSON, SHARE

# The same rules as in `pricewatch.rules.price_jump`; a test compares the two.
_IS_JUMP = """NOT i.is_new AND NOT i.is_older AND i.currency = i.known_currency
    AND (i.price_cents > i.known_price_cents * :factor OR i.price_cents * :factor < i.known_price_cents)"""
_AGREES = """q.offer ->> 'currency' = i.currency
    AND abs((q.offer ->> 'price_cents')::integer - i.price_cents)
        <= (q.offer ->> 'price_cents')::integer * :within"""

_HAS_JUMPS_OR_PENDING = text(f"""
SELECT EXISTS (SELECT FROM incoming i WHERE {_IS_JUMP}),
       EXISTS (SELECT FROM quarantine WHERE status = 'pending' AND listing_id IS NOT NULL),
       EXISTS (SELECT FROM strict_reviews)
""")

_MARK = text(f"UPDATE incoming i SET quarantined = true WHERE {_IS_JUMP}")
_MARK_STRICT = text(f"""
UPDATE incoming SET quarantined = true, needs_person = true
FROM (SELECT i.ctid AS row FROM incoming i CROSS JOIN {SHARE} WHERE {NEEDS_PERSON}) held
WHERE incoming.ctid = held.row
""")

_CONFIRM = text(f"""
WITH confirmed AS (
    UPDATE quarantine q
    SET status = 'accepted', reviewed_at = i.observed_at, reviewed_by = 'pricewatch',
        note = format('run %s saw it too', CAST(:run_id AS bigint))
    FROM incoming i
    WHERE q.status = 'pending' AND q.listing_id = i.listing_id AND i.quarantined
      AND i.needs_person IS NOT TRUE AND q.run_id IS DISTINCT FROM :run_id AND {_AGREES}
    RETURNING q.listing_id
)
UPDATE incoming i SET quarantined = false FROM confirmed c WHERE i.listing_id = c.listing_id
""")

# Runs after _CONFIRM: what is still pending was not confirmed. The same run cannot confirm its own price.
_REJECT = text(f"""
UPDATE quarantine q
SET status = 'rejected', reviewed_at = i.observed_at, reviewed_by = 'pricewatch',
    note = format('run %s saw %s', CAST(:run_id AS bigint),
                  CASE WHEN i.quarantined THEN 'yet another price' ELSE 'the usual price again' END)
FROM incoming i
WHERE q.status = 'pending' AND q.listing_id = i.listing_id AND i.price_cents IS NOT NULL AND NOT i.is_older
  AND NOT (i.quarantined AND {_AGREES})
""")

_INSERT = text("""
INSERT INTO quarantine (source_id, run_id, listing_id, adapter_id, adapter_version, url, identity_key, reason,
                        offer, details, first_seen_at, observed_at)
SELECT DISTINCT ON (i.listing_id)
    i.source_id, :run_id, i.listing_id, s.adapter_id, coalesce(i.adapter_version, ''), i.url, i.identity_key,
    'VALIDATION_FAILED',
    jsonb_strip_nulls(jsonb_build_object(
        'url', i.canonical_url, 'fetch_url', i.url, 'title', i.title, 'source', i.source_id,
        'price_cents', i.price_cents, 'price_max_cents', i.price_max_cents, 'currency', i.currency,
        'availability', CASE WHEN i.has_stock THEN i.availability ELSE 'LISTED' END,
        'identity_key', i.identity_key, 'product_id', i.platform_id,
        'sku', i.sku, 'location', i.location, 'area', i.area, 'attributes', i.attributes,
        'image', i.image_url, 'adapter_version', i.adapter_version, 'observed_at', i.observed_at,
        'seller', CASE WHEN i.seller_key IS NOT NULL THEN jsonb_build_object(
            'id', i.seller_key, 'name', i.seller_name, 'type', i.seller_type) END)),
    jsonb_build_object('why', CASE WHEN i.needs_person THEN 'the price changed, and strict review is on'
                                   ELSE 'the price jumped' END,
                       'price_cents', i.price_cents,
                       'stored_price_cents', i.known_price_cents, 'currency', i.currency,
                       'from', CASE WHEN i.detail THEN 'page' ELSE 'card' END),
    i.observed_at, i.observed_at
FROM incoming i JOIN sources s ON s.id = i.source_id
WHERE i.quarantined
  AND NOT EXISTS (SELECT FROM quarantine q WHERE q.status = 'pending' AND q.listing_id = i.listing_id)
ON CONFLICT (source_id, identity_key, reason) WHERE status = 'pending' DO UPDATE
SET run_id = excluded.run_id, listing_id = excluded.listing_id, adapter_id = excluded.adapter_id,
    adapter_version = excluded.adapter_version, url = excluded.url, offer = excluded.offer,
    details = excluded.details, page_hash = NULL, observed_at = excluded.observed_at,
    times_seen = quarantine.times_seen + 1
""")

_KEEP_STORED_PRICE = text("""
UPDATE incoming SET price_cents = NULL, price_max_cents = NULL, currency = NULL,
                    availability = known_availability, has_stock = false
WHERE quarantined
""")

_QUARANTINED_UNITS = text(
    "SELECT DISTINCT unit FROM incoming WHERE quarantined AND unit IS NOT NULL ORDER BY unit"
)

_ATTACH_PAGE = text("""
UPDATE quarantine q
SET page_hash = :page_hash, target_id = :target_id, adapter_id = :adapter_id,
    offer = CAST(:offer AS jsonb), details = q.details || CAST(:details AS jsonb)
FROM listings l
WHERE l.source_id = :source_id AND l.identity_key = :identity_key AND q.listing_id = l.id
  AND q.status = 'pending' AND q.run_id = :run_id
""")


def quarantine_jumps(
    connection: Connection, batch: Batch, *, factor: float = JUMP_FACTOR, within: float = AGREES_WITHIN
) -> list[WriteUnit]:
    """Quarantine the prices that jump, and return the units that contain them.

    A pending price that this run confirms is accepted, unless a person has to decide; any other pending price
    of the listing is rejected.
    """
    values = {"run_id": batch.run_id, "factor": factor, "within": within}
    has_jumps, has_pending, has_strict = connection.execute(_HAS_JUMPS_OR_PENDING, values).one()
    if has_jumps:
        connection.execute(_MARK, values)
    if has_strict and connection.execute(_MARK_STRICT).rowcount:
        has_jumps = True
    if has_pending:
        connection.execute(_CONFIRM, values)
        connection.execute(_REJECT, values)
    if not has_jumps:
        return []
    connection.execute(_INSERT, values)
    connection.execute(_KEEP_STORED_PRICE)
    jumped = [batch.units[index] for index in connection.execute(_QUARANTINED_UNITS).scalars()]
    for unit in jumped:
        unit.jumped = True
    return jumped


def attach_page(connection: Connection, item: ProductPage, *, run_id: int) -> None:
    """Add the product page and the complete offer to the row of a quarantined price."""
    offer = item.offer
    details = {"from": "page", "evidence": item.evidence, **quarantine_rows.replay_details(item)}
    connection.execute(
        _ATTACH_PAGE,
        {
            "page_hash": quarantine_rows.save_page(connection, item.page, offer.observed_at or clock.now()),
            "target_id": item.target_id,
            "adapter_id": item.adapter_id,
            "offer": json.dumps(json_safe(asdict(offer))),
            "details": json.dumps(json_safe(details)),
            "source_id": offer.source,
            "identity_key": offer.identity_key,
            "run_id": run_id,
        },
    )
