"""Sources for the web pages and commands: list them, set their rate and visibility."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from sqlalchemy import Connection, select, update

from pricewatch.errors import UserError
from pricewatch.rules.custom_spiders import custom_spider_name
from pricewatch.store.models import AdapterStatus, Source
from pricewatch.store.models.source_tables import VISIBILITIES


def sources(connection: Connection) -> list[dict[str, Any]]:
    query = select(*Source.__table__.columns).order_by(Source.id).limit(1000)
    return [dict(row) for row in connection.execute(query).mappings()]


def source(connection: Connection, source_id: str) -> dict[str, Any] | None:
    query = select(*Source.__table__.columns).where(Source.id == source_id)
    row = connection.execute(query).mappings().first()
    return dict(row) if row else None


def custom_spiders_by_source(connection: Connection) -> dict[str, list[str]]:
    """Return the custom spiders of each source."""
    spiders_of: defaultdict[str, list[str]] = defaultdict(list)
    query = select(AdapterStatus.adapter_id, AdapterStatus.source_id).order_by(AdapterStatus.adapter_id)
    for adapter_id, source_id in connection.execute(query):
        if (spider := custom_spider_name(adapter_id)) is not None:
            spiders_of[source_id].append(spider)
    return dict(spiders_of)


def set_rate(connection: Connection, source_id: str, values: dict[str, Any]) -> None:
    """Set the rate limit: `requests_per_second`, `min_delay_ms`, `max_concurrent`."""
    _update(connection, source_id, values)


def set_visibility(connection: Connection, source_id: str, visibility: str) -> None:
    if visibility not in VISIBILITIES:
        raise UserError(f"Unknown visibility {visibility!r}. Known: {', '.join(VISIBILITIES)}.")
    _update(connection, source_id, {"visibility": visibility})


def _update(connection: Connection, source_id: str, values: dict[str, Any]) -> None:
    changed = connection.execute(update(Source).where(Source.id == source_id).values(values))
    if changed.rowcount != 1:
        raise UserError(f"There is no source {source_id!r}.")
