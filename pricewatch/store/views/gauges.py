"""How things stand, for metrics: queue, adapters, targets, runs, alerts."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, select, text

from pricewatch.store.models import AdapterStatus, TargetQueue
from pricewatch.store.queues import job_queue
from pricewatch.store.views import dashboard

# Every target is counted by its site and status: where there are many, no more often than that.
COUNTED_EVERY = timedelta(minutes=5)
_counted: dict[str, tuple[datetime, list[Any]]] = {}

# The queue and what is not active have small indexes of their own.
_PENDING = text(
    "SELECT adapter_id, count(*) AS count FROM targets WHERE queue_state = 'pending' GROUP BY adapter_id"
)
_TARGETS = text("""
SELECT adapter_id, source_id, status, count(*) AS count FROM targets GROUP BY adapter_id, source_id, status
""")
_RUNS = text("SELECT spider, count(*) AS count FROM runs WHERE status = 'running' GROUP BY spider")
_ALERTS = text("SELECT kind, severity, count(*) AS count FROM alerts WHERE resolved_at IS NULL GROUP BY 1, 2")
_FRESH = text("""
SELECT m.id, extract(epoch FROM :now - m.last_scrape_at) AS seconds
FROM markets m WHERE m.enabled AND m.last_scrape_at IS NOT NULL
""")


def read(connection: Connection, now: datetime) -> dict[str, Any]:
    def rows(query: Any, **given: Any) -> list[Any]:
        return list(connection.execute(query, given))

    return {
        "pending": rows(_PENDING),
        "targets": _targets(connection, now),
        "running": rows(_RUNS),
        "alerts": rows(_ALERTS),
        "fresh": rows(_FRESH, now=now),
        "adapters": rows(select(AdapterStatus.adapter_id, AdapterStatus.source_id, AdapterStatus.enabled)),
        "rejected": connection.execute(select(TargetQueue.rejected_total)).scalar() or {},
        "oldest_job": job_queue.oldest_pending(connection),
    }


def _targets(connection: Connection, now: datetime) -> list[Any]:
    database = str(connection.engine.url)
    at, found = _counted.get(database, (None, []))
    _, is_small = dashboard.estimate(connection, "targets")
    if is_small or at is None or not timedelta() <= now - at < COUNTED_EVERY:
        at, found = now, list(connection.execute(_TARGETS))
        _counted[database] = (at, found)
    return found
