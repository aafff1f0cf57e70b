"""Leases of claimed jobs: renewal, end, release, cancellation, and jobs whose node was lost."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, text

from pricewatch.store.engine.json_safe import json_safe
from pricewatch.store.queues.job_queue import LeaseHolder
from pricewatch.store.source_registry import market_rows
from pricewatch.store.writing import run_rows

MAX_ATTEMPTS = 3

_RECORD_PID = text("UPDATE jobs SET pid = :pid WHERE id = :id AND state = 'running' AND instance = :instance")

_RENEW = text("""
UPDATE jobs SET lease_until = now() + :lease
WHERE id = ANY(:ids) AND state = 'running' AND instance = :instance
RETURNING id, cancels, cancel_signal
""")

# A job that was cancelled while its process ended counts as cancelled.
_END = text("""
UPDATE jobs SET state = CASE WHEN cancels > 0 THEN 'cancelled' ELSE :state END, ended_at = now(),
    lease_until = NULL, exit_code = :exit_code, exit_signal = :exit_signal, reason = :reason
WHERE id = :id AND state = 'running' AND instance = :instance
""")

_RELEASE = text("""
UPDATE jobs SET state = CASE WHEN cancels > 0 THEN 'cancelled' ELSE 'pending' END,
    ended_at = CASE WHEN cancels > 0 THEN now() END,
    node = NULL, instance = NULL, pid = NULL, lease_until = NULL, attempts = attempts - 1, reason = :reason
WHERE id = :id AND state = 'running' AND instance = :instance
""")

_REQUEUE = """
WITH lost AS (
    SELECT j.id, j.job_id, j.node FROM jobs j
    WHERE j.state = 'running' AND {condition}
    FOR UPDATE SKIP LOCKED
), cleared AS (
    DELETE FROM collected_cards c USING runs r, lost
    WHERE r.job_id = lost.job_id AND r.status = 'running' AND c.run_id = r.id
), ended AS (
    UPDATE runs r SET status = 'stale', reason = 'the node was lost', finished_at = :now
    FROM lost WHERE r.job_id = lost.job_id AND r.status = 'running'
), requeued AS (
    UPDATE jobs j SET
        state = CASE WHEN cancels > 0 THEN 'cancelled' WHEN attempts >= :max_attempts THEN 'failed'
                     ELSE 'pending' END,
        ended_at = CASE WHEN cancels > 0 OR attempts >= :max_attempts THEN now() END,
        reason = 'node ' || coalesce(j.node, '?') || ' was lost during attempt ' || attempts,
        lease_until = NULL, pid = NULL, instance = NULL
    FROM lost WHERE j.id = lost.id
    RETURNING j.id, j.project, j.job_id, lost.node, j.state
)
SELECT * FROM requeued ORDER BY id
"""
# A job is lost if its lease expired and its run sends no heartbeat either.
_REQUEUE_LOST = text(
    _REQUEUE.format(
        condition="j.lease_until < now() AND NOT EXISTS (SELECT FROM runs r WHERE r.job_id = j.job_id"
        " AND r.status = 'running' AND r.heartbeat_at > :alive_since)"
    )
)
_REQUEUE_BY_ID = text(_REQUEUE.format(condition="j.id = ANY(:ids)"))

_ORPHANS = text("""
SELECT id, project, job_id, pid, instance FROM jobs
WHERE state = 'running' AND node = :node AND instance <> :instance ORDER BY id
""")

_CANCEL = text("""
WITH found AS (
    SELECT id, state FROM jobs WHERE project = :project AND job_id = :job_id FOR UPDATE
)
UPDATE jobs j SET cancels = cancels + 1, cancel_signal = :signal,
    state = CASE WHEN j.state = 'pending' THEN 'cancelled' ELSE j.state END,
    ended_at = CASE WHEN j.state = 'pending' THEN now() ELSE j.ended_at END
FROM found WHERE j.id = found.id AND found.state IN ('pending', 'running')
RETURNING found.state
""")

_OPEN_RUNS = text("""
SELECT id, spider, market_id FROM runs WHERE job_id = :job_id AND status = 'running' ORDER BY id FOR UPDATE
""")


@dataclass(frozen=True, slots=True)
class RenewedJob:
    """A job whose lease was renewed, with the cancellations requested so far."""

    id: int
    cancels: int
    cancel_signal: str | None


@dataclass(frozen=True, slots=True)
class JobResult:
    """How the process of a job ended."""

    id: int
    state: str
    exit_code: int | None = None
    exit_signal: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class LostJob:
    id: int
    project: str
    job_id: str
    node: str | None
    state: str


@dataclass(frozen=True, slots=True)
class Orphan:
    """A job that an earlier instance of this node claimed; its process may still be running."""

    id: int
    project: str
    job_id: str
    pid: int | None
    instance: str


def record_pid(connection: Connection, holder: LeaseHolder, job: int, pid: int) -> None:
    """Record the process id of a job."""
    connection.execute(_RECORD_PID, {"id": job, "pid": pid, "instance": holder.instance})


def renew(connection: Connection, holder: LeaseHolder, ids: Collection[int]) -> dict[int, RenewedJob]:
    """Renew the leases of these jobs. A job missing from the result belongs to another node now."""
    if not ids:
        return {}
    parameters = {"ids": sorted(ids), "instance": holder.instance, "lease": holder.lease}
    return {row.id: RenewedJob(*row) for row in connection.execute(_RENEW, parameters)}


def record_result(connection: Connection, holder: LeaseHolder, ended: JobResult) -> bool:
    """Record how a job ended; return False if the lease belongs to another node now."""
    parameters = {
        "id": ended.id,
        "state": ended.state,
        "exit_code": ended.exit_code,
        "exit_signal": ended.exit_signal,
        "reason": json_safe(ended.reason)[:1000] if ended.reason else None,
        "instance": holder.instance,
    }
    return connection.execute(_END, parameters).rowcount == 1


def release(connection: Connection, holder: LeaseHolder, job: int, reason: str) -> bool:
    """Put a job back into the queue at its old position; the attempt does not count."""
    parameters = {"id": job, "instance": holder.instance, "reason": reason}
    return connection.execute(_RELEASE, parameters).rowcount == 1


def requeue_lost(
    connection: Connection, now: datetime, *, silence: timedelta, max_attempts: int = MAX_ATTEMPTS
) -> list[LostJob]:
    """Requeue the jobs of lost nodes, except jobs whose runs still send heartbeats."""
    parameters = {"now": now, "alive_since": now - silence, "max_attempts": max_attempts}
    return [LostJob(*row) for row in connection.execute(_REQUEUE_LOST, parameters)]


def find_orphans(connection: Connection, holder: LeaseHolder) -> list[Orphan]:
    """List the running jobs of earlier instances of this node."""
    parameters = {"node": holder.node, "instance": holder.instance}
    return [Orphan(*row) for row in connection.execute(_ORPHANS, parameters)]


def requeue_orphans(
    connection: Connection, ids: Collection[int], now: datetime, max_attempts: int = MAX_ATTEMPTS
) -> list[LostJob]:
    """Requeue these jobs."""
    parameters = {"ids": sorted(ids), "now": now, "max_attempts": max_attempts}
    return [LostJob(*row) for row in connection.execute(_REQUEUE_BY_ID, parameters)]


def cancel(connection: Connection, project: str, job_id: str, signal: str) -> str | None:
    """Request the cancellation of a job; return its previous state, or None if it is not open."""
    parameters = {"project": project, "job_id": job_id, "signal": signal}
    return connection.execute(_CANCEL, parameters).scalar()


def close_runs(connection: Connection, job_id: str, now: datetime, *, why: str, failed: bool) -> int:
    """Close the runs that a job's process left open, and return how many.

    With `failed`, each run counts as a failure of its market.
    """
    runs = connection.execute(_OPEN_RUNS, {"job_id": job_id}).all()
    for run in runs:
        run_rows.mark_stale(connection, run.id, now, why)
        if failed and run.market_id is not None:
            market_rows.record_run(
                connection, run.market_id, spider=run.spider, status="failed", at=now, failed=True
            )
    return len(runs)
