"""Alerts with links to their runbooks, for the web pages and the API."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, update

from pricewatch.store.models import Alert

# The heading in docs/runbooks.md for each kind of alert.
RUNBOOKS = {
    "adapter_disabled": "adapter-disabled-by-drift",
    "adapter_off": "adapter-disabled-by-a-person",
    "adapter_failing": "adapter-failing",
    "adapter_reads_nothing": "adapter-failing",
    "adapter_low_yield": "adapter-failing",
    "adapter_zero_price": "prices-of-zero",
    "price_place_lost": "prices-that-moved-on-the-page",
    "market_stale": "no-fresh-data-for-a-market",
    "circuit_open": "a-market-that-keeps-failing",
    "sweep_partial": "a-sweep-saw-too-little",
    "cards_without_price": "cards-without-a-price",
    "stale_prices": "stale-prices",
    "mass_gone": "a-run-found-too-much-gone",
    "targets_rejected": "queue-rejecting",
    "targets_paused": "queue-rejecting",
    "targets_stale": "stale-targets",
    "jobs_waiting": "jobs-that-wait",
    "proxies_blocked": "proxies-all-blocked",
    "disk_full": "disk-full",
    "run_silent": "node-lost",
    "node_lost": "node-lost",
    "egg_refused": "a-version-that-is-not-signed",
    "database_away": "database-away",
}


def runbook(kind: str) -> str:
    return f"/runbooks#{RUNBOOKS.get(kind, 'anything-else')}"


def alerts(
    connection: Connection, *, open_only: bool = False, before_id: int | None = None, most: int
) -> list[dict[str, Any]]:
    query = select(*Alert.__table__.columns).limit(most)
    if open_only:
        query = query.where(Alert.resolved_at.is_(None)).order_by(Alert.severity, Alert.id.desc())
    else:
        query = query.order_by(Alert.id.desc())
    if before_id is not None:
        query = query.where(Alert.id < before_id)
    return [{**row, "runbook": runbook(row["kind"])} for row in connection.execute(query).mappings()]


def resolve(connection: Connection, alert_id: int, now: datetime) -> bool:
    """Mark an alert as resolved; if the problem persists, the next check raises it again."""
    statement = update(Alert).where(Alert.id == alert_id, Alert.resolved_at.is_(None))
    return connection.execute(statement.values(resolved_at=now)).rowcount == 1
