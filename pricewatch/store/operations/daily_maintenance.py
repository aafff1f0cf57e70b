"""The steps of daily maintenance."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection, text

from pricewatch.rules.freshness import CLOCKS_APART
from pricewatch.rules.market_schedule import FAILURES_TO_OPEN, failures_after_maintenance
from pricewatch.store.fetch_state import proxy_blocks
from pricewatch.store.operations import metric_totals
from pricewatch.store.people import login_failures, web_sessions

RUNS_AT_ONCE = 500
JOBS_AT_ONCE = 5000
PAGES_AT_ONCE = 500
KEEP_REVIEWED_PAGES = timedelta(days=1)

_RESET_BREAKERS = text("""
UPDATE markets SET
    discovery_failures = least(discovery_failures, :left),
    discovery_failed_at = CASE WHEN discovery_failures < :open THEN discovery_failed_at END,
    sweep_failures = least(sweep_failures, :left),
    sweep_failed_at = CASE WHEN sweep_failures < :open THEN sweep_failed_at END,
    verification_failures = least(verification_failures, :left),
    verification_failed_at = CASE WHEN verification_failures < :open THEN verification_failed_at END
WHERE greatest(discovery_failures, sweep_failures, verification_failures) >= :open
""")

# Strikes and decisive outcomes are not deleted: they explain why a listing is gone.
_REMOVE_DETAILS = text("""
WITH old AS (
    SELECT id, started_at FROM runs
    WHERE started_at >= :since AND started_at < :before AND status <> 'running'
    ORDER BY started_at, id LIMIT :most
), pages AS (
    DELETE FROM run_pages p USING old WHERE p.run_id = old.id
), attempts AS (
    DELETE FROM verification_attempts v USING old
    WHERE v.run_id = old.id AND NOT v.strike AND v.outcome IN ('alive', 'trouble', 'not_found')
)
SELECT count(*), max(started_at) FROM old
""")
# Targets that were dated while a clock was ahead would not be due until that date.
_MAKE_DUE = text("""
UPDATE targets SET next_due_at = :now, updated_at = :now
WHERE last_scraped_at > :latest AND next_due_at > :now
""")
_DELETE_FUTURE_BLOCKS = text("DELETE FROM proxy_blocks WHERE failed_at > :latest")
# A page of the last day may belong to a quarantine row that is not committed yet.
_REMOVE_PAGES = text("""
DELETE FROM quarantine_pages
WHERE kept_at < :settled_before AND hash IN (
    SELECT p.hash FROM quarantine_pages p
    WHERE p.kept_at < :settled_before AND (p.kept_at < :before OR NOT EXISTS (
        SELECT FROM quarantine q WHERE q.page_hash = p.hash AND q.status = 'pending'))
    ORDER BY p.kept_at LIMIT :most)
""")
_REMOVE_JOBS = text("""
DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE ended_at < :before ORDER BY ended_at LIMIT :most)
""")


def reset_breakers(connection: Connection) -> int:
    """Allow one more attempt where a circuit breaker is open; return the number of markets."""
    failures = failures_after_maintenance(FAILURES_TO_OPEN)
    return connection.execute(_RESET_BREAKERS, {"left": failures, "open": FAILURES_TO_OPEN}).rowcount


def add_up_and_expire(connection: Connection, now: datetime) -> None:
    """Add the metrics of finished runs to the totals; delete what has expired."""
    metric_totals.add_finished_runs(connection, now)
    web_sessions.delete_expired(connection, now)
    login_failures.delete_expired(connection, now)
    proxy_blocks.delete_expired(connection, now)


def undo_future_delays(connection: Connection, now: datetime) -> None:
    """Undo delays of targets and proxies that were dated while a clock was ahead."""
    latest = now + CLOCKS_APART
    connection.execute(_MAKE_DUE, {"now": now, "latest": latest})
    connection.execute(_DELETE_FUTURE_BLOCKS, {"latest": latest})


def remove_run_details(
    connection: Connection, since: datetime, before: datetime, most: int = RUNS_AT_ONCE
) -> datetime | None:
    """Delete pages and inconclusive attempts of old runs; return where to continue, or None at the end."""
    count, last = connection.execute(_REMOVE_DETAILS, {"since": since, "before": before, "most": most}).one()
    return last if count == most else None


def remove_old_jobs(connection: Connection, before: datetime, most: int = JOBS_AT_ONCE) -> bool:
    """Delete some jobs that ended long ago; return whether there may be more."""
    return connection.execute(_REMOVE_JOBS, {"before": before, "most": most}).rowcount == most


def remove_quarantine_pages(
    connection: Connection, now: datetime, keep: timedelta, most: int = PAGES_AT_ONCE
) -> bool:
    """Delete some pages of reviewed or old quarantined offers; return whether there may be more."""
    values = {"settled_before": now - KEEP_REVIEWED_PAGES, "before": now - keep, "most": most}
    return connection.execute(_REMOVE_PAGES, values).rowcount == most
