"""Runs by spider and status, their pages and attempts, and the number of runs per day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, select, text

from pricewatch.rules.custom_spiders import BUILT_IN_SPIDERS
from pricewatch.store.engine.distinct_values import distinct
from pricewatch.store.models import Run, RunPage
from pricewatch.store.queues.job_queue import PROJECT

_RUNS_PER_DAY = text("""
SELECT (started_at AT TIME ZONE 'UTC')::date AS day, spider, count(*) AS runs,
       count(*) FILTER (WHERE status IN ('failed', 'aborted', 'stale', 'quarantined')) AS bad
FROM runs WHERE started_at >= :since GROUP BY 1, 2 ORDER BY 1, 2
""")
_SPIDERS = text(distinct("runs", "spider"))
_PROJECT_OF_JOB = text(f"""
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
_UNCOMMITTED_CARDS = text("""
SELECT start_page, count(*) AS cards, max(page) AS last_page FROM collected_cards
WHERE run_id = :run_id GROUP BY start_page ORDER BY start_page
""")
_SUMMARY_COLUMNS = [
    column for column in Run.__table__.columns if column.name not in ("errors", "progress", "arguments")
]
_LIST_COLUMNS = [*_SUMMARY_COLUMNS, Run.progress]


def runs(
    connection: Connection,
    *,
    spider: str | None = None,
    status: str | None = None,
    market_id: str | None = None,
    before_id: int | None = None,
    most: int,
) -> list[dict[str, Any]]:
    """List runs, newest first."""
    query = select(*_LIST_COLUMNS).order_by(Run.id.desc()).limit(most)
    for column, value in ((Run.spider, spider), (Run.status, status), (Run.market_id, market_id)):
        if value is not None:
            query = query.where(column == value)
    if before_id is not None:
        query = query.where(Run.id < before_id)
    return [dict(row) for row in connection.execute(query).mappings()]


def spider_names(connection: Connection) -> list[str]:
    """List the built-in spiders, then all other spiders that have run, by name."""
    names = set(connection.execute(_SPIDERS).scalars())
    return [*BUILT_IN_SPIDERS, *sorted(names - set(BUILT_IN_SPIDERS))]


def project_of(connection: Connection, run: Mapping[str, Any]) -> str:
    """Return the project of a run's job, for the path of its log; pricewatch if the job was deleted."""
    parameters = {"job_id": run["job_id"], "spider": run["spider"]}
    name: str | None = connection.execute(_PROJECT_OF_JOB, parameters).scalar()
    return name or PROJECT


def running(connection: Connection) -> list[dict[str, Any]]:
    query = select(*_LIST_COLUMNS).where(Run.status == "running").order_by(Run.id.desc()).limit(50)
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
    parameters = {"run_id": run_id, "after": after, "most": most}
    return [dict(row) for row in connection.execute(_ATTEMPTS, parameters).mappings()]


def uncommitted_cards(connection: Connection, run_id: int) -> list[dict[str, Any]]:
    """Count the cards that a discovery run has collected but not committed, by start page."""
    return [dict(row) for row in connection.execute(_UNCOMMITTED_CARDS, {"run_id": run_id}).mappings()]


def per_day(connection: Connection, now: datetime, days: int = 14) -> list[dict[str, Any]]:
    since = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days - 1)
    return [dict(row) for row in connection.execute(_RUNS_PER_DAY, {"since": since}).mappings()]
