"""The job queue: any process adds jobs, and one node claims each job. All times are database times."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

from pricewatch.errors import UserError
from pricewatch.rules.market_schedule import exclusion_key
from pricewatch.store.engine.json_safe import json_safe

PROJECT = "pricewatch"
NO_WAIT = timedelta()
# Jobs that a person starts run before the jobs of the dispatcher.
MANUAL_PRIORITY = 10.0

_ADD = text("""
INSERT INTO jobs (project, spider, job_id, version, arguments, settings, work, priority, not_before)
VALUES (:project, :spider, :job_id, :version, CAST(:arguments AS jsonb), CAST(:settings AS jsonb), :work,
        :priority, now() + :wait)
ON CONFLICT (project, job_id) DO NOTHING
""")

# Skips a job if one with the same spider and work is pending or running.
_ADD_MISSING = text("""
INSERT INTO jobs (project, spider, job_id, arguments, work, priority, not_before)
SELECT :project, r.spider, r.job_id, r.arguments, r.work, r.priority, now() + r.wait * interval '1 second'
FROM jsonb_to_recordset(CAST(:jobs AS jsonb))
    AS r(rank integer, spider text, job_id text, arguments jsonb, work text, priority float8, wait float8)
WHERE NOT EXISTS (SELECT FROM jobs j WHERE j.project = :project AND j.state IN ('pending', 'running')
                    AND j.work = r.work AND j.spider = r.spider)
ORDER BY r.rank
""")

_CLAIM = text("""
WITH chosen AS (
    SELECT j.id FROM jobs j
    WHERE j.state = 'pending' AND j.not_before <= now() AND j.project = ANY(:projects)
      AND NOT EXISTS (SELECT FROM jobs r
                      WHERE r.state = 'running' AND r.project = j.project AND r.work = j.work)
    ORDER BY j.priority DESC, j.id LIMIT 1 FOR UPDATE OF j SKIP LOCKED
)
UPDATE jobs j SET state = 'running', node = :node, instance = :instance, pid = NULL, started_at = now(),
    lease_until = now() + :lease, attempts = attempts + 1,
    version = coalesce(version, (SELECT e.version FROM eggs e WHERE e.project = j.project
                                 ORDER BY e.added_at DESC LIMIT 1))
FROM chosen WHERE j.id = chosen.id
RETURNING j.id, j.project, j.spider, j.job_id, j.version, j.arguments, j.settings, j.started_at, j.attempts
""")

_OLDEST_PENDING = text("SELECT min(not_before) FROM jobs WHERE state = 'pending' AND not_before <= now()")


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    id: int
    project: str
    spider: str
    job_id: str
    version: str | None
    arguments: dict[str, str]
    settings: dict[str, str]
    started_at: datetime
    attempts: int


@dataclass(frozen=True, slots=True)
class LeaseHolder:
    """The node that claims jobs, the running instance of its daemon, and how long a lease lasts."""

    node: str
    instance: str
    lease: timedelta


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to queue unless the same work is already pending or running."""

    spider: str
    arguments: dict[str, str]
    work: str
    wait: float = 0.0
    priority: float = 0.0


def new_job_id() -> str:
    """Make a time-based id, as scrapyd does."""
    return uuid.uuid1().hex


def add(
    connection: Connection,
    project: str,
    spider: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    job_id: str | None = None,
    version: str | None = None,
    settings: Mapping[str, Any] | None = None,
    priority: float = 0.0,
    wait: timedelta = NO_WAIT,
) -> str:
    """Queue a job and return its id."""
    arguments, job_id = json_safe(dict(arguments or {})), json_safe(job_id or new_job_id())
    parameters = {
        "project": project,
        "spider": spider,
        "job_id": job_id,
        "version": version,
        "arguments": json.dumps(arguments),
        "settings": json.dumps(json_safe(dict(settings or {}))),
        "work": exclusion_key(spider, arguments),
        "priority": priority,
        "wait": wait,
    }
    if not connection.execute(_ADD, parameters).rowcount:
        raise UserError(f"Job {job_id!r} already exists. Choose another jobid.")
    return job_id


def add_missing(connection: Connection, jobs: Collection[NewJob]) -> int:
    """Queue the jobs that are neither pending nor running; return how many."""
    if not jobs:
        return 0
    rows = [
        {
            "rank": rank,
            "spider": job.spider,
            "job_id": new_job_id(),
            "arguments": job.arguments,
            "work": job.work,
            "priority": job.priority,
            "wait": job.wait,
        }
        for rank, job in enumerate(jobs)
    ]
    return connection.execute(
        _ADD_MISSING, {"project": PROJECT, "jobs": json.dumps(json_safe(rows))}
    ).rowcount


def oldest_pending(connection: Connection) -> datetime | None:
    """Return since when the oldest pending job may start."""
    return connection.execute(_OLDEST_PENDING).scalar()


def claim(connection: Connection, holder: LeaseHolder, projects: Collection[str]) -> ClaimedJob | None:
    """Claim the first job that may start and that no other node is claiming; None if there is none."""
    parameters = {
        "projects": list(projects),
        "node": holder.node,
        "instance": holder.instance,
        "lease": holder.lease,
    }
    while True:
        try:
            with connection.begin_nested():
                row = connection.execute(_CLAIM, parameters).first()
        except IntegrityError as error:
            if "uq_jobs_working" not in str(error.orig):
                raise
            # Another node started the same work at the same time; the next try sees it and skips this job.
            continue
        return ClaimedJob(*row) if row else None
