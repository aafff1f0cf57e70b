"""State of the dispatcher: its row, the markets that may be due, and runs without a heartbeat."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, text, update

from pricewatch.rules.custom_spiders import reader_id
from pricewatch.rules.freshness import CLOCKS_APART
from pricewatch.rules.market_schedule import (
    FAILURES_TO_OPEN,
    HANDED_OVER_AFTER,
    INTERVAL_SHARES,
    TIER_HOURS,
    MarketState,
)
from pricewatch.store.models import DispatcherRow
from pricewatch.store.queues.job_queue import PROJECT
from pricewatch.store.source_registry import market_rows
from pricewatch.store.writing import run_rows
from pricewatch.vocabulary import Tier

_TRY_LOCK = text("SELECT * FROM dispatcher WHERE id = 1 FOR UPDATE SKIP LOCKED")
_LOCK = text("SELECT * FROM dispatcher WHERE id = 1 FOR UPDATE")

# Loose index scan over the markets that have listings with a requested verification.
_MARKETS = """
WITH RECURSIVE requested AS (
    (SELECT market_id FROM listings WHERE verification_requested_at IS NOT NULL
     ORDER BY market_id LIMIT 1)
    UNION ALL
    SELECT (SELECT l.market_id FROM listings l
            WHERE l.verification_requested_at IS NOT NULL AND l.market_id > q.market_id
            ORDER BY l.market_id LIMIT 1)
    FROM requested q WHERE q.market_id IS NOT NULL
), hours AS MATERIALIZED (
    SELECT m.*, coalesce(m.scrape_frequency_hours,
                         CASE m.tier WHEN 'hot' THEN :hot WHEN 'standard' THEN :standard ELSE :cool END)
                * interval '1 hour' AS frequency,
           m.id IN (SELECT market_id FROM requested WHERE market_id IS NOT NULL) AS verification_requested
    FROM markets m WHERE {market_filter}
)
SELECT m.id, m.tier, m.enabled, s.tos_approved_by IS NOT NULL AS approved,
       NOT EXISTS ({adapter_disabled}) AS adapter_enabled, m.scrape_frequency_hours,
       m.discovery_failures, m.sweep_failures, m.verification_failures,
       m.discovery_failed_at, m.sweep_failed_at, m.verification_failed_at,
       m.last_discovery_at, m.last_sweep_at, m.last_verification_at,
       m.verification_requested,
       ARRAY(SELECT j.spider FROM jobs j WHERE j.project = :project AND j.work = 'market ' || m.id
               AND j.state = 'pending'
             UNION ALL
             SELECT j.spider FROM jobs j WHERE j.project = :project AND j.work = 'market ' || m.id
               AND j.state = 'running'
             UNION ALL
             SELECT r.spider FROM runs r WHERE r.status = 'running' AND r.market_id = m.id
               AND r.spider IN ('discovery', 'sweep', 'verification')) AS under_way
FROM hours m JOIN sources s ON s.id = m.source_id
WHERE {due_filter}
ORDER BY m.last_discovery_at NULLS FIRST, m.id
"""
_ADAPTER_DISABLED = """SELECT FROM adapter_status a
        WHERE a.adapter_id = s.adapter_id AND a.source_id IN (s.id, '*') AND NOT a.enabled"""
_ALL = text(_MARKETS.format(market_filter="true", due_filter="true", adapter_disabled=_ADAPTER_DISABLED))
# A superset of the markets for which `rules.market_schedule` starts a run.
_DUE = text(
    _MARKETS.format(
        market_filter="m.enabled AND least(m.discovery_failures, m.sweep_failures, m.verification_failures)"
        " < :failures_to_open",
        adapter_disabled=_ADAPTER_DISABLED,
        due_filter=f"""s.tos_approved_by IS NOT NULL AND NOT EXISTS ({_ADAPTER_DISABLED})
  AND (m.last_discovery_at IS NULL OR m.last_discovery_at <= :now - m.frequency * :discovery
       OR m.last_sweep_at IS NULL OR m.last_sweep_at <= :now - m.frequency * :sweep
       OR coalesce(m.last_verification_at, m.last_discovery_at) <= :now - m.frequency * :verification
       OR m.last_verification_at IS NULL
          AND (m.last_discovery_at <= :now - CAST(:verify_after AS interval) OR m.verification_requested)
       OR m.verification_requested AND m.last_verification_at <= :now - CAST(:verify_after AS interval)
       OR greatest(m.last_discovery_at, m.last_sweep_at, m.last_verification_at) > :latest)""",
    )
)

# Loose index scan over the sources that have such listings outside any market.
_DUE_SOURCES = text("""
WITH RECURSIVE requested AS (
    (SELECT source_id FROM listings WHERE verification_requested_at IS NOT NULL AND market_id IS NULL
     ORDER BY source_id LIMIT 1)
    UNION ALL
    SELECT (SELECT l.source_id FROM listings l
            WHERE l.verification_requested_at IS NOT NULL AND l.market_id IS NULL
              AND l.source_id > q.source_id
            ORDER BY l.source_id LIMIT 1)
    FROM requested q WHERE q.source_id IS NOT NULL
)
SELECT q.source_id FROM requested q JOIN sources s ON s.id = q.source_id AND s.tos_approved_by IS NOT NULL
WHERE NOT EXISTS (SELECT FROM adapter_status a WHERE a.adapter_id = s.adapter_id AND NOT a.enabled)
  AND EXISTS (SELECT FROM listings l
              WHERE l.source_id = q.source_id AND l.market_id IS NULL AND l.removed_at IS NULL
                AND (l.verification_requested_at <= :before OR l.verification_requested_at > :latest))
  AND NOT EXISTS (SELECT FROM runs r
                  WHERE r.started_at > :before AND r.started_at <= :latest AND r.spider = 'verification'
                    AND r.market_id IS NULL AND r.source_id = q.source_id
                    AND r.adapter_id IS DISTINCT FROM :other_project)
  AND NOT EXISTS (SELECT FROM runs r
                  WHERE r.status = 'running' AND r.spider = 'verification' AND r.market_id IS NULL
                    AND r.source_id = q.source_id AND r.adapter_id IS DISTINCT FROM :other_project)
ORDER BY q.source_id
""")

_SILENT = text("""
SELECT id, spider, market_id, job_id FROM runs
WHERE status = 'running' AND heartbeat_at < :before ORDER BY id FOR UPDATE SKIP LOCKED
""")
_CANCEL_JOB = text("""
UPDATE jobs SET cancels = cancels + 1, cancel_signal = 'TERM', reason = 'the run sent no heartbeat'
WHERE job_id = :job_id AND state = 'running'
""")
_COUNT_PENDING_TARGETS = text("""
SELECT count(*) FROM targets t
WHERE t.queue_state = 'pending' AND NOT t.robots_path_blocked
  AND NOT EXISTS (SELECT FROM adapter_status a WHERE a.adapter_id = t.adapter_id AND NOT a.enabled
                    AND a.source_id IN (t.source_id, '*'))
""")


def lock_row(connection: Connection, *, wait: bool = False) -> Any | None:
    """Lock the dispatcher's row for this transaction; return None if another process has locked it."""
    return connection.execute(_LOCK if wait else _TRY_LOCK).first()


def record_tick(connection: Connection, **values: Any) -> None:
    connection.execute(update(DispatcherRow).values(values))


def all_markets(connection: Connection) -> list[MarketState]:
    return [_state(row) for row in connection.execute(_ALL, _tier_parameters())]


def due_markets(connection: Connection, now: datetime) -> list[MarketState]:
    """List the markets for which a spider may be due, oldest discovery first."""
    parameters = {
        **_tier_parameters(),
        **INTERVAL_SHARES,
        "now": now,
        "latest": now + CLOCKS_APART,
        "failures_to_open": FAILURES_TO_OPEN,
        "verify_after": HANDED_OVER_AFTER,
    }
    return [_state(row) for row in connection.execute(_DUE, parameters)]


def due_sources(connection: Connection, now: datetime) -> list[str]:
    """List the sources with listings outside any market whose verification was requested over an hour ago.

    Sources with a verification run since then are left out.
    """
    parameters = {
        "before": now - HANDED_OVER_AFTER,
        "latest": now + CLOCKS_APART,
        # Another project may have a spider that is also called "verification".
        "other_project": reader_id("verification"),
    }
    return list(connection.execute(_DUE_SOURCES, parameters).scalars())


def _tier_parameters() -> dict[str, Any]:
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
        failures={spider: getattr(row, f"{spider}_failures") for spider in INTERVAL_SHARES},
        failed_at={spider: getattr(row, f"{spider}_failed_at") for spider in INTERVAL_SHARES},
        last_at={spider: getattr(row, f"last_{spider}_at") for spider in INTERVAL_SHARES},
        handed_over=row.verification_requested,
        under_way=frozenset(row.under_way),
    )


def close_silent_runs(
    connection: Connection, now: datetime, silence: timedelta = run_rows.STALE_AFTER
) -> int:
    """Close runs without a heartbeat, count them as failures of their markets, and cancel their jobs."""
    silent = connection.execute(_SILENT, {"before": now - silence}).all()
    for run in silent:
        run_rows.mark_stale(connection, run.id, now, "no heartbeat")
        if run.market_id is not None:
            market_rows.record_run(
                connection, run.market_id, spider=run.spider, status="failed", at=now, failed=True
            )
        if run.job_id is not None:
            connection.execute(_CANCEL_JOB, {"job_id": run.job_id})
    return len(silent)


def count_pending_targets(connection: Connection) -> int:
    """Count the queued targets that a worker could lease now."""
    return int(connection.execute(_COUNT_PENDING_TARGETS).scalar_one())
