"""Sources as people steer them: approved or not, seen by consumers or not."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from sqlalchemy import Connection, select, update

from pricewatch.errors import UserError
from pricewatch.rules.custom_spiders import spider_of
from pricewatch.store.models import AdapterStatus, Source
from pricewatch.store.models.source_tables import VISIBILITIES


def sources(connection: Connection) -> list[dict[str, Any]]:
    query = select(*Source.__table__.columns).order_by(Source.id).limit(1000)
    return [dict(row) for row in connection.execute(query).mappings()]


def spiders(connection: Connection) -> dict[str, list[str]]:
    """By source, the spiders that have read it without an adapter."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    query = select(AdapterStatus.adapter_id, AdapterStatus.source_id).order_by(AdapterStatus.adapter_id)
    for adapter_id, source_id in connection.execute(query):
        if (spider := spider_of(adapter_id)) is not None:
            found[source_id].append(spider)
    return dict(found)


def set_rate(connection: Connection, source_id: str, values: dict[str, Any]) -> None:
    """How often the source may be asked: `requests_per_second`, `min_delay_ms`, `max_concurrent`."""
    changed = connection.execute(update(Source).where(Source.id == source_id).values(values))
    if changed.rowcount != 1:
        raise UserError(f"There is no source {source_id!r}.")


def set_visibility(connection: Connection, source_id: str, visibility: str) -> None:
    if visibility not in VISIBILITIES:
        raise UserError(f"A source is one of {', '.join(VISIBILITIES)}.")
    changed = connection.execute(update(Source).where(Source.id == source_id).values(visibility=visibility))
    if changed.rowcount != 1:
        raise UserError(f"There is no source {source_id!r}.")
