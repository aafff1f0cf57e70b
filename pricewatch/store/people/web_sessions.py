"""Login sessions and failed logins, shared by all nodes."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from sqlalchemy import Connection, case, delete, insert, select
from sqlalchemy.dialects.postgresql import insert as upsert

from pricewatch.rules.login_delay import FORGOTTEN_AFTER, wait_until
from pricewatch.store.models import LoginFailure, WebSession

SESSION_LIFETIME = timedelta(days=7)


def open_session(connection: Connection, person: str, now: datetime) -> str:
    """Open a session and return the token for the cookie; the database stores only its hash."""
    token = secrets.token_urlsafe(32)
    connection.execute(
        insert(WebSession).values(
            token_hash=_hash(token), person=person, created_at=now, expires_at=now + SESSION_LIFETIME
        )
    )
    return token


def find_person(connection: Connection, token: str, now: datetime) -> str | None:
    return connection.execute(
        select(WebSession.person).where(WebSession.token_hash == _hash(token), WebSession.expires_at > now)
    ).scalar()


def close_session(connection: Connection, token: str) -> None:
    connection.execute(delete(WebSession).where(WebSession.token_hash == _hash(token)))


def seconds_to_wait(connection: Connection, address: str, now: datetime) -> float:
    """Return how many seconds this address must wait before its next login attempt."""
    row = connection.execute(
        select(LoginFailure.failures, LoginFailure.last_at).where(LoginFailure.address == address)
    ).first()
    return 0.0 if row is None else max(0.0, (wait_until(row.failures, row.last_at) - now).total_seconds())


def record_failure(connection: Connection, address: str, now: datetime) -> None:
    statement = upsert(LoginFailure).values(address=address, failures=1, last_at=now)
    is_recent = LoginFailure.last_at > now - FORGOTTEN_AFTER
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=[LoginFailure.address],
            set_={"failures": case((is_recent, LoginFailure.failures + 1), else_=1), "last_at": now},
        )
    )


def clear_failures(connection: Connection, address: str) -> None:
    connection.execute(delete(LoginFailure).where(LoginFailure.address == address))


def delete_expired(connection: Connection, now: datetime) -> None:
    """Delete expired sessions, and failures too old to delay a login."""
    connection.execute(delete(WebSession).where(WebSession.expires_at < now))
    connection.execute(delete(LoginFailure).where(LoginFailure.last_at < now - FORGOTTEN_AFTER))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
