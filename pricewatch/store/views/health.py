"""Queries of the health checks: what is stale, disabled, blocked or silent."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select, text

from pricewatch.store.models import Alert, MetricTotal, TargetQueue

# The row of `figures` that keeps the rejections counted by the previous check.
_REJECTED_BEFORE = "condition|rejected_total"

# Adapters disabled by drift have an alert of their own.
_DISABLED_ADAPTERS = text("""
SELECT adapter_id, source_id, disabled_reason, disabled_by, disabled_at, note FROM adapter_status
WHERE NOT enabled AND disabled_reason <> 'DRIFT_DETECTED'
""")
_STALE_TARGETS = text("SELECT count(*) FROM targets WHERE status <> 'ACTIVE' AND status = 'STALE'")
_PROXY_SOURCES = text("""
SELECT s.id, s.domain, array_agg(b.proxy) FILTER (WHERE b.blocked_until > :now) AS blocked,
       max(b.blocked_until) AS until
FROM sources s JOIN proxy_blocks b ON b.domain = s.domain
WHERE s.proxy_strategy = 'datacenter' GROUP BY s.id, s.domain
""")
# Reads only the newest end of the anchor index. Listings that are out of stock may have no price.
_STALE_PRICES = text("""
SELECT m.id, found.priced, found.stale
FROM markets m CROSS JOIN LATERAL (
    SELECT count(*) AS priced, count(*) FILTER (WHERE price_observed_at < :read_before) AS stale
    FROM (
        SELECT price_cents, availability, last_seen_at, price_observed_at FROM listings l
        WHERE l.market_id = m.id AND l.active AND l.anchor_at >= :seen_since
        ORDER BY l.anchor_at DESC LIMIT :most
    ) newest
    WHERE price_cents IS NOT NULL AND availability <> 'OUT_OF_STOCK' AND last_seen_at >= :seen_since
) found
WHERE m.enabled AND found.stale > 0
ORDER BY m.id
""")
_SILENT_RUNS = text("""
SELECT id, spider, market_id, node, heartbeat_at FROM runs
WHERE status = 'running' AND heartbeat_at < :before ORDER BY id LIMIT 20
""")
_KEEP_REJECTED = text("""
INSERT INTO figures (key, value, updated_at) VALUES (:key, :value, :now)
ON CONFLICT (key) DO UPDATE SET value = :value, updated_at = :now
""")


def open_alerts(connection: Connection, kinds: Sequence[str]) -> set[tuple[str, str]]:
    """Return kind and subject of every open alert of these kinds."""
    query = select(Alert.kind, Alert.subject).where(Alert.resolved_at.is_(None), Alert.kind.in_(kinds))
    return {(row.kind, row.subject) for row in connection.execute(query)}


def stale_prices(
    connection: Connection, *, read_before: datetime, seen_since: datetime, most: int
) -> Sequence[Row[Any]]:
    """Return (market id, listings with a price, those with an old price), for the newest listings."""
    limits = {"read_before": read_before, "seen_since": seen_since, "most": most}
    return connection.execute(_STALE_PRICES, limits).all()


def disabled_adapters(connection: Connection) -> Sequence[Row[Any]]:
    return connection.execute(_DISABLED_ADAPTERS).all()


def rejected_totals(connection: Connection) -> dict[str, int]:
    """Return how many targets the queue has rejected so far, by reason."""
    return connection.execute(select(TargetQueue.rejected_total)).scalar() or {}


def replace_rejected_before(connection: Connection, rejected: float, now: datetime) -> float | None:
    """Keep the number of rejections for the next check, and return that of the previous one."""
    query = select(MetricTotal.value).where(MetricTotal.key == _REJECTED_BEFORE)
    before: float | None = connection.execute(query).scalar()
    connection.execute(_KEEP_REJECTED, {"key": _REJECTED_BEFORE, "value": rejected, "now": now})
    return before


def stale_target_count(connection: Connection) -> int:
    return int(connection.execute(_STALE_TARGETS).scalar_one())


def proxy_sources(connection: Connection, now: datetime) -> Sequence[Row[Any]]:
    """Return the sources that use datacenter proxies, with the proxies that are blocked for them."""
    return connection.execute(_PROXY_SOURCES, {"now": now}).all()


def silent_runs(connection: Connection, before: datetime) -> Sequence[Row[Any]]:
    return connection.execute(_SILENT_RUNS, {"before": before}).all()
