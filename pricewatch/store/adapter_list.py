"""Adapters with how they fare, and their batches over time."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from pricewatch import adapters as registered
from pricewatch.store import drift
from pricewatch.store.models import AdapterBatch, AdapterStatus, Source

_EMPTY: dict[str, Any] = {
    column.name: None for column in AdapterStatus.__table__.columns if column.name != "adapter_id"
} | {"enabled": True, "watch_next_run": False, "baseline_sample_size": 0, "consecutive_failed_batches": 0}


def adapters(connection: Connection) -> list[dict[str, Any]]:
    """All that are registered, and those that once were and left traces."""
    statuses = drift.statuses(connection)
    sources: dict[str, list[str]] = {}
    for row in connection.execute(select(Source.adapter_id, Source.id).order_by(Source.id)):
        sources.setdefault(row.adapter_id, []).append(row.id)
    found = []
    for adapter_id in sorted({*registered.known(), *statuses}):
        adapter = registered.get(adapter_id) if adapter_id in registered.known() else None
        found.append(
            {
                "adapter_id": adapter_id,
                "version": adapter.version if adapter else None,
                "domain": adapter.domain if adapter else None,
                "requires_js": adapter.requires_js if adapter else False,
                "has_overview": adapter.has_overview() if adapter else False,
                "sources": sources.get(adapter_id, []),
                **_EMPTY,
                **statuses.get(adapter_id, {}),
            }
        )
    return found


def batches(connection: Connection, adapter_id: str, *, most: int) -> list[dict[str, Any]]:
    """The newest batches that were large enough to be judged, the oldest of them first."""
    query = (
        select(*AdapterBatch.__table__.columns)
        .where(AdapterBatch.adapter_id == adapter_id, AdapterBatch.judged)
        .order_by(AdapterBatch.ended_at.desc())
        .limit(most)
    )
    return [dict(row) for row in connection.execute(query).mappings()][::-1]
