"""Alerts: one open row per kind and subject, updated each time it is raised, and resolved when it is over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, update
from sqlalchemy.dialects.postgresql import insert

from pricewatch.store.models import Alert


def raise_alert(
    connection: Connection,
    *,
    kind: str,
    subject: str,
    message: str,
    severity: str,
    now: datetime,
    details: dict[str, Any] | None = None,
) -> None:
    new = insert(Alert).values(
        key=f"{kind}:{subject}",
        kind=kind,
        severity=severity,
        subject=subject,
        message=message,
        details=details or {},
        first_at=now,
        last_at=now,
    )
    connection.execute(
        new.on_conflict_do_update(
            index_elements=[Alert.key],
            index_where=Alert.resolved_at.is_(None),
            set_={
                "last_at": now,
                "message": new.excluded.message,
                "details": new.excluded.details,
                "count": Alert.count + 1,
            },
        )
    )


def resolve_alert(connection: Connection, *, kind: str, subject: str, now: datetime) -> None:
    resolve_alerts(connection, kind=kind, subjects=[subject], now=now)


def resolve_alerts(connection: Connection, *, kind: str, subjects: Sequence[str], now: datetime) -> None:
    """Resolve the alerts of this kind about these subjects."""
    if subjects:
        connection.execute(
            update(Alert)
            .where(Alert.key.in_([f"{kind}:{subject}" for subject in subjects]), Alert.resolved_at.is_(None))
            .values(resolved_at=now)
        )


def resolve_all_except(connection: Connection, *, kind: str, subjects: Sequence[str], now: datetime) -> None:
    """Resolve the alerts of this kind about all other subjects."""
    connection.execute(
        update(Alert)
        .where(Alert.kind == kind, Alert.resolved_at.is_(None), Alert.subject.not_in(subjects))
        .values(resolved_at=now)
    )
