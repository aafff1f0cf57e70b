CREATE VIEW listing_freshness AS
SELECT l.id AS listing_id,
       coalesce(m.tier, 'standard') AS tier,
       confidence(coalesce(m.tier, 'standard'), l.last_seen_at, l.last_verified_at, now()) AS confidence,
       price_confidence(coalesce(m.tier, 'standard'), l.price_observed_at, now()) AS price_confidence
FROM listings l LEFT JOIN markets m ON m.id = l.market_id;

-- The sighting decides whether a listing is shown; the confidence of its price is a column beside it.
CREATE VIEW visible_listings AS
SELECT l.id, l.source_id, l.market_id, l.identity_key, l.url, l.canonical_url, l.title, l.price_cents,
       l.price_max_cents, l.currency, l.availability, l.price_observed_at, l.shipping_cents, l.tax_included,
       l.platform_id, l.sku, l.gtin, l.mpn, l.brand, l.seller_id, l.location, l.area, l.attributes,
       l.image_url, l.adapter_version, l.product_id, l.product_link, l.resolve_requested_at, l.active,
       l.verification_status, l.verification_requested_at, l.strikes, l.last_strike_run_id, l.sold_at,
       l.deactivated_at, l.removed_at, l.times_seen, l.first_seen_at, l.first_seen_run_id, l.last_seen_at,
       l.last_seen_run_id, l.last_scraped_at, l.last_verified_at, l.anchor_at, l.detail_due_at,
       l.stock_observed_at,
       f.tier, f.confidence, f.price_confidence,
       least(f.confidence, f.price_confidence) AS freshness_confidence
FROM listings l
JOIN listing_freshness f ON f.listing_id = l.id
JOIN sources s ON s.id = l.source_id
WHERE s.visibility = 'VISIBLE' AND l.active AND l.removed_at IS NULL AND f.confidence >= 40;

CREATE VIEW visible_price_history AS
SELECT h.listing_id, h.observed_at, h.price_cents, h.price_max_cents, h.currency, h.availability
FROM price_history h JOIN visible_listings l ON l.id = h.listing_id;
