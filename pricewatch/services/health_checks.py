"""What is wrong now, looked for every minute: raised when it begins, resolved when it is over."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, select, text

from pricewatch.rules.proxy_config import parse_proxies
from pricewatch.rules.staleness import StalePrices
from pricewatch.store.engine.database import var_directory
from pricewatch.store.models import Alert, Figure, TargetQueue
from pricewatch.store.views import market_list
from pricewatch.store.writing import adapter_status, alert_rows

LEAST_FREE_SHARE, LEAST_FREE_BYTES = 0.05, 2 * 2**30
MANY_STALE = 100
# Of each market, that many of the listings that were seen last tell how old its prices are.
MOST_PRICES = 500
# Where the totals of rejections of the last look are kept, to tell a rise by.
_REJECTED_BEFORE = "condition|rejected_total"

# Drift tells of its own.
_DISABLED = text("""
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
# The newest end of the index of anchors, however many listings there are. What is sold out may show no price.
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
_DEAD_RUNS = text("""
SELECT id, spider, market_id, node, heartbeat_at FROM runs
WHERE status = 'running' AND heartbeat_at < :before ORDER BY id LIMIT 20
""")


@dataclass(frozen=True, slots=True)
class Condition:
    kind: str
    subject: str
    severity: str
    message: str
    details: dict[str, Any] = field(default_factory=dict)


# These are found anew at each look, so that whatever is not found any longer is over.
KINDS = (
    *("market_stale", "adapter_off", "targets_rejected", "targets_stale"),
    *("proxies_blocked", "disk_full", "run_silent", "stale_prices"),
)


def evaluate(
    connection: Connection, now: datetime, *, stale_prices: StalePrices | None = None
) -> list[Condition]:
    """Raise what is wrong, resolve what is over. Called every minute, by whoever leads."""
    found = [*_find(connection, now), *_stale_prices(connection, now, stale_prices or StalePrices())]
    open_alerts = connection.execute(
        select(Alert.kind, Alert.subject).where(Alert.resolved_at.is_(None), Alert.kind.in_(KINDS))
    ).all()
    for one in found:
        alert_rows.raise_alert(
            connection,
            kind=one.kind,
            subject=one.subject,
            message=one.message,
            severity=one.severity,
            now=now,
            details=one.details,
        )
    still = {(one.kind, one.subject) for one in found}
    for kind, subject in open_alerts:
        if (kind, subject) not in still:
            alert_rows.resolve_alert(connection, kind=kind, subject=subject, now=now)
    return found


def _find(connection: Connection, now: datetime) -> Iterable[Condition]:
    yield from _stale_markets(connection, now)
    yield from _disabled_adapters(connection)
    yield from _queue(connection, now)
    yield from _blocked_proxies(connection, now)
    yield from _silent_runs(connection, now)
    yield from _disk()


def _stale_markets(connection: Connection, now: datetime) -> Iterable[Condition]:
    for row in market_list.markets(connection):
        if market_list.is_stale(row, now):
            last = row["last_scrape_at"]
            since = f"since {last:%Y-%m-%d %H:%M} UTC" if last else "ever since it was added"
            yield Condition("market_stale", row["id"], "P2", f"No fresh data for market {row['id']} {since}.")


def _stale_prices(connection: Connection, now: datetime, limits: StalePrices) -> Iterable[Condition]:
    """Listings that are seen again and again, with a price that nobody has read for long."""
    given = {
        "read_before": limits.read_before(now),
        "seen_since": limits.seen_since(now),
        "most": MOST_PRICES,
    }
    for market_id, priced, stale in connection.execute(_STALE_PRICES, given).all():
        if limits.are_too_many(stale, priced):
            yield Condition(
                "stale_prices",
                market_id,
                "P2",
                f"Of the {priced} listings of market {market_id} that were seen last, {stale} have a price "
                f"that was read more than {limits.hours:g} hours ago.",
                {"stale": stale, "priced": priced, "hours": limits.hours},
            )


def _disabled_adapters(connection: Connection) -> Iterable[Condition]:
    for row in connection.execute(_DISABLED).all():
        yield Condition(
            "adapter_off",
            adapter_status.subject(row.adapter_id, row.source_id),
            "P3",
            f"The {adapter_status.named(row.adapter_id, row.source_id)} is disabled by "
            f"{row.disabled_by or 'somebody'} "
            f"({row.disabled_reason}: {row.note or 'no note'}).",
        )


def _queue(connection: Connection, now: datetime) -> Iterable[Condition]:
    totals = connection.execute(select(TargetQueue.rejected_total)).scalar() or {}
    rejected = float(sum(int(count) for reason, count in totals.items() if reason != "adapter_disabled"))
    before = connection.execute(select(Figure.value).where(Figure.key == _REJECTED_BEFORE)).scalar()
    connection.execute(
        text(
            "INSERT INTO figures (key, value, updated_at) VALUES (:key, :value, :now)"
            " ON CONFLICT (key) DO UPDATE SET value = :value, updated_at = :now"
        ),
        {"key": _REJECTED_BEFORE, "value": rejected, "now": now},
    )
    if before is not None and rejected > before:
        yield Condition(
            "targets_rejected",
            "targets",
            "P2",
            f"The queue of targets rejected {rejected - before:.0f} since the last look.",
            {"totals": totals},
        )
    stale = connection.execute(_STALE_TARGETS).scalar_one()
    if stale > MANY_STALE:
        yield Condition(
            "targets_stale",
            "targets",
            "P3",
            f"{stale} targets waited for over a day and were set aside: the workers do not keep up.",
        )


def _blocked_proxies(connection: Connection, now: datetime) -> Iterable[Condition]:
    pool = {proxy.name for proxy in parse_proxies(os.environ.get("PROXIES_DATACENTER", ""))}
    for row in connection.execute(_PROXY_SOURCES, {"now": now}).all():
        if pool and pool <= set(row.blocked or ()):
            yield Condition(
                "proxies_blocked",
                row.id,
                "P2",
                f"All {len(pool)} proxies are blocked for {row.domain}; the last block ends at "
                f"{row.until:%H:%M} UTC.",
            )


def _silent_runs(connection: Connection, now: datetime) -> Iterable[Condition]:
    for row in connection.execute(_DEAD_RUNS, {"before": now - timedelta(minutes=30)}).all():
        yield Condition(
            "run_silent",
            str(row.id),
            "P2",
            f"The {row.spider} run {row.id} on {row.node} gave no sign of life since "
            f"{row.heartbeat_at:%H:%M} UTC.",
        )


def _disk() -> Iterable[Condition]:
    place = var_directory()
    usage = shutil.disk_usage(place if place.exists() else place.anchor or ".")
    if usage.free < min(LEAST_FREE_BYTES, LEAST_FREE_SHARE * usage.total):
        free = usage.free / 2**30
        yield Condition("disk_full", "disk", "P1", f"Only {free:.1f} GB are free where pricewatch writes.")
