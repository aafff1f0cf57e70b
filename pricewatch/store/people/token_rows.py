"""Access tokens of programs, stored as hashes."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from pricewatch.store.models import AccessToken

# The last use is not written for every request.
USE_RECORDED_EVERY = timedelta(minutes=1)
_SHOWN = [column for column in AccessToken.__table__.columns if column.name != "token_hash"]


def add(
    connection: Connection,
    *,
    name: str,
    role: str,
    token: str,
    by: str,
    now: datetime,
    expires_at: datetime | None,
) -> int | None:
    """Add a token and return its ID; None if a token that is not revoked has this name."""
    statement = insert(AccessToken).values(
        name=name, token_hash=_hash(token), role=role, created_at=now, created_by=by, expires_at=expires_at
    )
    return connection.execute(
        statement.on_conflict_do_nothing(
            index_elements=[AccessToken.name], index_where=AccessToken.revoked_at.is_(None)
        ).returning(AccessToken.id)
    ).scalar()


def find_valid(connection: Connection, token: str, now: datetime) -> dict[str, Any] | None:
    """Find a token that is neither revoked nor expired."""
    query = select(*_SHOWN).where(AccessToken.token_hash == _hash(token), *_is_valid(now))
    row = connection.execute(query).mappings().first()
    return dict(row) if row else None


def record_use(connection: Connection, token_id: int, address: str, now: datetime) -> None:
    connection.execute(
        update(AccessToken).where(AccessToken.id == token_id).values(last_used_at=now, last_used_from=address)
    )


def find_tokens(connection: Connection, *, most: int = 1_000) -> list[dict[str, Any]]:
    """List tokens, those in use first."""
    query = select(*_SHOWN).order_by(AccessToken.revoked_at.desc().nulls_first(), AccessToken.name)
    return [dict(row) for row in connection.execute(query.limit(most)).mappings()]


def made_by(connection: Connection, person: str, now: datetime) -> list[str]:
    """Return the names of the valid tokens that a person has made."""
    query = select(AccessToken.name).where(AccessToken.created_by == person, *_is_valid(now))
    return list(connection.execute(query.order_by(AccessToken.name)).scalars())


def revoke(
    connection: Connection, *, by: str, now: datetime, token_id: int | None = None, name: str | None = None
) -> str | None:
    """Revoke the token of an ID or a name and return its name; None if there is none in use."""
    which = AccessToken.id == token_id if token_id is not None else AccessToken.name == name
    statement = update(AccessToken).where(which, AccessToken.revoked_at.is_(None))
    return connection.execute(
        statement.values(revoked_at=now, revoked_by=by).returning(AccessToken.name)
    ).scalar()


def _is_valid(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return (
        AccessToken.revoked_at.is_(None),
        or_(AccessToken.expires_at.is_(None), AccessToken.expires_at > now),
    )


def _hash(token: str) -> str:
    """Return the hash of a token; it is random, so a fast hash without a salt is enough."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
