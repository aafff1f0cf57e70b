"""The outbox: what is to be told to people, each thing once, tried again until it is through."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, select, text, update
from sqlalchemy.dialects.postgresql import insert

from pricewatch.rules.backoff import backoff
from pricewatch.store.engine.json_safe import json_safe
from pricewatch.store.models import Message

MOST_ATTEMPTS = 12
FIRST_WAIT, LONGEST_WAIT = 30.0, 3600.0
# Whoever took a message and did not come back has died; somebody else takes it then.
CLAIM = timedelta(minutes=5)

_CLAIM = text("""
UPDATE messages SET attempts = attempts + 1, next_try_at = :until
WHERE id IN (SELECT id FROM messages WHERE sent_at IS NULL AND given_up_at IS NULL AND next_try_at <= :now
             ORDER BY next_try_at LIMIT :most FOR UPDATE SKIP LOCKED)
RETURNING id, key, kind, title, body, link, channels, attempts
""")
# Opened and not told of yet; over, and told of when it began.
_OPEN_ALERTS = text("""
UPDATE alerts SET notified_at = :now WHERE notified_at IS NULL AND resolved_at IS NULL
RETURNING id, kind, severity, subject, message
""")
_RESOLVED_ALERTS = text("""
SELECT a.id, a.kind, a.severity, a.subject, a.message, a.first_at, a.resolved_at FROM alerts a
WHERE a.resolved_at > :since AND a.notified_at IS NOT NULL
  AND NOT EXISTS (SELECT FROM messages m WHERE m.key = 'resolved:' || a.id)
""")


def add(
    connection: Connection,
    *,
    key: str,
    kind: str,
    title: str,
    body: str,
    link: str | None,
    now: datetime,
    channels: list[str] | None = None,
) -> bool:
    """False where this was told already."""
    statement = insert(Message).values(
        key=key,
        kind=kind,
        title=json_safe(title),
        body=json_safe(body),
        link=link,
        channels=channels or [],
        created_at=now,
        next_try_at=now,
    )
    return connection.execute(statement.on_conflict_do_nothing()).rowcount == 1


def add_alerts(connection: Connection, now: datetime) -> int:
    """A message for each alert that was raised, and one when it is over."""
    told = 0
    for row in connection.execute(_OPEN_ALERTS, {"now": now}).all():
        told += add(
            connection,
            key=f"alert:{row.id}",
            kind="alert",
            title=f"[{row.severity}] {row.kind.replace('_', ' ')}: {row.subject}",
            body=row.message,
            link=f"/alerts#alert-{row.id}",
            now=now,
        )
    for row in connection.execute(_RESOLVED_ALERTS, {"since": now - timedelta(days=2)}).all():
        lasted = round((row.resolved_at - row.first_at).total_seconds() / 60)
        told += add(
            connection,
            key=f"resolved:{row.id}",
            kind="resolved",
            title=f"Resolved: {row.kind.replace('_', ' ')}: {row.subject}",
            body=f"Over after {lasted} minutes. It was: {row.message}",
            link=f"/alerts#alert-{row.id}",
            now=now,
        )
    return told


def claim(connection: Connection, now: datetime, most: int = 20) -> list[dict[str, Any]]:
    """Messages to be sent now, nobody else's for a while."""
    given = {"now": now, "until": now + CLAIM, "most": most}
    return [dict(row) for row in connection.execute(_CLAIM, given).mappings()]


def sent(connection: Connection, message_id: int, now: datetime) -> None:
    connection.execute(update(Message).where(Message.id == message_id).values(sent_at=now, error=None))


def failed(
    connection: Connection, message_id: int, attempts: int, error: str, left: list[str], now: datetime
) -> None:
    """To be tried again, for those who do not have it yet."""
    values: dict[str, Any] = {"error": json_safe(error[:300]), "channels": left}
    if attempts >= MOST_ATTEMPTS:
        values["given_up_at"] = now
    else:
        wait = backoff(attempts, 0.5, first=FIRST_WAIT, longest=LONGEST_WAIT)
        values["next_try_at"] = now + timedelta(seconds=wait)
    connection.execute(update(Message).where(Message.id == message_id).values(values))


def listed(connection: Connection, *, most: int, before_id: int | None = None) -> list[dict[str, Any]]:
    query = select(*Message.__table__.columns).order_by(Message.id.desc()).limit(most)
    if before_id is not None:
        query = query.where(Message.id < before_id)
    return [dict(row) for row in connection.execute(query).mappings()]
