"""Alerts: one open row per thing that is wrong, however often it is noticed, resolved when it is over."""

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
    given = insert(Alert).values(
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
        given.on_conflict_do_update(
            index_elements=[Alert.key],
            index_where=Alert.resolved_at.is_(None),
            set_={
                "last_at": now,
                "message": given.excluded.message,
                "details": given.excluded.details,
                "count": Alert.count + 1,
            },
        )
    )


def resolve_alert(connection: Connection, *, kind: str, subject: str, now: datetime) -> None:
    connection.execute(
        update(Alert)
        .where(Alert.key == f"{kind}:{subject}", Alert.resolved_at.is_(None))
        .values(resolved_at=now)
    )


def resolve_alerts(connection: Connection, *, kind: str, subjects: Sequence[str], now: datetime) -> None:
    """None of these is wrong any longer."""
    if subjects:
        connection.execute(
            update(Alert)
            .where(Alert.key.in_([f"{kind}:{subject}" for subject in subjects]), Alert.resolved_at.is_(None))
            .values(resolved_at=now)
        )


def resolve_others(connection: Connection, *, kind: str, subjects: Sequence[str], now: datetime) -> None:
    """Of this kind only these are still wrong."""
    connection.execute(
        update(Alert)
        .where(Alert.kind == kind, Alert.resolved_at.is_(None), Alert.subject.not_in(subjects))
        .values(resolved_at=now)
    )
