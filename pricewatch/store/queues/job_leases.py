"""What becomes of a claimed job: it is kept alive, cancelled, ended, given back, or lost with its node."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, text

from pricewatch.store.engine.json_safe import json_safe
from pricewatch.store.queues.job_queue import QueuePlace

MOST_ATTEMPTS = 3

_STARTED = text("UPDATE jobs SET pid = :pid WHERE id = :id AND state = 'running' AND instance = :instance")

_BEAT = text("""
UPDATE jobs SET lease_until = now() + :lease
WHERE id = ANY(:ids) AND state = 'running' AND instance = :instance
RETURNING id, cancels, cancel_signal
""")

# Somebody may have asked to cancel it while it ended.
_END = text("""
UPDATE jobs SET state = CASE WHEN cancels > 0 THEN 'cancelled' ELSE :state END, ended_at = now(),
    lease_until = NULL, exit_code = :exit_code, exit_signal = :exit_signal, reason = :reason
WHERE id = :id AND state = 'running' AND instance = :instance
""")

_GIVE_BACK = text("""
UPDATE jobs SET state = CASE WHEN cancels > 0 THEN 'cancelled' ELSE 'pending' END,
    ended_at = CASE WHEN cancels > 0 THEN now() END,
    node = NULL, instance = NULL, pid = NULL, lease_until = NULL, attempts = attempts - 1, reason = :reason
WHERE id = :id AND state = 'running' AND instance = :instance
""")

# Lost: nobody renews it, and its spider gives no sign of life either.
_LOST = """
WITH lost AS (
    SELECT j.id, j.job_id, j.node FROM jobs j
    WHERE j.state = 'running' AND {condition}
    FOR UPDATE SKIP LOCKED
), cleared AS (
    DELETE FROM collected_cards c USING runs r, lost
    WHERE r.job_id = lost.job_id AND r.status = 'running' AND c.run_id = r.id
), ended AS (
    UPDATE runs r SET status = 'stale', reason = 'its node is gone', finished_at = :now
    FROM lost WHERE r.job_id = lost.job_id AND r.status = 'running'
), returned AS (
    UPDATE jobs j SET
        state = CASE WHEN cancels > 0 THEN 'cancelled' WHEN attempts >= :most THEN 'failed'
                     ELSE 'pending' END,
        ended_at = CASE WHEN cancels > 0 OR attempts >= :most THEN now() END,
        reason = 'its node ' || coalesce(j.node, '?') || ' was lost, attempt ' || attempts,
        lease_until = NULL, pid = NULL, instance = NULL
    FROM lost WHERE j.id = lost.id
    RETURNING j.id, j.project, j.job_id, lost.node, j.state
)
SELECT * FROM returned ORDER BY id
"""
_LOST_BY_OTHERS = text(
    _LOST.format(
        condition="j.lease_until < now() AND NOT EXISTS (SELECT FROM runs r WHERE r.job_id = j.job_id"
        " AND r.status = 'running' AND r.heartbeat_at > :alive_since)"
    )
)
_LOST_BY_ID = text(_LOST.format(condition="j.id = ANY(:ids)"))

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


@dataclass(frozen=True, slots=True)
class Renewed:
    """A job that is still ours, with what others want of it."""

    id: int
    cancels: int
    cancel_signal: str | None


@dataclass(frozen=True, slots=True)
class Ended:
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
    """A job of an earlier start of this node; its process may still be there."""

    id: int
    project: str
    job_id: str
    pid: int | None
    instance: str


def started(connection: Connection, place: QueuePlace, job: int, pid: int) -> None:
    connection.execute(_STARTED, {"id": job, "pid": pid, "instance": place.instance})


def beat(connection: Connection, place: QueuePlace, ids: Collection[int]) -> dict[int, Renewed]:
    """A sign of life for these jobs. What is not in the answer is somebody else's by now."""
    if not ids:
        return {}
    given = {"ids": sorted(ids), "instance": place.instance, "lease": place.lease}
    return {row.id: Renewed(*row) for row in connection.execute(_BEAT, given)}


def end(connection: Connection, place: QueuePlace, ended: Ended) -> bool:
    """Record how a job ended; False where it is not ours any more."""
    given = {
        "id": ended.id,
        "state": ended.state,
        "exit_code": ended.exit_code,
        "exit_signal": ended.exit_signal,
        "reason": json_safe(ended.reason)[:1000] if ended.reason else None,
        "instance": place.instance,
    }
    return connection.execute(_END, given).rowcount == 1


def give_back(connection: Connection, place: QueuePlace, job: int, reason: str) -> bool:
    """Put a job back into the queue, at its old place; the attempt does not count."""
    given = {"id": job, "instance": place.instance, "reason": reason}
    return connection.execute(_GIVE_BACK, given).rowcount == 1


def return_lost(
    connection: Connection, now: datetime, *, silence: timedelta, most_attempts: int = MOST_ATTEMPTS
) -> list[LostJob]:
    """Let others have the jobs of nodes that are gone, unless their spiders are seen to work on."""
    given = {"now": now, "alive_since": now - silence, "most": most_attempts}
    return [LostJob(*row) for row in connection.execute(_LOST_BY_OTHERS, given)]


def orphans(connection: Connection, place: QueuePlace) -> list[Orphan]:
    """What an earlier start of this node left behind."""
    given = {"node": place.node, "instance": place.instance}
    return [Orphan(*row) for row in connection.execute(_ORPHANS, given)]


def return_orphans(
    connection: Connection, ids: Collection[int], now: datetime, most_attempts: int = MOST_ATTEMPTS
) -> list[LostJob]:
    given = {"ids": sorted(ids), "now": now, "most": most_attempts}
    return [LostJob(*row) for row in connection.execute(_LOST_BY_ID, given)]


def cancel(connection: Connection, project: str, job_id: str, signal: str) -> str | None:
    """Ask for the end of a job, wherever it is; says what it was doing, or None where there is none."""
    given = {"project": project, "job_id": job_id, "signal": signal}
    return connection.execute(_CANCEL, given).scalar()
