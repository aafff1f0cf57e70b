"""Lists and counts of the jobs of the whole cluster, for the web pages, the API and scrapyd."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, text

_HAS_ENDED = "j.ended_at IS NOT NULL"
_COLUMNS = """j.id, j.project, j.spider, j.job_id, j.state, j.version, j.arguments, j.settings, j.priority,
    j.node, n.url AS node_url, j.pid, j.added_at, j.not_before, j.started_at, j.ended_at, j.attempts,
    j.exit_code, j.exit_signal, j.reason"""
_LIST = """
SELECT {columns} FROM jobs j LEFT JOIN nodes n ON n.name = j.node
WHERE {condition} AND (CAST(:project AS text) IS NULL OR j.project = :project)
ORDER BY {order} LIMIT :most OFFSET :skipped
"""
_PENDING = text(
    _LIST.format(columns=_COLUMNS, condition="j.state = 'pending'", order="j.priority DESC, j.id")
)
_RUNNING = text(_LIST.format(columns=_COLUMNS, condition="j.state = 'running'", order="j.id"))
_ENDED = text(_LIST.format(columns=_COLUMNS, condition=_HAS_ENDED, order="j.ended_at DESC, j.id DESC"))

_COUNT_PENDING = text("SELECT count(*) FROM jobs WHERE state = 'pending' AND project = :project")
_COUNTS = text(f"""
SELECT (SELECT count(*) FROM jobs WHERE state = 'pending'),
       (SELECT count(*) FROM jobs WHERE state = 'running'),
       (SELECT count(*) FROM jobs j WHERE {_HAS_ENDED}),
       (SELECT extract(epoch FROM now() - min(greatest(added_at, not_before))) FROM jobs
        WHERE state = 'pending' AND not_before <= now()),
       (SELECT count(*) FROM nodes WHERE stopped_at IS NULL AND heartbeat_at > now() - :silence)
""")
_FIND = text(f"""
SELECT {_COLUMNS} FROM jobs j LEFT JOIN nodes n ON n.name = j.node
WHERE j.job_id = :job_id AND (CAST(:project AS text) IS NULL OR j.project = :project)
ORDER BY j.id DESC LIMIT 1
""")
_CANCEL_PENDING = text("""
UPDATE jobs SET state = 'cancelled', ended_at = now(), cancels = cancels + 1
WHERE state = 'pending' AND project = :project AND (CAST(:ids AS bigint[]) IS NULL OR id = ANY(:ids))
""")


@dataclass(frozen=True, slots=True)
class ListedJob:
    id: int
    project: str
    spider: str
    job_id: str
    state: str
    version: str | None
    arguments: dict[str, Any]
    settings: dict[str, Any]
    priority: float
    node: str | None
    node_url: str | None
    pid: int | None
    added_at: datetime
    not_before: datetime
    started_at: datetime | None
    ended_at: datetime | None
    attempts: int
    exit_code: int | None
    exit_signal: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class JobCounts:
    pending: int
    running: int
    ended: int
    # Waiting time of the oldest job that may start; None if no job is pending.
    oldest_pending_seconds: float | None
    nodes: int


def pending(
    connection: Connection, project: str | None = None, *, most: int | None = None, skipped: int = 0
) -> list[ListedJob]:
    """List pending jobs in the order in which they are claimed."""
    return list(_list(connection, _PENDING, project, most, skipped))


def running(connection: Connection, project: str | None = None) -> list[ListedJob]:
    return list(_list(connection, _RUNNING, project, None, 0))


def ended(
    connection: Connection, project: str | None = None, *, most: int | None = None, skipped: int = 0
) -> list[ListedJob]:
    """List finished, failed and cancelled jobs, newest first."""
    return list(_list(connection, _ENDED, project, most, skipped))


def _list(
    connection: Connection, query: Any, project: str | None, most: int | None, skipped: int
) -> Iterator[ListedJob]:
    for row in connection.execute(query, {"project": project, "most": most, "skipped": skipped}):
        yield ListedJob(*row)


def find(connection: Connection, job_id: str, project: str | None = None) -> ListedJob | None:
    row = connection.execute(_FIND, {"job_id": job_id, "project": project}).first()
    return ListedJob(*row) if row else None


def count_pending(connection: Connection, project: str) -> int:
    return int(connection.execute(_COUNT_PENDING, {"project": project}).scalar_one())


def counts(connection: Connection, silence: Any) -> JobCounts:
    row = connection.execute(_COUNTS, {"silence": silence}).one()
    pending, running, ended, oldest, nodes = row
    return JobCounts(pending, running, ended, None if oldest is None else float(oldest), nodes)


def cancel_pending(connection: Connection, project: str, ids: list[int] | None = None) -> int:
    """Cancel these pending jobs, or all pending jobs of a project; return how many."""
    return connection.execute(_CANCEL_PENDING, {"project": project, "ids": ids}).rowcount
