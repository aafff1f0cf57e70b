"""Login sessions, shared by all nodes."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, select, update

from pricewatch.store.models import Person, WebSession

# The last request of a session is not written for every request.
USE_RECORDED_EVERY = timedelta(minutes=1)
MAX_USER_AGENT = 200


def open_session(
    connection: Connection,
    person: str,
    now: datetime,
    *,
    lifetime: timedelta,
    credential: str,
    person_id: int | None = None,
    address: str | None = None,
    user_agent: str = "",
) -> str:
    """Open a session and return the token for the cookie; the database stores only its hash."""
    token = secrets.token_urlsafe(32)
    connection.execute(
        insert(WebSession).values(
            token_hash=_hash(token),
            person=person,
            person_id=person_id,
            credential=credential_digest(token, credential),
            created_at=now,
            last_seen_at=now,
            expires_at=now + lifetime,
            address=address,
            user_agent=user_agent.replace("\x00", "")[:MAX_USER_AGENT],
        )
    )
    return token


def find_session(connection: Connection, token: str, now: datetime, idle: timedelta) -> dict[str, Any] | None:
    """Find a session that has not expired, with the role and the password hash of its person."""
    query = (
        select(
            *(WebSession.id, WebSession.person, WebSession.person_id, WebSession.credential),
            *(WebSession.last_seen_at, Person.name, Person.role, Person.password_hash, Person.enabled),
        )
        .join_from(WebSession, Person, WebSession.person_id == Person.id, isouter=True)
        .where(
            WebSession.token_hash == _hash(token),
            WebSession.expires_at > now,
            WebSession.last_seen_at > now - idle,
        )
    )
    row = connection.execute(query).mappings().first()
    return dict(row) if row else None


def credential_digest(token: str, credential: str) -> str:
    """Return a digest that cannot be compared with passwords without the token, which is not stored."""
    return hmac.new(token.encode(), credential.encode(errors="replace"), hashlib.sha256).hexdigest()


def record_use(connection: Connection, session_id: int, now: datetime) -> None:
    connection.execute(update(WebSession).where(WebSession.id == session_id).values(last_seen_at=now))


def find_own(
    connection: Connection, person: str, person_id: int | None, now: datetime, idle: timedelta
) -> list[dict[str, Any]]:
    """List the sessions of one person, the latest first."""
    query = select(
        *(WebSession.id, WebSession.created_at, WebSession.last_seen_at, WebSession.expires_at),
        *(WebSession.address, WebSession.user_agent),
    ).where(_belongs_to(person, person_id), WebSession.expires_at > now, WebSession.last_seen_at > now - idle)
    ordered = query.order_by(WebSession.last_seen_at.desc(), WebSession.id.desc()).limit(200)
    return [dict(row) for row in connection.execute(ordered).mappings()]


def id_of(connection: Connection, token: str) -> int | None:
    return connection.execute(select(WebSession.id).where(WebSession.token_hash == _hash(token))).scalar()


def close_session(connection: Connection, token: str) -> None:
    connection.execute(delete(WebSession).where(WebSession.token_hash == _hash(token)))


def close_own(connection: Connection, person: str, person_id: int | None, session_id: int) -> bool:
    """End one session if it belongs to this person."""
    mine = and_(_belongs_to(person, person_id), WebSession.id == session_id)
    return connection.execute(delete(WebSession).where(mine)).rowcount > 0


def close_others(connection: Connection, person: str, person_id: int | None, token: str) -> int:
    """End all sessions of this person but the one with the token; return their number."""
    others = and_(_belongs_to(person, person_id), WebSession.token_hash != _hash(token))
    return connection.execute(delete(WebSession).where(others)).rowcount


def delete_expired(connection: Connection, now: datetime) -> None:
    connection.execute(delete(WebSession).where(WebSession.expires_at < now))


def _belongs_to(person: str, person_id: int | None) -> ColumnElement[bool]:
    if person_id is not None:
        return WebSession.person_id == person_id
    return and_(WebSession.person == person, WebSession.person_id.is_(None))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
