"""What follows from a complete run of a search market for listings that it did not show."""

from __future__ import annotations

import json
from datetime import datetime

from sqlalchemy import Connection, text

from pricewatch.store.source_registry.market_rows import MarketRecord

# These statements use `incoming`, which contains all cards that the run has collected.
_REQUEST_MISSING = text("""
UPDATE listings l SET verification_requested_at = :now
FROM market_listings m
WHERE m.market_id = :market_id AND l.id = m.listing_id AND l.active AND l.verification_requested_at IS NULL
  AND NOT EXISTS (SELECT FROM incoming i WHERE i.listing_id = l.id)
""")

_REQUEST_SOLD_DATE = text("""
UPDATE listings l SET verification_requested_at = :now
FROM market_listings m
WHERE m.market_id = :market_id AND l.id = m.listing_id AND l.availability = 'SOLD' AND l.sold_at IS NULL
  AND l.verification_requested_at IS NULL AND l.removed_at IS NULL
""")

# The rule of `rules.market_membership.belongs`: prices in other currencies are not compared.
_REMOVE_MISFITS = text("""
WITH misfits AS (
    DELETE FROM market_listings m USING listings l
    WHERE m.market_id = :market_id AND l.id = m.listing_id
      AND (EXISTS (SELECT FROM jsonb_array_elements_text(CAST(:excluded AS jsonb)) AS word
                   WHERE word <> '' AND strpos(lower(l.title), lower(word)) > 0)
           OR l.currency = :currency AND (l.price_cents < :lowest OR l.price_cents > :highest))
    RETURNING m.listing_id
)
UPDATE listings l
SET removed_at = :now, active = false, deactivated_at = coalesce(l.deactivated_at, :now), market_id = NULL
FROM misfits
WHERE l.id = misfits.listing_id
  AND NOT EXISTS (SELECT FROM market_listings o WHERE o.listing_id = l.id AND o.market_id <> :market_id)
  AND NOT EXISTS (SELECT FROM targets t WHERE t.listing_id = l.id)
""")


def sync(connection: Connection, market: MarketRecord, now: datetime) -> dict[str, int]:
    """Request verification of missing listings and remove misfits; return the number of each."""
    values = {"market_id": market.id, "now": now}
    prices = market.prices
    bounds = {
        "excluded": json.dumps(market.exclude_keywords),
        "lowest": prices.lowest.minor if prices.lowest else None,
        "highest": prices.highest.minor if prices.highest else None,
        "currency": prices.currency,
    }
    counts = {
        "sync/existence": connection.execute(_REQUEST_MISSING, values).rowcount,
        "sync/sold_date": connection.execute(_REQUEST_SOLD_DATE, values).rowcount,
    }
    if market.exclude_keywords or prices.is_set:
        counts["inspect/removed"] = connection.execute(_REMOVE_MISFITS, {**values, **bounds}).rowcount
    return counts
