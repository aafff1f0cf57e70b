"""Making and revoking the tokens of programs; each change is recorded in the audit log."""

from __future__ import annotations

import secrets
from datetime import timedelta

from sqlalchemy import Connection

from pricewatch.errors import UserError
from pricewatch.rules.access.passwords import TOKEN_PREFIX, token_name_problem
from pricewatch.services.people_admin import AdminAction
from pricewatch.store.people import token_rows
from pricewatch.vocabulary import AccessRole

MAX_DAYS = 3650
TOKEN_BYTES = 32


class UnknownToken(UserError):
    """There is no such token, or it was revoked."""


def make(
    connection: Connection, actor: AdminAction, *, name: str, role: str, expires_days: int | None = None
) -> tuple[int, str]:
    """Make a token; return its ID and the token, which is not stored and cannot be shown again."""
    name = name.strip()
    if problem := token_name_problem(name):
        raise UserError(problem)
    if role not in set(AccessRole):
        raise UserError(f"Unknown role {role[:20]!r}. Known: {', '.join(AccessRole)}.")
    if expires_days is not None and not 1 <= expires_days <= MAX_DAYS:
        raise UserError(f"A token is valid for 1 to {MAX_DAYS} days, or without an end.")
    expires_at = actor.now + timedelta(days=expires_days) if expires_days is not None else None
    token = TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
    token_id = token_rows.add(
        connection, name=name, role=role, token=token, by=actor.by, now=actor.now, expires_at=expires_at
    )
    if token_id is None:
        raise UserError(f"There is already a token named {name}: revoke it first, or choose another name.")
    actor.record(connection, "token made", name, role=role, expires_at=expires_at)
    return token_id, token


def revoke(
    connection: Connection, actor: AdminAction, *, token_id: int | None = None, name: str | None = None
) -> str:
    """Revoke a token by its ID or name, and return its name."""
    revoked = token_rows.revoke(connection, by=actor.by, now=actor.now, token_id=token_id, name=name)
    if revoked is None:
        which = f"number {token_id}" if name is None else f"named {name[:100]!r}"
        raise UnknownToken(f"There is no token {which} in use.")
    actor.record(connection, "token revoked", revoked)
    return revoked
