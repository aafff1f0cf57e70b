"""Adding, changing and removing people; each change is recorded in the audit log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from pricewatch.errors import UserError
from pricewatch.rules.access.passwords import name_problem, password_problem
from pricewatch.services.password_hash import hash_password
from pricewatch.store.people import audit_log, person_rows, token_rows
from pricewatch.vocabulary import AccessRole


class UnknownPerson(UserError):
    """There is no person of this name."""


@dataclass(frozen=True, slots=True)
class AdminAction:
    """Who changes something, from where and when."""

    by: str
    now: datetime
    address: str | None = None

    def record(self, connection: Connection, action: str, subject: str, **details: Any) -> None:
        audit_log.record_action(
            connection,
            person=self.by,
            address=self.address,
            action=action,
            subject=subject,
            now=self.now,
            details=details,
        )


def add(
    connection: Connection, actor: AdminAction, *, name: str, role: str, password: str, reserved: str = ""
) -> str:
    """Add a person and return the name; `reserved` is the name of the environment's administrator."""
    name = name.strip().lower()
    if problem := name_problem(name) or password_problem(password, name):
        raise UserError(problem)
    if name == reserved.lower():
        raise UserError(f"{name} is the administrator of the environment (PRICEWATCH_USER).")
    chosen = _role(role)
    added = person_rows.add(
        connection,
        name=name,
        role=chosen,
        password_hash=hash_password(password),
        by=actor.by,
        now=actor.now,
    )
    if added is None:
        raise UserError(f"There is already a person named {name}.")
    actor.record(connection, "person added", name, role=str(chosen))
    return name


def set_password(connection: Connection, actor: AdminAction, name: str, password: str) -> None:
    """Change a password; the sessions of the person end."""
    person = find(connection, name)
    if problem := password_problem(password, person["name"]):
        raise UserError(problem)
    person_rows.change(
        connection, person["id"], password_hash=hash_password(password), password_changed_at=actor.now
    )
    actor.record(connection, "password changed", person["name"])


def set_role(connection: Connection, actor: AdminAction, name: str, role: str) -> None:
    """Change a role; the sessions of the person end."""
    person, chosen = find(connection, name), _role(role)
    person_rows.change(connection, person["id"], role=chosen)
    actor.record(connection, "person role", person["name"], role=str(chosen), before=person["role"])


def set_enabled(connection: Connection, actor: AdminAction, name: str, enabled: bool) -> None:
    """Allow or refuse the logins of a person; the sessions end."""
    person = find(connection, name)
    person_rows.change(connection, person["id"], enabled=enabled)
    actor.record(connection, "person enabled" if enabled else "person disabled", person["name"])


def remove(connection: Connection, actor: AdminAction, name: str) -> None:
    """Remove a person; the audit log keeps the name."""
    person = find(connection, name)
    person_rows.remove(connection, person["id"])
    actor.record(connection, "person removed", person["name"])


def note_on_tokens(connection: Connection, actor: AdminAction, name: str) -> str:
    """Return a sentence on the valid tokens that a person has made: programs go on using them."""
    names = token_rows.made_by(connection, name.strip().lower(), actor.now)
    if not names:
        return ""
    return f"Tokens that {name} made stay valid: {', '.join(names)}. Revoke those that {name} knows."


def find(connection: Connection, name: str) -> dict[str, Any]:
    name = name.strip().lower()
    person = None if name_problem(name) else person_rows.find(connection, name)
    if person is None:
        raise UnknownPerson(f"There is no person named {name[:64]!r}.")
    return person


def _role(text: str) -> AccessRole:
    if text not in set(AccessRole):
        raise UserError(f"Unknown role {text[:20]!r}. Known: {', '.join(AccessRole)}.")
    return AccessRole(text)
