"""Daily maintenance: breakers get another chance, counters roll over, what nobody needs any more goes."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection, text

from pricewatch.rules.freshness import CLOCKS_APART
from pricewatch.rules.market_schedule import FAILURES_TO_OPEN, failures_after_maintenance
from pricewatch.store.fetch_state import proxy_blocks
from pricewatch.store.people import web_sessions
from pricewatch.store.writing import metric_totals

RUNS_AT_ONCE = 500
JOBS_AT_ONCE = 5000
PAGES_AT_ONCE = 500
SETTLED_PAGES_STAY = timedelta(days=1)

_CLOSE_BREAKERS = text("""
UPDATE markets SET
    discovery_failures = least(discovery_failures, :left),
    discovery_failed_at = CASE WHEN discovery_failures < :open THEN discovery_failed_at END,
    sweep_failures = least(sweep_failures, :left),
    sweep_failed_at = CASE WHEN sweep_failures < :open THEN sweep_failed_at END,
    verification_failures = least(verification_failures, :left),
    verification_failed_at = CASE WHEN verification_failures < :open THEN verification_failed_at END
WHERE greatest(discovery_failures, sweep_failures, verification_failures) >= :open
""")

# What a verdict rests on is kept: strikes, and pages that say so.
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
# Dated by a clock that was ahead: they would be put off until that time comes.
_RECALL_TARGETS = text("""
UPDATE targets SET next_due_at = :now, updated_at = :now
WHERE last_scraped_at > :latest AND next_due_at > :now
""")
_FORGET_BLOCKS = text("DELETE FROM proxy_blocks WHERE failed_at > :latest")
# A page that was seen within the last day may be on its way into a row that is not there yet.
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


def close_breakers(connection: Connection) -> int:
    """Every spider whose circuit for a market is open gets one fresh attempt; says for how many markets."""
    left = failures_after_maintenance(FAILURES_TO_OPEN)
    return connection.execute(_CLOSE_BREAKERS, {"left": left, "open": FAILURES_TO_OPEN}).rowcount


def roll_over_counters(connection: Connection, now: datetime) -> None:
    """What ended runs have counted joins the sums, asked for or not; what holds nobody up any more goes."""
    metric_totals.add_up(connection, now)
    web_sessions.forget_expired(connection, now)
    proxy_blocks.forget_expired(connection, now)


def recall_what_was_put_off(connection: Connection, now: datetime) -> None:
    """What was noted while a clock was ahead keeps nothing back any longer."""
    latest = now + CLOCKS_APART
    connection.execute(_RECALL_TARGETS, {"now": now, "latest": latest})
    connection.execute(_FORGET_BLOCKS, {"latest": latest})


def remove_details(
    connection: Connection, since: datetime, before: datetime, most: int = RUNS_AT_ONCE
) -> datetime | None:
    """Remove the pages and fruitless looks of some old runs; says how far it came, or None at the end."""
    count, last = connection.execute(_REMOVE_DETAILS, {"since": since, "before": before, "most": most}).one()
    return last if count == most else None


def remove_jobs(connection: Connection, before: datetime, most: int = JOBS_AT_ONCE) -> bool:
    """Remove some jobs that ended long ago; says whether there may be more."""
    return connection.execute(_REMOVE_JOBS, {"before": before, "most": most}).rowcount == most


def remove_pages(connection: Connection, now: datetime, keep: timedelta, most: int = PAGES_AT_ONCE) -> bool:
    """Remove some pages of held offers, of settled ones or of long ago; says whether there may be more."""
    given = {"settled_before": now - SETTLED_PAGES_STAY, "before": now - keep, "most": most}
    return connection.execute(_REMOVE_PAGES, given).rowcount == most
