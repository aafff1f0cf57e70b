"""Sources as people steer them: approved or not, seen by consumers or not."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select, update

from pricewatch.errors import UserError
from pricewatch.store.models import Source
from pricewatch.store.models.sources import VISIBILITIES


def sources(connection: Connection) -> list[dict[str, Any]]:
    query = select(*Source.__table__.columns).order_by(Source.id).limit(1000)
    return [dict(row) for row in connection.execute(query).mappings()]


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
