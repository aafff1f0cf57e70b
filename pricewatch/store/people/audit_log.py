"""The audit log: who changed what, and when."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, insert, select, text

from pricewatch.store.engine.distinct_values import distinct
from pricewatch.store.engine.json_safe import json_safe
from pricewatch.store.models import Audit

FAILED_LOGIN = "login failed"
# Per hour: an attacker must not fill the database.
MOST_FAILED_LOGINS = 500


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


def record_failed_login(
    connection: Connection, *, person: str, address: str | None, subject: str, now: datetime, failures: int
) -> None:
    """Record a wrong password or token, unless there were many in the last hour."""
    recent = (
        select(Audit.id)
        .where(Audit.action == FAILED_LOGIN, Audit.at > now - timedelta(hours=1))
        .order_by(Audit.id.desc())
        .limit(MOST_FAILED_LOGINS)
    )
    if len(connection.execute(recent).all()) < MOST_FAILED_LOGINS:
        record_action(
            connection,
            person=person,
            address=address,
            action=FAILED_LOGIN,
            subject=subject,
            now=now,
            details={"failures": failures},
        )


def find_entries(
    connection: Connection,
    *,
    most: int,
    before_id: int | None = None,
    person: str | None = None,
    action: str | None = None,
) -> list[dict[str, Any]]:
    """List entries, newest first."""
    query = select(*Audit.__table__.columns).order_by(Audit.id.desc()).limit(most)
    if before_id is not None:
        query = query.where(Audit.id < before_id)
    if person is not None:
        query = query.where(Audit.person == person)
    if action is not None:
        query = query.where(Audit.action == action)
    return [dict(row) for row in connection.execute(query).mappings()]


def find_people(connection: Connection) -> list[str]:
    """List the people and tokens that have entries."""
    return list(connection.execute(text(distinct("audit", "person"))).scalars())


def find_actions(connection: Connection) -> list[str]:
    return list(connection.execute(text(distinct("audit", "action"))).scalars())
