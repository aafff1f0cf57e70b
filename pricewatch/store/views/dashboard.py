"""Queries of the overview page, answered from indexes and PostgreSQL's row estimates."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

from pricewatch.money import Money

# Tables below this size are counted; for larger ones the estimate of the last ANALYZE is used.
COUNTED_BELOW = 20_000
NEWEST_ROWS = 400

_ESTIMATE = text("SELECT reltuples::bigint FROM pg_class WHERE oid = CAST(:name AS regclass)")
_TODAY = text("""
SELECT coalesce(sum(new_listings), 0) AS new_listings, coalesce(sum(price_rows), 0) AS price_rows,
       coalesce(sum(gone), 0) AS gone, coalesce(sum(pages), 0) AS pages, count(*) AS runs,
       count(*) FILTER (WHERE status IN ('failed', 'aborted', 'stale', 'quarantined')) AS bad_runs
FROM runs WHERE started_at > :since
""")
_WAITING_WORK = text("""
SELECT (SELECT count(*) FROM (SELECT FROM quarantine WHERE status = 'pending' LIMIT 1000) q) AS quarantine,
       (SELECT count(*) FROM alerts WHERE resolved_at IS NULL) AS alerts,
       (SELECT count(*) FROM (SELECT FROM targets WHERE queue_state = 'pending' LIMIT 10000) t) AS pending,
       (SELECT count(*) FROM (SELECT FROM targets WHERE status = 'BROKEN' LIMIT 10000) t) AS broken
""")
# The first row of a listing is not a change; only the newest rows are searched for changes.
_CHANGES = text("""
SELECT n.listing_id, l.title, l.source_id, l.market_id, n.observed_at, n.currency, n.availability,
       n.price_cents, b.price_cents AS before_cents, b.availability AS before_availability
FROM (SELECT * FROM price_history ORDER BY observed_at DESC LIMIT :newest) n
CROSS JOIN LATERAL (
    SELECT price_cents, currency, availability FROM price_history h
    WHERE h.listing_id = n.listing_id AND h.observed_at < n.observed_at
    ORDER BY h.observed_at DESC LIMIT 1) b
JOIN listings l ON l.id = n.listing_id
WHERE b.currency = n.currency
ORDER BY n.observed_at DESC LIMIT :most
""")


def estimate_rows(connection: Connection, table: str) -> tuple[int, bool]:
    """Return the number of rows of a table, and whether it is exact."""
    rows = connection.execute(_ESTIMATE, {"name": table}).scalar_one()
    if rows >= COUNTED_BELOW:
        return int(rows), False
    query = f"SELECT count(*) FROM (SELECT FROM {table} LIMIT {COUNTED_BELOW}) AS first_rows"
    return int(connection.execute(text(query)).scalar_one()), True


def last_24_hours(connection: Connection, now: datetime) -> dict[str, Any]:
    """Sum up the runs of the last 24 hours, with the work that waits for a person."""
    row = connection.execute(_TODAY, {"since": now - timedelta(hours=24)}).mappings().one()
    return {**row, **count_waiting_work(connection)._asdict()}


class WaitingWork(NamedTuple):
    """Counts of open work on every page, capped because large counts are slow."""

    quarantine: int = 0
    alerts: int = 0
    pending: int = 0
    broken: int = 0


def count_waiting_work(connection: Connection) -> WaitingWork:
    return WaitingWork(**connection.execute(_WAITING_WORK).mappings().one())


def recent_changes(connection: Connection, most: int = 12) -> list[dict[str, Any]]:
    """List the newest changes of price or availability."""
    parameters = {"newest": NEWEST_ROWS, "most": most}
    return [
        {
            **row,
            "price": Money.of(row["price_cents"], row["currency"]),
            "before": Money.of(row["before_cents"], row["currency"]),
        }
        for row in connection.execute(_CHANGES, parameters).mappings()
    ]
