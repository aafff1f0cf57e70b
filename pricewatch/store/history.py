"""Price history: the append step of a batch, on the rows that lie in `incoming`."""

from __future__ import annotations

from sqlalchemy import Connection, text

# What is known was read and locked before the upsert, so it is still the state before this batch.
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
     AND NOT is_older AND observed_at IS DISTINCT FROM price_observed_at
END
RETURNING listing_id
)
UPDATE incoming i SET appended = true FROM appended a WHERE a.listing_id = i.listing_id
""")


def append(connection: Connection, run_id: int, _market_id: str | None, *, run_type: str = "SCRAPE") -> None:
    """One row for each listing whose price, currency or availability is not the last stored one."""
    connection.execute(_APPEND, {"run_id": run_id, "run_type": run_type})
