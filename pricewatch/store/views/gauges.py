"""Current values for metrics: queues, adapters, targets, runs and alerts."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, select, text

from pricewatch.store.models import AdapterStatus, TargetQueue
from pricewatch.store.queues import job_queue
from pricewatch.store.views import dashboard

# Counting all targets by source and status is slow if there are many, so the counts are cached.
CACHE_LIFETIME = timedelta(minutes=5)
_cached_targets: dict[str, tuple[datetime, list[Any]]] = {}

# A partial index covers the pending targets.
_PENDING = text(
    "SELECT adapter_id, count(*) AS count FROM targets WHERE queue_state = 'pending' GROUP BY adapter_id"
)
_TARGETS = text("""
SELECT adapter_id, source_id, status, count(*) AS count FROM targets GROUP BY adapter_id, source_id, status
""")
_RUNS = text("SELECT spider, count(*) AS count FROM runs WHERE status = 'running' GROUP BY spider")
_ALERTS = text("SELECT kind, severity, count(*) AS count FROM alerts WHERE resolved_at IS NULL GROUP BY 1, 2")
_MARKET_AGES = text("""
SELECT m.id, extract(epoch FROM :now - m.last_scrape_at) AS seconds
FROM markets m WHERE m.enabled AND m.last_scrape_at IS NOT NULL
""")


def read(connection: Connection, now: datetime) -> dict[str, Any]:
    def rows(query: Any, **parameters: Any) -> list[Any]:
        return list(connection.execute(query, parameters))

    return {
        "pending": rows(_PENDING),
        "targets": _count_targets(connection, now),
        "running": rows(_RUNS),
        "alerts": rows(_ALERTS),
        "fresh": rows(_MARKET_AGES, now=now),
        "adapters": rows(select(AdapterStatus.adapter_id, AdapterStatus.source_id, AdapterStatus.enabled)),
        "rejected": connection.execute(select(TargetQueue.rejected_total)).scalar() or {},
        "oldest_job": job_queue.oldest_pending(connection),
    }


def _count_targets(connection: Connection, now: datetime) -> list[Any]:
    database = str(connection.engine.url)
    counted_at, rows = _cached_targets.get(database, (None, []))
    _, is_small = dashboard.estimate_rows(connection, "targets")
    if is_small or counted_at is None or not timedelta() <= now - counted_at < CACHE_LIFETIME:
        counted_at, rows = now, list(connection.execute(_TARGETS))
        _cached_targets[database] = (counted_at, rows)
    return rows
