"""Adapters with how they fare on each source, and their batches over time."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from pricewatch import adapters as registered
from pricewatch.store import drift
from pricewatch.store.models import AdapterBatch, AdapterStatus, Source
from pricewatch.store.models.operations import EVERY_SOURCE

_NOT_JUDGED_YET: dict[str, Any] = {column.name: None for column in AdapterStatus.__table__.columns} | {
    "enabled": True,
    "watch_next_run": False,
    "baseline_sample_size": 0,
    "consecutive_failed_batches": 0,
}
_SWITCH = ("enabled", "disabled_at", "disabled_reason", "disabled_by", "note", "watch_next_run")


def adapters(connection: Connection) -> list[dict[str, Any]]:
    """All that are registered, and those that once were and left traces; each with its sources."""
    statuses = drift.statuses(connection)
    read_of = {(row.adapter_id, row.id) for row in connection.execute(select(Source.adapter_id, Source.id))}
    pairs = sorted({*read_of, *(pair for pair in statuses if pair[1] != EVERY_SOURCE)})
    found = []
    for adapter_id in sorted({*registered.known(), *(adapter_id for adapter_id, _ in statuses)}):
        adapter = registered.get(adapter_id) if adapter_id in registered.known() else None
        whole = _NOT_JUDGED_YET | statuses.get((adapter_id, EVERY_SOURCE), {})
        source_ids = [source_id for of, source_id in pairs if of == adapter_id]
        found.append(
            {
                "adapter_id": adapter_id,
                "version": adapter.version if adapter else None,
                "domain": adapter.domain if adapter else None,
                "requires_js": adapter.requires_js if adapter else False,
                "has_overview": adapter.has_overview() if adapter else False,
                "sources": source_ids,
                **{name: whole[name] for name in _SWITCH},
                "by_source": [
                    {**_NOT_JUDGED_YET, **statuses.get((adapter_id, source_id), {}), "source_id": source_id}
                    for source_id in source_ids
                ],
            }
        )
    return found


def batches(
    connection: Connection, adapter_id: str, source_id: str | None = None, *, most: int
) -> list[dict[str, Any]]:
    """The newest batches that were large enough to be judged, the oldest of them first."""
    query = (
        select(*AdapterBatch.__table__.columns)
        .where(AdapterBatch.adapter_id == adapter_id, AdapterBatch.judged)
        .order_by(AdapterBatch.ended_at.desc())
        .limit(most)
    )
    if source_id is not None:
        query = query.where(AdapterBatch.source_id == source_id)
    return [dict(row) for row in connection.execute(query).mappings()][::-1]
