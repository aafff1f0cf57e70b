"""Blocked proxies, and the sources that use proxies, for the web page; names only, never credentials."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, update

from pricewatch.store.models import ProxyBlock, Source


def blocks(connection: Connection, most: int) -> list[dict[str, Any]]:
    """List the blocks, latest end first."""
    query = select(*ProxyBlock.__table__.columns).order_by(ProxyBlock.blocked_until.desc()).limit(most)
    return [dict(row) for row in connection.execute(query).mappings()]


def sources(connection: Connection) -> list[dict[str, Any]]:
    """List the sources that use proxies."""
    query = (
        select(Source.id, Source.domain, Source.proxy_strategy, Source.cooldown_minutes)
        .where(Source.proxy_strategy != "none")
        .order_by(Source.id)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def unblock(connection: Connection, domain: str, proxy: str, now: datetime) -> int:
    return connection.execute(
        update(ProxyBlock)
        .where(ProxyBlock.domain == domain, ProxyBlock.proxy == proxy, ProxyBlock.blocked_until > now)
        .values(blocked_until=now)
    ).rowcount
