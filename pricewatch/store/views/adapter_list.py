"""Adapters and custom spiders, with their status on each source and their batches."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select, text

from pricewatch import adapters as registered
from pricewatch.rules.custom_spiders import custom_spider_name, is_custom_spider
from pricewatch.store.engine.distinct_values import distinct
from pricewatch.store.models import AdapterBatch, AdapterStatus, Source
from pricewatch.store.models.operation_tables import EVERY_SOURCE
from pricewatch.store.operations import adapter_status

_NO_STATUS: dict[str, Any] = {column.name: None for column in AdapterStatus.__table__.columns} | {
    "enabled": True,
    "watch_next_run": False,
    "baseline_sample_size": 0,
    "consecutive_failed_batches": 0,
}
_ADAPTERS_OF_RUNS = text(distinct("runs", "adapter_id"))
_HAS_RUN = text("""
SELECT EXISTS (SELECT FROM adapter_status WHERE adapter_id = :adapter_id)
    OR EXISTS (SELECT FROM runs WHERE adapter_id = :adapter_id)
""")
_STATUS_FIELDS = ("enabled", "disabled_at", "disabled_reason", "disabled_by", "note", "watch_next_run")


def adapters(connection: Connection) -> list[dict[str, Any]]:
    """List registered adapters, removed adapters that have a status, and custom spiders as `spider:NAME`."""
    statuses = adapter_status.statuses(connection)
    sources = {(row.adapter_id, row.id) for row in connection.execute(select(Source.adapter_id, Source.id))}
    pairs = sorted({*sources, *(pair for pair in statuses if pair[1] != EVERY_SOURCE)})
    rows = []
    spiders = {
        adapter_id
        for adapter_id in connection.execute(_ADAPTERS_OF_RUNS).scalars()
        if is_custom_spider(adapter_id)
    }
    for adapter_id in sorted({*registered.known(), *spiders, *(adapter_id for adapter_id, _ in statuses)}):
        adapter = registered.get(adapter_id) if adapter_id in registered.known() else None
        overall = _NO_STATUS | statuses.get((adapter_id, EVERY_SOURCE), {})
        source_ids = [source_id for reader, source_id in pairs if reader == adapter_id]
        rows.append(
            {
                "adapter_id": adapter_id,
                "spider": custom_spider_name(adapter_id),
                "version": adapter.version if adapter else None,
                "domain": adapter.domain if adapter else None,
                "requires_js": adapter.requires_js if adapter else False,
                "has_overview": adapter.has_overview() if adapter else False,
                "sources": source_ids,
                **{name: overall[name] for name in _STATUS_FIELDS},
                "by_source": [
                    {**_NO_STATUS, **statuses.get((adapter_id, source_id), {}), "source_id": source_id}
                    for source_id in source_ids
                ],
            }
        )
    return rows


def check_known(connection: Connection, adapter_id: str) -> None:
    """Raise UnknownAdapter unless this is a registered adapter or `spider:NAME` of a spider that has run."""
    spider = custom_spider_name(adapter_id)
    if spider is None:
        registered.get(adapter_id)
    elif not connection.execute(_HAS_RUN, {"adapter_id": adapter_id}).scalar():
        raise registered.UnknownAdapter(
            f"No spider {spider!r} has run yet. `scrapy adapters list` lists those that have."
        )


def batches(
    connection: Connection, adapter_id: str, source_id: str | None = None, *, most: int
) -> list[dict[str, Any]]:
    """List the newest batches that were large enough to be judged, oldest first."""
    query = (
        select(*AdapterBatch.__table__.columns)
        .where(AdapterBatch.adapter_id == adapter_id, AdapterBatch.judged)
        .order_by(AdapterBatch.ended_at.desc())
        .limit(most)
    )
    if source_id is not None:
        query = query.where(AdapterBatch.source_id == source_id)
    return [dict(row) for row in connection.execute(query).mappings()][::-1]
