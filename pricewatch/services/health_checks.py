"""Health checks, run every minute: raise an alert when a problem begins, resolve it when it ends."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from pricewatch.rules.proxy_config import parse_proxies
from pricewatch.rules.staleness import StalePrices
from pricewatch.store.engine.database import var_directory
from pricewatch.store.operations import adapter_status, alert_rows
from pricewatch.store.views import health, market_list

MIN_FREE_SHARE, MIN_FREE_BYTES = 0.05, 2 * 2**30
MANY_STALE_TARGETS = 100
# How many of a market's most recently seen listings are checked for old prices.
MOST_PRICES = 500
SILENT_AFTER = timedelta(minutes=30)
# Every check runs each time, so an open alert of these kinds that is not found again is over.
KINDS = (
    *("market_stale", "adapter_off", "targets_rejected", "targets_stale"),
    *("proxies_blocked", "disk_full", "run_silent", "stale_prices"),
)


@dataclass(frozen=True, slots=True)
class HealthProblem:
    """A problem that a check found, with the fields of its alert."""

    kind: str
    subject: str
    severity: str
    message: str
    details: dict[str, Any] = field(default_factory=dict)


def evaluate(
    connection: Connection, now: datetime, *, stale_prices: StalePrices | None = None
) -> list[HealthProblem]:
    """Raise an alert for each problem, and resolve those that are over."""
    problems = [*_find(connection, now), *_stale_prices(connection, now, stale_prices or StalePrices())]
    for problem in problems:
        alert_rows.raise_alert(
            connection,
            kind=problem.kind,
            subject=problem.subject,
            message=problem.message,
            severity=problem.severity,
            now=now,
            details=problem.details,
        )
    current = {(problem.kind, problem.subject) for problem in problems}
    for kind, subject in sorted(health.open_alerts(connection, KINDS) - current):
        alert_rows.resolve_alert(connection, kind=kind, subject=subject, now=now)
    return problems


def _find(connection: Connection, now: datetime) -> Iterable[HealthProblem]:
    yield from _stale_markets(connection, now)
    yield from _disabled_adapters(connection)
    yield from _target_queue(connection, now)
    yield from _blocked_proxies(connection, now)
    yield from _silent_runs(connection, now)
    yield from _disk()


def _stale_markets(connection: Connection, now: datetime) -> Iterable[HealthProblem]:
    for row in market_list.markets(connection):
        if market_list.is_stale(row, now):
            last = row["last_scrape_at"]
            since = f"since {last:%Y-%m-%d %H:%M} UTC" if last else "since it was added"
            yield HealthProblem(
                "market_stale", row["id"], "P2", f"No fresh data for market {row['id']} {since}."
            )


def _stale_prices(connection: Connection, now: datetime, limits: StalePrices) -> Iterable[HealthProblem]:
    """Find markets whose listings are seen regularly, but whose prices have not been read for long."""
    rows = health.stale_prices(
        connection,
        read_before=limits.read_before(now),
        seen_since=limits.seen_since(now),
        most=MOST_PRICES,
    )
    for row in rows:
        market_id, priced, stale = row.id, row.priced, row.stale
        if limits.are_too_many(stale, priced):
            yield HealthProblem(
                "stale_prices",
                market_id,
                "P2",
                f"{stale} of the {priced} most recently seen listings of market {market_id} have a price "
                f"that was read more than {limits.hours:g} hours ago.",
                {"stale": stale, "priced": priced, "hours": limits.hours},
            )


def _disabled_adapters(connection: Connection) -> Iterable[HealthProblem]:
    for row in health.disabled_adapters(connection):
        yield HealthProblem(
            "adapter_off",
            adapter_status.alert_subject(row.adapter_id, row.source_id),
            "P3",
            f"The {adapter_status.sentence_name(row.adapter_id, row.source_id)} is disabled by "
            f"{row.disabled_by or 'an unknown user'} ({row.disabled_reason}: {row.note or 'no note'}).",
        )


def _target_queue(connection: Connection, now: datetime) -> Iterable[HealthProblem]:
    totals = health.rejected_totals(connection)
    rejected = float(sum(int(count) for reason, count in totals.items() if reason != "adapter_disabled"))
    before = health.replace_rejected_before(connection, rejected, now)
    if before is not None and rejected > before:
        yield HealthProblem(
            "targets_rejected",
            "targets",
            "P2",
            f"The target queue rejected {rejected - before:.0f} targets since the last check.",
            {"totals": totals},
        )
    stale = health.stale_target_count(connection)
    if stale > MANY_STALE_TARGETS:
        yield HealthProblem(
            "targets_stale",
            "targets",
            "P3",
            f"{stale} targets waited for more than a day and are stale: there are too few workers.",
        )


def _blocked_proxies(connection: Connection, now: datetime) -> Iterable[HealthProblem]:
    pool = {proxy.name for proxy in parse_proxies(os.environ.get("PROXIES_DATACENTER", ""))}
    for row in health.proxy_sources(connection, now):
        if pool and pool <= set(row.blocked or ()):
            yield HealthProblem(
                "proxies_blocked",
                row.id,
                "P2",
                f"All {len(pool)} proxies are blocked for {row.domain}; the last block ends at "
                f"{row.until:%H:%M} UTC.",
            )


def _silent_runs(connection: Connection, now: datetime) -> Iterable[HealthProblem]:
    for row in health.silent_runs(connection, now - SILENT_AFTER):
        yield HealthProblem(
            "run_silent",
            str(row.id),
            "P2",
            f"The {row.spider} run {row.id} on {row.node} has sent no heartbeat since "
            f"{row.heartbeat_at:%H:%M} UTC.",
        )


def _disk() -> Iterable[HealthProblem]:
    directory = var_directory()
    usage = shutil.disk_usage(directory if directory.exists() else directory.anchor or ".")
    if usage.free < min(MIN_FREE_BYTES, MIN_FREE_SHARE * usage.total):
        free = usage.free / 2**30
        yield HealthProblem(
            "disk_full", "disk", "P1", f"Only {free:.1f} GB are free where pricewatch writes."
        )
