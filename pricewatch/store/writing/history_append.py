"""Price history: the append step of a batch, for the rows of `incoming`."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, text

from pricewatch.store.writing.batch import Batch

# The known_ columns were read and locked before the upsert, so they are the state before this batch.
_APPEND = text("""
WITH appended AS (
INSERT INTO price_history
    (listing_id, observed_at, price_cents, price_max_cents, currency, availability, run_type, run_id,
     adapter_version)
SELECT listing_id, observed_at,
       coalesce(price_cents, known_price_cents), price_max_cents, coalesce(currency, known_currency),
       availability, :run_type, :run_id, adapter_version
FROM incoming
WHERE CASE
    WHEN is_new THEN price_cents IS NOT NULL
    ELSE (coalesce(price_cents, known_price_cents), coalesce(currency, known_currency), availability)
         IS DISTINCT FROM (known_price_cents, known_currency, known_availability)
     AND coalesce(price_cents, known_price_cents) IS NOT NULL
     AND NOT is_older AND observed_at IS DISTINCT FROM known_at
END
RETURNING listing_id
)
UPDATE incoming i SET appended = true FROM appended a WHERE a.listing_id = i.listing_id
""")

# Out of stock at the last known price, which does not become any fresher. Newer observations are not changed.
_OUT_OF_STOCK = text("""
WITH before AS (
    SELECT id, availability FROM listings
    WHERE id = :listing_id AND active
      AND coalesce(greatest(price_observed_at, stock_observed_at) < :observed_at, true)
    FOR UPDATE
), changed AS (
    UPDATE listings l SET availability = 'OUT_OF_STOCK', stock_observed_at = :observed_at
    FROM before WHERE l.id = before.id
    RETURNING l.id, l.price_cents, l.price_max_cents, l.currency, before.availability AS known_availability
)
INSERT INTO price_history
    (listing_id, observed_at, price_cents, price_max_cents, currency, availability, run_type, run_id,
     adapter_version)
SELECT id, :observed_at, price_cents, price_max_cents, currency, 'OUT_OF_STOCK', 'SCRAPE', :run_id, :version
FROM changed WHERE price_cents IS NOT NULL AND known_availability <> 'OUT_OF_STOCK'
""")


def append(connection: Connection, batch: Batch, *, run_type: str = "SCRAPE") -> None:
    """Append a row for each listing whose price, currency or availability has changed."""
    connection.execute(_APPEND, {"run_id": batch.run_id, "run_type": run_type})


def record_out_of_stock(
    connection: Connection, listing_id: int, observed_at: datetime, run_id: int, version: str
) -> None:
    """Record that the product page of a listing is out of stock and shows no price."""
    values = {"listing_id": listing_id, "observed_at": observed_at, "run_id": run_id, "version": version}
    connection.execute(_OUT_OF_STOCK, values)
