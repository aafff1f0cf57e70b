"""How things stand, for metrics: queue, adapters, targets, runs, alerts."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, text

from pricewatch.store import jobs
from pricewatch.store.models import AdapterStatus, TargetQueue

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
        "targets": rows(_TARGETS),
        "running": rows(_RUNS),
        "alerts": rows(_ALERTS),
        "fresh": rows(_FRESH, now=now),
        "adapters": rows(
            select(AdapterStatus.adapter_id, AdapterStatus.enabled, AdapterStatus.disabled_reason)
        ),
        "rejected": connection.execute(select(TargetQueue.rejected_total)).scalar() or {},
        "oldest_job": jobs.oldest_pending(connection),
    }
