"""Proxies that failed for a domain and are blocked for a time, shared by all processes."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, case, delete, select
from sqlalchemy.dialects.postgresql import insert

from pricewatch.store.models import ProxyBlock

MAX_ERROR_LENGTH = 300


def blocked(connection: Connection, domain: str, now: datetime) -> dict[str, datetime]:
    """Return the proxies that are blocked for this domain, and until when."""
    rows = connection.execute(
        select(ProxyBlock.proxy, ProxyBlock.blocked_until).where(
            ProxyBlock.domain == domain, ProxyBlock.blocked_until > now
        )
    )
    return {row.proxy: row.blocked_until for row in rows}


def block(
    connection: Connection, domain: str, proxy: str, *, error: str, now: datetime, until: datetime
) -> None:
    """Block a proxy after a failure. The failure count restarts after a block has ended."""
    statement = insert(ProxyBlock).values(
        domain=domain,
        proxy=proxy,
        failed_at=now,
        blocked_until=until,
        failure_count=1,
        last_error=error[:MAX_ERROR_LENGTH],
    )
    still_blocked = ProxyBlock.blocked_until > now
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=[ProxyBlock.domain, ProxyBlock.proxy],
            set_={
                "failed_at": statement.excluded.failed_at,
                "blocked_until": statement.excluded.blocked_until,
                "failure_count": case((still_blocked, ProxyBlock.failure_count + 1), else_=1),
                "last_error": statement.excluded.last_error,
            },
        )
    )


def delete_expired(connection: Connection, now: datetime) -> None:
    connection.execute(delete(ProxyBlock).where(ProxyBlock.blocked_until <= now))
