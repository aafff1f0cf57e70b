"""Runs as people look at them: by kind and status, page by page, and how many there were each day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, select, text

from pricewatch.rules.custom_spiders import OURS
from pricewatch.store.engine.distinct_values import distinct
from pricewatch.store.models import Run, RunPage
from pricewatch.store.queues.job_queue import PROJECT

_RUNS_PER_DAY = text("""
SELECT (started_at AT TIME ZONE 'UTC')::date AS day, spider, count(*) AS runs,
       count(*) FILTER (WHERE status IN ('failed', 'aborted', 'stale', 'quarantined')) AS bad
FROM runs WHERE started_at >= :since GROUP BY 1, 2 ORDER BY 1, 2
""")
_SPIDERS = text(distinct("runs", "spider"))
_PROJECT = text(f"""
SELECT j.project FROM ({distinct("jobs", "project")}) known
JOIN jobs j ON j.project = known.project AND j.job_id = :job_id AND j.spider = :spider
ORDER BY j.id DESC LIMIT 1
""")
_ATTEMPTS = text("""
SELECT a.id, a.listing_id, l.title, a.checked_at, a.method, a.http_status, a.outcome, a.reason, a.marker,
       a.strike
FROM verification_attempts a JOIN listings l ON l.id = a.listing_id
WHERE a.run_id = :run_id AND a.id > :after ORDER BY a.id LIMIT :most
""")
_COLLECTED = text("""
SELECT start_page, count(*) AS cards, max(page) AS last_page FROM collected_cards
WHERE run_id = :run_id GROUP BY start_page ORDER BY start_page
""")
_SMALL = [
    column for column in Run.__table__.columns if column.name not in ("errors", "progress", "arguments")
]
_WITH_PROGRESS = [*_SMALL, Run.progress]


def runs(
    connection: Connection,
    *,
    spider: str | None = None,
    status: str | None = None,
    market_id: str | None = None,
    before_id: int | None = None,
    most: int,
) -> list[dict[str, Any]]:
    """The newest first."""
    query = select(*_WITH_PROGRESS).order_by(Run.id.desc()).limit(most)
    for column, value in ((Run.spider, spider), (Run.status, status), (Run.market_id, market_id)):
        if value is not None:
            query = query.where(column == value)
    if before_id is not None:
        query = query.where(Run.id < before_id)
    return [dict(row) for row in connection.execute(query).mappings()]


def spiders(connection: Connection) -> list[str]:
    """Ours, then every other one that has run, by name."""
    ran = set(connection.execute(_SPIDERS).scalars())
    return [*OURS, *sorted(ran - set(OURS))]


def project(connection: Connection, run: Mapping[str, Any]) -> str:
    """The project whose job a run was, which its log lies under; ours where the job is not known any more."""
    given = {"job_id": run["job_id"], "spider": run["spider"]}
    found: str | None = connection.execute(_PROJECT, given).scalar()
    return found or PROJECT


def running(connection: Connection) -> list[dict[str, Any]]:
    query = select(*_WITH_PROGRESS).where(Run.status == "running").order_by(Run.id.desc()).limit(50)
    return [dict(row) for row in connection.execute(query).mappings()]


def run(connection: Connection, run_id: int) -> dict[str, Any] | None:
    row = connection.execute(select(*Run.__table__.columns).where(Run.id == run_id)).mappings().first()
    return dict(row) if row else None


def pages(
    connection: Connection, run_id: int, *, after: int = 0, outcome: str | None = None, most: int
) -> list[dict[str, Any]]:
    query = (
        select(*RunPage.__table__.columns)
        .where(RunPage.run_id == run_id, RunPage.id > after)
        .order_by(RunPage.id)
        .limit(most)
    )
    if outcome is not None:
        query = query.where(RunPage.outcome == outcome)
    return [dict(row) for row in connection.execute(query).mappings()]


def attempts(connection: Connection, run_id: int, *, after: int = 0, most: int) -> list[dict[str, Any]]:
    given = {"run_id": run_id, "after": after, "most": most}
    return [dict(row) for row in connection.execute(_ATTEMPTS, given).mappings()]


def collected(connection: Connection, run_id: int) -> list[dict[str, Any]]:
    """What a discovery run has read and not committed yet."""
    return [dict(row) for row in connection.execute(_COLLECTED, {"run_id": run_id}).mappings()]


def per_day(connection: Connection, now: datetime, days: int = 14) -> list[dict[str, Any]]:
    since = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days - 1)
    return [dict(row) for row in connection.execute(_RUNS_PER_DAY, {"since": since}).mappings()]
