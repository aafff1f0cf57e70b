"""People: their names, roles and password hashes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from pricewatch.store.models import Person, WebSession

# Never shown.
_SECRET = {"password_hash"}
_SHOWN = [column for column in Person.__table__.columns if column.name not in _SECRET]


def add(
    connection: Connection, *, name: str, role: str, password_hash: str, by: str, now: datetime
) -> int | None:
    """Add a person and return the ID; None if the name is in use."""
    statement = insert(Person).values(
        name=name,
        role=role,
        password_hash=password_hash,
        created_at=now,
        created_by=by,
        password_changed_at=now,
    )
    return connection.execute(
        statement.on_conflict_do_nothing(index_elements=[Person.name]).returning(Person.id)
    ).scalar()


def find_people(connection: Connection) -> list[dict[str, Any]]:
    """List all people with the number of their sessions, without password hashes."""
    sessions = (
        select(WebSession.person_id, func.count().label("sessions")).group_by(WebSession.person_id).subquery()
    )
    query = (
        select(*_SHOWN, func.coalesce(sessions.c.sessions, 0).label("sessions"))
        .join_from(Person, sessions, sessions.c.person_id == Person.id, isouter=True)
        .order_by(Person.name)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def find(connection: Connection, name: str) -> dict[str, Any] | None:
    """Find a person by name, with the password hash."""
    row = connection.execute(select(*Person.__table__.columns).where(Person.name == name)).mappings().first()
    return dict(row) if row else None


def change(connection: Connection, person_id: int, **values: Any) -> None:
    """Change columns of a person and end their sessions."""
    connection.execute(update(Person).where(Person.id == person_id).values(values))
    connection.execute(delete(WebSession).where(WebSession.person_id == person_id))


def record_login(connection: Connection, person_id: int, now: datetime) -> None:
    connection.execute(update(Person).where(Person.id == person_id).values(last_login_at=now))


def remove(connection: Connection, person_id: int) -> None:
    """Remove a person; their sessions go with the row."""
    connection.execute(delete(Person).where(Person.id == person_id))
