"""What the dispatcher reads and notes: its own row, markets that may be due, runs that went silent."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, text, update

from pricewatch.rules.custom_spiders import reader_id
from pricewatch.rules.freshness import CLOCKS_APART
from pricewatch.rules.market_schedule import (
    FAILURES_TO_OPEN,
    HANDED_OVER_AFTER,
    SHARES,
    TIER_HOURS,
    MarketState,
)
from pricewatch.store.models import DispatcherRow
from pricewatch.store.queues.job_queue import PROJECT
from pricewatch.store.writing import market_rows, run_rows
from pricewatch.vocabulary import Tier

_HOLD = text("SELECT * FROM dispatcher WHERE id = 1 FOR UPDATE SKIP LOCKED")
_WAIT = text("SELECT * FROM dispatcher WHERE id = 1 FOR UPDATE")

# Hops along the index from one market with listings that were handed over to the next.
_MARKETS = """
WITH RECURSIVE handed AS (
    (SELECT market_id FROM listings WHERE verification_requested_at IS NOT NULL
     ORDER BY market_id LIMIT 1)
    UNION ALL
    SELECT (SELECT l.market_id FROM listings l
            WHERE l.verification_requested_at IS NOT NULL AND l.market_id > h.market_id
            ORDER BY l.market_id LIMIT 1)
    FROM handed h WHERE h.market_id IS NOT NULL
), hours AS MATERIALIZED (
    SELECT m.*, coalesce(m.scrape_frequency_hours,
                         CASE m.tier WHEN 'hot' THEN :hot WHEN 'standard' THEN :standard ELSE :cool END)
                * interval '1 hour' AS frequency,
           m.id IN (SELECT market_id FROM handed WHERE market_id IS NOT NULL) AS handed_over
    FROM markets m WHERE {first}
)
SELECT m.id, m.tier, m.enabled, s.tos_approved_by IS NOT NULL AS approved,
       NOT EXISTS ({off}) AS adapter_enabled, m.scrape_frequency_hours,
       m.discovery_failures, m.sweep_failures, m.verification_failures,
       m.discovery_failed_at, m.sweep_failed_at, m.verification_failed_at,
       m.last_discovery_at, m.last_sweep_at, m.last_verification_at, m.handed_over,
       ARRAY(SELECT j.spider FROM jobs j WHERE j.project = :project AND j.work = 'market ' || m.id
               AND j.state = 'pending'
             UNION ALL
             SELECT j.spider FROM jobs j WHERE j.project = :project AND j.work = 'market ' || m.id
               AND j.state = 'running'
             UNION ALL
             SELECT r.spider FROM runs r WHERE r.status = 'running' AND r.market_id = m.id
               AND r.spider IN ('discovery', 'sweep', 'verification')) AS under_way
FROM hours m JOIN sources s ON s.id = m.source_id
WHERE {second}
ORDER BY m.last_discovery_at NULLS FIRST, m.id
"""
_OFF = """SELECT FROM adapter_status a
        WHERE a.adapter_id = s.adapter_id AND a.source_id IN (s.id, '*') AND NOT a.enabled"""
_ALL = text(_MARKETS.format(first="true", second="true", off=_OFF))
# Every market for which the rule would start something, and perhaps a few more: it has the last word.
_DUE = text(
    _MARKETS.format(
        first="m.enabled AND least(m.discovery_failures, m.sweep_failures, m.verification_failures)"
        " < :failures_to_open",
        off=_OFF,
        second=f"""s.tos_approved_by IS NOT NULL AND NOT EXISTS ({_OFF})
  AND (m.last_discovery_at IS NULL OR m.last_discovery_at <= :now - m.frequency * :discovery
       OR m.last_sweep_at IS NULL OR m.last_sweep_at <= :now - m.frequency * :sweep
       OR coalesce(m.last_verification_at, m.last_discovery_at) <= :now - m.frequency * :verification
       OR m.last_verification_at IS NULL
          AND (m.last_discovery_at <= :now - CAST(:handed_over_after AS interval) OR m.handed_over)
       OR m.handed_over AND m.last_verification_at <= :now - CAST(:handed_over_after AS interval)
       OR greatest(m.last_discovery_at, m.last_sweep_at, m.last_verification_at) > :latest)""",
    )
)

# Hops along the index from one source with listings that were handed over outside any market to the next.
_DUE_SOURCES = text("""
WITH RECURSIVE handed AS (
    (SELECT source_id FROM listings WHERE verification_requested_at IS NOT NULL AND market_id IS NULL
     ORDER BY source_id LIMIT 1)
    UNION ALL
    SELECT (SELECT l.source_id FROM listings l
            WHERE l.verification_requested_at IS NOT NULL AND l.market_id IS NULL
              AND l.source_id > h.source_id
            ORDER BY l.source_id LIMIT 1)
    FROM handed h WHERE h.source_id IS NOT NULL
)
SELECT h.source_id FROM handed h JOIN sources s ON s.id = h.source_id AND s.tos_approved_by IS NOT NULL
WHERE NOT EXISTS (SELECT FROM adapter_status a WHERE a.adapter_id = s.adapter_id AND NOT a.enabled)
  AND EXISTS (SELECT FROM listings l
              WHERE l.source_id = h.source_id AND l.market_id IS NULL AND l.removed_at IS NULL
                AND (l.verification_requested_at <= :before OR l.verification_requested_at > :latest))
  AND NOT EXISTS (SELECT FROM runs r
                  WHERE r.started_at > :before AND r.started_at <= :latest AND r.spider = 'verification'
                    AND r.market_id IS NULL AND r.source_id = h.source_id
                    AND r.adapter_id IS DISTINCT FROM :not_ours)
  AND NOT EXISTS (SELECT FROM runs r
                  WHERE r.status = 'running' AND r.spider = 'verification' AND r.market_id IS NULL
                    AND r.source_id = h.source_id AND r.adapter_id IS DISTINCT FROM :not_ours)
ORDER BY h.source_id
""")

_SILENT = text("""
SELECT id, spider, market_id, job_id FROM runs
WHERE status = 'running' AND heartbeat_at < :before ORDER BY id FOR UPDATE SKIP LOCKED
""")
_END_JOB = text("""
UPDATE jobs SET cancels = cancels + 1, cancel_signal = 'TERM', reason = 'its run gave no sign of life'
WHERE job_id = :job_id AND state = 'running'
""")
_TARGETS_WAITING = text("""
SELECT count(*) FROM targets t
WHERE t.queue_state = 'pending' AND NOT t.robots_path_blocked
  AND NOT EXISTS (SELECT FROM adapter_status a WHERE a.adapter_id = t.adapter_id AND NOT a.enabled
                    AND a.source_id IN (t.source_id, '*'))
""")


def hold(connection: Connection, *, wait: bool = False) -> Any | None:
    """The dispatcher's row, held until the transaction ends; None where somebody else has it."""
    return connection.execute(_WAIT if wait else _HOLD).first()


def note_tick(connection: Connection, **values: Any) -> None:
    connection.execute(update(DispatcherRow).values(values))


def all_markets(connection: Connection) -> list[MarketState]:
    return [_state(row) for row in connection.execute(_ALL, _parameters())]


def due_markets(connection: Connection, now: datetime) -> list[MarketState]:
    """Those for which some spider may be due, the one that waited longest first."""
    given = {
        **_parameters(),
        **SHARES,
        "now": now,
        "latest": now + CLOCKS_APART,
        "failures_to_open": FAILURES_TO_OPEN,
        "handed_over_after": HANDED_OVER_AFTER,
    }
    return [_state(row) for row in connection.execute(_DUE, given)]


def due_sources(connection: Connection, now: datetime) -> list[str]:
    """Sources with listings in no market that were handed over an hour ago, and not looked at since."""
    given = {
        "before": now - HANDED_OVER_AFTER,
        "latest": now + CLOCKS_APART,
        # Another project may have a spider of this name.
        "not_ours": reader_id("verification"),
    }
    return list(connection.execute(_DUE_SOURCES, given).scalars())


def _parameters() -> dict[str, Any]:
    tiers = {str(tier): TIER_HOURS[tier] for tier in Tier}
    return {"project": PROJECT, **tiers}


def _state(row: Any) -> MarketState:
    return MarketState(
        id=row.id,
        tier=row.tier,
        enabled=row.enabled,
        approved=row.approved,
        adapter_enabled=row.adapter_enabled,
        frequency_hours=row.scrape_frequency_hours,
        failures={spider: getattr(row, f"{spider}_failures") for spider in SHARES},
        failed_at={spider: getattr(row, f"{spider}_failed_at") for spider in SHARES},
        last_at={spider: getattr(row, f"last_{spider}_at") for spider in SHARES},
        handed_over=row.handed_over,
        under_way=frozenset(row.under_way),
    )


def end_silent_runs(connection: Connection, now: datetime, silence: timedelta = run_rows.STALE_AFTER) -> int:
    """Runs without a sign of life are over, and count as failures of their markets; their jobs are ended."""
    silent = connection.execute(_SILENT, {"before": now - silence}).all()
    for run in silent:
        run_rows.mark_stale(connection, run.id, now, "no sign of life")
        if run.market_id is not None:
            market_rows.note_run(
                connection, run.market_id, spider=run.spider, status="failed", at=now, failed=True
            )
        if run.job_id is not None:
            connection.execute(_END_JOB, {"job_id": run.job_id})
    return len(silent)


def targets_waiting(connection: Connection) -> int:
    """How many targets of the queue a worker could take now."""
    return int(connection.execute(_TARGETS_WAITING).scalar_one())
