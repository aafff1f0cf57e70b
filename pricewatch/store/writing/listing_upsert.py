"""Listings and sellers: the upsert step of a batch, for the rows of `incoming`."""

from __future__ import annotations

from sqlalchemy import Connection, text

from pricewatch.store.writing.batch import Batch
from pricewatch.store.writing.incoming_rows import ConcurrentInsert

_COUNTS = text(
    "SELECT count(*) FILTER (WHERE is_new), count(*) FILTER (WHERE NOT is_new AND NOT is_older),"
    " count(*) FILTER (WHERE NOT is_new AND is_older),"
    " count(seller_key), count(*) FILTER (WHERE detail AND num_nonnulls(gtin, mpn, sku) > 0)"
    " FROM incoming"
)

_SELLERS = text("""
WITH latest AS (
    SELECT DISTINCT ON (source_id, seller_key)
           source_id, seller_key, seller_name, seller_type, observed_at
    FROM incoming WHERE seller_key IS NOT NULL ORDER BY source_id, seller_key, observed_at DESC
), changed AS (
    SELECT g.* FROM latest g
    LEFT JOIN sellers s ON s.source_id = g.source_id AND s.platform_id = g.seller_key
    WHERE s.id IS NULL
       OR (g.seller_name IS NOT NULL AND g.seller_name IS DISTINCT FROM s.name)
       OR (g.seller_type IS NOT NULL AND g.seller_type IS DISTINCT FROM s.type)
), written AS (
    INSERT INTO sellers AS s (source_id, platform_id, name, type, first_seen_at, last_seen_at)
    SELECT source_id, seller_key, seller_name, seller_type, observed_at, observed_at FROM changed
    ON CONFLICT (source_id, platform_id) DO UPDATE
        SET name = coalesce(excluded.name, s.name), type = coalesce(excluded.type, s.type),
            last_seen_at = greatest(s.last_seen_at, excluded.last_seen_at)
    RETURNING s.id, s.name, s.type, s.last_seen_at
)
INSERT INTO seller_history (seller_id, name, type, observed_at, run_id)
SELECT id, name, type, last_seen_at, :run_id FROM written
""")

_LINK_SELLERS = text("""
UPDATE incoming i SET seller_id = s.id, seller_name = s.name FROM sellers s
WHERE s.source_id = i.source_id AND s.platform_id = i.seller_key
""")

# A listing that is seen is active again and loses its strikes; one that is seen as sold becomes inactive.
# The price and the stock only become fresher if they were read.
# Of two observations with the same time, the first one wins.
_UPDATE = text("""
UPDATE listings l SET
    identity_key = i.identity_key,
    url = CASE WHEN i.keep_url THEN l.url ELSE i.url END,
    canonical_url = CASE WHEN i.keep_url THEN l.canonical_url ELSE i.canonical_url END,
    title = i.title,
    market_id = coalesce(:market_id, l.market_id),
    price_cents = CASE WHEN i.observed_at = i.known_at THEN l.price_cents
                       ELSE coalesce(i.price_cents, l.price_cents) END,
    price_max_cents = CASE WHEN i.price_cents IS NOT NULL THEN i.price_max_cents ELSE l.price_max_cents END,
    currency = CASE WHEN i.observed_at = i.known_at THEN l.currency
                    ELSE coalesce(i.currency, l.currency) END,
    availability = CASE WHEN i.observed_at = i.known_at THEN l.availability
                        ELSE i.availability END,
    price_observed_at = CASE WHEN i.observed_at = i.known_at THEN l.price_observed_at
                             WHEN i.price_cents IS NOT NULL THEN i.observed_at
                             WHEN i.clock_was_ahead THEN least(l.price_observed_at, i.observed_at)
                             ELSE l.price_observed_at END,
    stock_observed_at = CASE WHEN i.observed_at = i.known_at THEN l.stock_observed_at
                             WHEN i.has_stock OR i.availability <> l.availability THEN i.observed_at
                             WHEN i.clock_was_ahead THEN least(l.stock_observed_at, i.observed_at)
                             ELSE l.stock_observed_at END,
    shipping_cents = coalesce(i.shipping_cents, l.shipping_cents),
    tax_included = coalesce(i.tax_included, l.tax_included),
    platform_id = coalesce(i.platform_id, l.platform_id),
    sku = coalesce(i.sku, l.sku),
    gtin = coalesce(i.gtin, l.gtin),
    mpn = coalesce(i.mpn, l.mpn),
    brand = coalesce(i.brand, l.brand),
    seller_id = coalesce(i.seller_id, l.seller_id),
    seller_name = CASE WHEN i.seller_id IS NULL THEN l.seller_name ELSE i.seller_name END,
    location = coalesce(i.location, l.location),
    area = coalesce(i.area, l.area),
    attributes = l.attributes || coalesce(i.attributes, '{}'),
    image_url = coalesce(i.image_url, l.image_url),
    adapter_version = coalesce(i.adapter_version, l.adapter_version),
    active = i.availability <> 'SOLD',
    deactivated_at = CASE WHEN i.availability = 'SOLD' THEN coalesce(l.deactivated_at, i.observed_at) END,
    sold_at = CASE WHEN i.availability = 'SOLD' THEN coalesce(i.sold_at, l.sold_at) END,
    removed_at = NULL,
    strikes = 0,
    last_strike_run_id = NULL,
    verification_status = NULL,
    verification_requested_at = CASE WHEN i.availability = 'SOLD' AND coalesce(i.sold_at, l.sold_at) IS NULL
                                     THEN l.verification_requested_at END,
    times_seen = l.times_seen + (l.last_seen_run_id IS DISTINCT FROM :run_id)::integer,
    last_seen_at = CASE WHEN i.clock_was_ahead THEN i.observed_at
                        ELSE greatest(l.last_seen_at, i.observed_at) END,
    last_seen_run_id = :run_id,
    last_scraped_at = CASE WHEN i.detail AND i.clock_was_ahead THEN i.observed_at
                           WHEN i.detail THEN greatest(l.last_scraped_at, i.observed_at)
                           ELSE l.last_scraped_at END,
    unread_since = CASE WHEN NOT i.detail THEN l.unread_since END,
    detail_due_at = coalesce(i.detail_due_at, CASE WHEN i.clock_was_ahead AND l.detail_due_at > i.observed_at
                                                   THEN i.observed_at ELSE l.detail_due_at END)
FROM incoming i
WHERE l.id = i.listing_id AND NOT i.is_new AND NOT i.is_older
""")

# An observation that is older than the stored state, written late after an outage, only counts as seen.
_UPDATE_SEEN = text("""
UPDATE listings l SET
    times_seen = l.times_seen + (l.last_seen_run_id IS DISTINCT FROM :run_id)::integer,
    last_seen_at = greatest(l.last_seen_at, i.observed_at),
    last_seen_run_id = :run_id,
    last_scraped_at = CASE WHEN i.detail THEN greatest(l.last_scraped_at, i.observed_at)
                           ELSE l.last_scraped_at END,
    detail_due_at = coalesce(i.detail_due_at, l.detail_due_at)
FROM incoming i
WHERE l.id = i.listing_id AND NOT i.is_new AND i.is_older
""")

_INSERT = text("""
WITH inserted AS (
    INSERT INTO listings (
        source_id, market_id, identity_key, url, canonical_url, title,
        price_cents, price_max_cents, currency, availability, price_observed_at, stock_observed_at,
        shipping_cents, tax_included, platform_id, sku, gtin, mpn, brand, seller_id, seller_name, location,
        area, attributes, image_url, adapter_version,
        active, deactivated_at, sold_at, first_seen_at, first_seen_run_id, last_seen_at, last_seen_run_id,
        last_scraped_at, detail_due_at)
    SELECT source_id, :market_id, identity_key, url, canonical_url, title,
        price_cents, price_max_cents, currency, availability,
        CASE WHEN price_cents IS NOT NULL THEN observed_at END, CASE WHEN has_stock THEN observed_at END,
        shipping_cents, tax_included, platform_id, sku, gtin, mpn, brand, seller_id, seller_name, location,
        area, coalesce(attributes, '{}'), image_url, adapter_version, availability <> 'SOLD',
        CASE WHEN availability = 'SOLD' THEN observed_at END, sold_at,
        observed_at, :run_id, observed_at, :run_id, CASE WHEN detail THEN observed_at END,
        detail_due_at
    FROM incoming WHERE is_new
    ON CONFLICT DO NOTHING
    RETURNING id, source_id, identity_key
)
UPDATE incoming i SET listing_id = n.id FROM inserted n
WHERE n.source_id = i.source_id AND n.identity_key = i.identity_key
""")

_JOIN_MARKET = text("""
INSERT INTO market_listings (market_id, listing_id, first_seen_at)
SELECT :market_id, listing_id, observed_at FROM incoming
ON CONFLICT DO NOTHING
""")

_IDENTIFIERS = text("""
INSERT INTO listing_identifiers (listing_id, kind, value, first_seen_at)
SELECT i.listing_id, id.kind, id.value, i.observed_at
FROM incoming i, LATERAL (VALUES ('GTIN', i.gtin), ('MPN', i.mpn), ('SKU', i.sku)) AS id(kind, value)
WHERE i.detail AND id.value IS NOT NULL
ON CONFLICT DO NOTHING
""")


def upsert(connection: Connection, batch: Batch) -> None:
    """Insert new listings and update known ones."""
    values = {"run_id": batch.run_id, "market_id": batch.market_id}
    new, known, older, with_seller, with_identifiers = connection.execute(_COUNTS).one()
    if with_seller:
        connection.execute(_SELLERS, values)
        connection.execute(_LINK_SELLERS)
    if known:
        connection.execute(_UPDATE, values)
    if older:
        connection.execute(_UPDATE_SEEN, values)
    if new and connection.execute(_INSERT, values).rowcount < new:
        raise ConcurrentInsert
    if batch.market_id is not None:
        connection.execute(_JOIN_MARKET, values)
    if with_identifiers:
        connection.execute(_IDENTIFIERS)
