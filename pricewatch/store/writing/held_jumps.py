"""The step before the upsert: a price that jumps waits in quarantine until another run sees it too.

The listing still counts as seen, with the price and the stock that it had, which are no fresher for it.
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

# The rules are `pricewatch.rules.price_jump`; a test keeps the two equal.
_IS_JUMP = """NOT i.is_new AND NOT i.is_older AND i.currency = i.known_currency
    AND (i.price_cents > i.known_price_cents * :factor OR i.price_cents * :factor < i.known_price_cents)"""
_AGREES = """q.offer ->> 'currency' = i.currency
    AND abs((q.offer ->> 'price_cents')::integer - i.price_cents)
        <= (q.offer ->> 'price_cents')::integer * :within"""

_LOOK = text(f"""
SELECT EXISTS (SELECT FROM incoming i WHERE {_IS_JUMP}),
       EXISTS (SELECT FROM quarantine WHERE status = 'pending' AND listing_id IS NOT NULL)
""")

_MARK = text(f"UPDATE incoming i SET held = true WHERE {_IS_JUMP}")

_CONFIRM = text(f"""
WITH confirmed AS (
    UPDATE quarantine q
    SET status = 'accepted', reviewed_at = i.observed_at, reviewed_by = 'pricewatch',
        note = format('run %s saw it too', CAST(:run_id AS bigint))
    FROM incoming i
    WHERE q.status = 'pending' AND q.listing_id = i.listing_id AND i.held
      AND q.run_id IS DISTINCT FROM :run_id AND {_AGREES}
    RETURNING q.listing_id
)
UPDATE incoming i SET held = false FROM confirmed c WHERE i.listing_id = c.listing_id
""")

# After the one above: what still waits was not confirmed. A second look of the same run confirms nothing.
_LET_GO = text(f"""
UPDATE quarantine q
SET status = 'rejected', reviewed_at = i.observed_at, reviewed_by = 'pricewatch',
    note = format('run %s saw %s', CAST(:run_id AS bigint),
                  CASE WHEN i.held THEN 'yet another price' ELSE 'the usual price again' END)
FROM incoming i
WHERE q.status = 'pending' AND q.listing_id = i.listing_id AND i.price_cents IS NOT NULL AND NOT i.is_older
  AND NOT (i.held AND {_AGREES})
""")

_HOLD = text("""
INSERT INTO quarantine (source_id, run_id, listing_id, adapter_id, adapter_version, url, identity_key, reason,
                        offer, details, first_seen_at, observed_at)
SELECT DISTINCT ON (i.listing_id)
    i.source_id, :run_id, i.listing_id, s.adapter_id, coalesce(i.adapter_version, ''), i.url, i.identity_key,
    'VALIDATION_FAILED',
    jsonb_strip_nulls(jsonb_build_object(
        'url', i.canonical_url, 'fetch_url', i.url, 'title', i.title, 'source', i.source_id,
        'price_cents', i.price_cents, 'price_max_cents', i.price_max_cents, 'currency', i.currency,
        'availability', CASE WHEN i.says_stock THEN i.availability ELSE 'LISTED' END,
        'identity_key', i.identity_key, 'product_id', i.platform_id,
        'sku', i.sku, 'location', i.location, 'area', i.area, 'attributes', i.attributes,
        'image', i.image_url, 'adapter_version', i.adapter_version, 'observed_at', i.observed_at,
        'seller', CASE WHEN i.seller_key IS NOT NULL THEN jsonb_build_object(
            'id', i.seller_key, 'name', i.seller_name, 'type', i.seller_type) END)),
    jsonb_build_object('why', 'the price jumped', 'price_cents', i.price_cents,
                       'stored_price_cents', i.known_price_cents, 'currency', i.currency,
                       'from', CASE WHEN i.detail THEN 'page' ELSE 'card' END),
    i.observed_at, i.observed_at
FROM incoming i JOIN sources s ON s.id = i.source_id
WHERE i.held
  AND NOT EXISTS (SELECT FROM quarantine q WHERE q.status = 'pending' AND q.listing_id = i.listing_id)
ON CONFLICT (source_id, identity_key, reason) WHERE status = 'pending' DO UPDATE
SET run_id = excluded.run_id, listing_id = excluded.listing_id, adapter_id = excluded.adapter_id,
    adapter_version = excluded.adapter_version, url = excluded.url, offer = excluded.offer,
    details = excluded.details, page_hash = NULL, observed_at = excluded.observed_at,
    times_seen = quarantine.times_seen + 1
""")

_KEEP_AS_IT_WAS = text("""
UPDATE incoming SET price_cents = NULL, price_max_cents = NULL, currency = NULL,
                    availability = known_availability, says_stock = false
WHERE held
""")

_HELD_UNITS = text("SELECT DISTINCT unit FROM incoming WHERE held AND unit IS NOT NULL ORDER BY unit")

_ATTACH = text("""
UPDATE quarantine q
SET page_hash = :page_hash, target_id = :target_id, adapter_id = :adapter_id,
    offer = CAST(:offer AS jsonb), details = q.details || CAST(:details AS jsonb)
FROM listings l
WHERE l.source_id = :source_id AND l.identity_key = :identity_key AND q.listing_id = l.id
  AND q.status = 'pending' AND q.run_id = :run_id
""")


def hold(
    connection: Connection, batch: Batch, *, factor: float = JUMP_FACTOR, within: float = AGREES_WITHIN
) -> list[WriteUnit]:
    """Hold the prices that jump, and return the units that they are in.

    A pending one that this run sees too is accepted; any other of the same listing is let go.
    """
    given = {"run_id": batch.run_id, "factor": factor, "within": within}
    jumps, waiting = connection.execute(_LOOK, given).one()
    if jumps:
        connection.execute(_MARK, given)
    if waiting:
        connection.execute(_CONFIRM, given)
        connection.execute(_LET_GO, given)
    if not jumps:
        return []
    connection.execute(_HOLD, given)
    connection.execute(_KEEP_AS_IT_WAS)
    jumped = [batch.units[number] for number in connection.execute(_HELD_UNITS).scalars()]
    for unit in jumped:
        unit.jumped = True
    return jumped


def attach_page(connection: Connection, item: ProductPage, *, run_id: int) -> None:
    """Give the row of a held offer what only its product page brings: the page, and all of the offer."""
    offer = item.offer
    details = {"from": "page", "evidence": item.evidence, "encoding": item.encoding}
    connection.execute(
        _ATTACH,
        {
            "page_hash": quarantine_rows.keep_page(connection, item.page, offer.observed_at or clock.now()),
            "target_id": item.target_id,
            "adapter_id": item.adapter_id,
            "offer": json.dumps(json_safe(asdict(offer))),
            "details": json.dumps(json_safe(details)),
            "source_id": offer.source,
            "identity_key": offer.identity_key,
            "run_id": run_id,
        },
    )
