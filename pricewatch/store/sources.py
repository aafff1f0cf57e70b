"""Which sources there are, and which somebody has approved."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select

from pricewatch.store.models import Source


def list_sources(connection: Connection) -> list[Row[Any]]:
    return list(
        connection.execute(
            select(
                Source.id,
                Source.domain,
                Source.adapter_id,
                Source.visibility,
                Source.tos_approved_by,
                Source.tos_reviewed_at,
            ).order_by(Source.id)
        )
    )
