"""The outbox: notifications, each stored once and retried until it is sent."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, select, text, update
from sqlalchemy.dialects.postgresql import insert

from pricewatch.rules.backoff import backoff
from pricewatch.store.engine.json_safe import json_safe
from pricewatch.store.models import Message

MAX_ATTEMPTS = 12
FIRST_DELAY, MAX_DELAY = 30.0, 3600.0
# After this time another process may claim the message: the first one has probably died.
CLAIM_LIFETIME = timedelta(minutes=5)

_CLAIM = text("""
UPDATE messages SET attempts = attempts + 1, next_try_at = :until
WHERE id IN (SELECT id FROM messages WHERE sent_at IS NULL AND given_up_at IS NULL AND next_try_at <= :now
             ORDER BY next_try_at LIMIT :most FOR UPDATE SKIP LOCKED)
RETURNING id, key, kind, title, body, link, channels, attempts
""")
_OPEN_ALERTS = text("""
UPDATE alerts SET notified_at = :now WHERE notified_at IS NULL AND resolved_at IS NULL
RETURNING id, kind, severity, subject, message
""")
# Only alerts whose start was announced.
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
    """Add a message; return False if the outbox already has this key."""
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
    """Add a message for each new alert and each resolved one; return how many."""
    added = 0
    for row in connection.execute(_OPEN_ALERTS, {"now": now}).all():
        added += add(
            connection,
            key=f"alert:{row.id}",
            kind="alert",
            title=f"[{row.severity}] {row.kind.replace('_', ' ')}: {row.subject}",
            body=row.message,
            link=f"/alerts#alert-{row.id}",
            now=now,
        )
    for row in connection.execute(_RESOLVED_ALERTS, {"since": now - timedelta(days=2)}).all():
        minutes = round((row.resolved_at - row.first_at).total_seconds() / 60)
        added += add(
            connection,
            key=f"resolved:{row.id}",
            kind="resolved",
            title=f"Resolved: {row.kind.replace('_', ' ')}: {row.subject}",
            body=f"Resolved after {minutes} minutes. The alert was: {row.message}",
            link=f"/alerts#alert-{row.id}",
            now=now,
        )
    return added


def claim(connection: Connection, now: datetime, most: int = 20) -> list[dict[str, Any]]:
    """Claim messages that are due, so that no other process sends them."""
    parameters = {"now": now, "until": now + CLAIM_LIFETIME, "most": most}
    return [dict(row) for row in connection.execute(_CLAIM, parameters).mappings()]


def mark_sent(connection: Connection, message_id: int, now: datetime) -> None:
    connection.execute(update(Message).where(Message.id == message_id).values(sent_at=now, error=None))


def mark_failed(
    connection: Connection, message_id: int, attempts: int, error: str, left: list[str], now: datetime
) -> None:
    """Schedule a retry for the channels that are left, or give up after MAX_ATTEMPTS."""
    values: dict[str, Any] = {"error": json_safe(error[:300]), "channels": left}
    if attempts >= MAX_ATTEMPTS:
        values["given_up_at"] = now
    else:
        delay = backoff(attempts, 0.5, first=FIRST_DELAY, longest=MAX_DELAY)
        values["next_try_at"] = now + timedelta(seconds=delay)
    connection.execute(update(Message).where(Message.id == message_id).values(values))


def find_messages(connection: Connection, *, most: int, before_id: int | None = None) -> list[dict[str, Any]]:
    """List messages, newest first."""
    query = select(*Message.__table__.columns).order_by(Message.id.desc()).limit(most)
    if before_id is not None:
        query = query.where(Message.id < before_id)
    return [dict(row) for row in connection.execute(query).mappings()]
