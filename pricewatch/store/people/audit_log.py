"""The audit log: who changed what, and when."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from pricewatch.store.engine.json_safe import json_safe
from pricewatch.store.models import Audit


def record_action(
    connection: Connection,
    *,
    person: str,
    address: str | None,
    action: str,
    subject: str,
    now: datetime,
    details: dict[str, Any] | None = None,
) -> None:
    """Record an action in the transaction of the change, so that both are stored or neither."""
    connection.execute(
        insert(Audit).values(
            at=now,
            person=json_safe(person),
            address=address,
            action=action,
            subject=json_safe(subject),
            details=json_safe(details or {}),
        )
    )


def find_entries(connection: Connection, *, most: int, before_id: int | None = None) -> list[dict[str, Any]]:
    """List entries, newest first."""
    query = select(*Audit.__table__.columns).order_by(Audit.id.desc()).limit(most)
    if before_id is not None:
        query = query.where(Audit.id < before_id)
    return [dict(row) for row in connection.execute(query).mappings()]
