"""Leases of targets: workers lease targets, extend the leases, and record the outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, text

from pricewatch.queued_work import LeasedTarget
from pricewatch.rules.target_schedule import (
    FAILURES_TO_BE_BROKEN,
    TargetOutcome,
    TargetStatus,
    outcome_weight,
    state_after_check,
)
from pricewatch.store.engine.json_safe import json_safe
from pricewatch.store.writing.run_rows import node_name

_COLUMNS = """t.id, t.url, t.canonical_url, t.source_id, t.adapter_id, t.selectors, t.listing_id,
    t.robots_path_blocked, t.status, t.schedule, t.consecutive_failures, t.last_reason, t.last_scraped_at,
    (SELECT l.last_scraped_at IS NOT NULL FROM listings l WHERE l.id = t.listing_id),
    (SELECT l.unread_since FROM listings l WHERE l.id = t.listing_id), t.render"""

_LEASE = text(f"""
WITH chosen AS (
    SELECT t.id FROM targets t
    JOIN sources s ON s.id = t.source_id AND s.tos_approved_by IS NOT NULL
    WHERE t.queue_state = 'pending' AND NOT t.source_id = ANY(:busy) AND NOT t.robots_path_blocked
      AND (CAST(:source_id AS text) IS NULL OR t.source_id = :source_id)
      AND NOT EXISTS (SELECT FROM adapter_status a WHERE a.adapter_id = t.adapter_id AND NOT a.enabled
                        AND a.source_id IN (t.source_id, '*'))
    ORDER BY t.priority DESC, t.queued_at, t.id
    LIMIT :most FOR UPDATE OF t SKIP LOCKED
)
UPDATE targets t SET queue_state = 'leased', leased_by = :worker, lease_until = :until
FROM chosen WHERE t.id = chosen.id
RETURNING {_COLUMNS}, t.priority, t.queued_at
""")

_LEASE_BY_ID = text(f"""
UPDATE targets t SET queue_state = 'leased', leased_by = :worker, lease_until = :until
FROM sources s
WHERE t.id = ANY(:ids) AND s.id = t.source_id AND s.tos_approved_by IS NOT NULL
  AND (t.queue_state <> 'leased' OR t.lease_until < :now)
RETURNING {_COLUMNS}
""")

_EXTEND = text("""
UPDATE targets SET lease_until = :until WHERE queue_state = 'leased' AND leased_by = :worker
""")

# A target that was leased without being queued becomes idle again.
_RELEASE = text("""
UPDATE targets SET queue_state = CASE WHEN queued_at IS NULL THEN 'idle' ELSE 'pending' END,
                   leased_by = NULL, lease_until = NULL
WHERE queue_state = 'leased' AND leased_by = :worker
""")

# Only the holder of the lease may record: after an expiry another worker may have done the work.
_RECORD = text("""
UPDATE targets SET
    status = CASE WHEN status = 'PAUSED' THEN status ELSE :status END,
    consecutive_failures = :failures, next_due_at = :next_due_at,
    last_scraped_at = :now, last_status = :outcome, last_reason = :reason, last_run_id = :run_id,
    queue_state = 'idle', queued_at = NULL, leased_by = NULL, lease_until = NULL, updated_at = :now,
    missing_since = CASE WHEN :found THEN NULL WHEN NOT :found THEN coalesce(missing_since, :now)
                         ELSE missing_since END,
    listing_id = coalesce((SELECT l.id FROM listings l
                           WHERE l.source_id = :source_id AND l.identity_key = :identity_key), listing_id)
WHERE id = :id AND queue_state = 'leased' AND leased_by = :worker
""")


def worker_name(run_id: int) -> str:
    """Return the name under which a run holds its leases."""
    return f"{node_name()} run {run_id}"


def lease(
    connection: Connection,
    worker: str,
    now: datetime,
    *,
    seconds: float,
    most: int,
    busy: Sequence[str] = (),
    source_id: str | None = None,
) -> list[LeasedTarget]:
    """Lease up to `most` pending targets, highest priority first, skipping rows locked by other workers."""
    rows = connection.execute(
        _LEASE,
        {
            "worker": worker,
            "until": now + timedelta(seconds=seconds),
            "most": most,
            "busy": list(busy),
            "source_id": source_id,
        },
    ).all()
    ordered = sorted(rows, key=lambda row: (-row.priority, row.queued_at, row.id))
    return [LeasedTarget(*row[:-2]) for row in ordered]


def lease_by_id(
    connection: Connection, worker: str, ids: Sequence[int], now: datetime, *, seconds: float
) -> list[LeasedTarget]:
    """Lease these targets, queued or not, except those leased by another worker."""
    parameters = {"worker": worker, "ids": list(ids), "now": now, "until": now + timedelta(seconds=seconds)}
    return sorted(
        (LeasedTarget(*row) for row in connection.execute(_LEASE_BY_ID, parameters)),
        key=lambda target: target.id,
    )


def extend(connection: Connection, worker: str, now: datetime, *, seconds: float) -> int:
    """Extend all leases of this worker."""
    parameters = {"worker": worker, "until": now + timedelta(seconds=seconds)}
    return connection.execute(_EXTEND, parameters).rowcount


def release(connection: Connection, worker: str) -> int:
    """Release the unfinished targets of this worker; they keep their position in the queue."""
    return connection.execute(_RELEASE, {"worker": worker}).rowcount


def record_outcome(
    connection: Connection,
    target: LeasedTarget,
    worker: str,
    outcome: TargetOutcome,
    reason: str | None,
    now: datetime,
    *,
    run_id: int | None = None,
    identity: tuple[str, str] | None = None,
    found: bool | None = None,
    most_failures: int = FAILURES_TO_BE_BROKEN,
) -> bool:
    """Record the outcome of a target and release it; return False if the lease has expired.

    `identity` is the (source, identity key) of the stored listing, which the target is linked to. `found`
    says whether the page exists; None if the check could not determine it.
    """
    state = state_after_check(
        TargetStatus(target.status),
        target.consecutive_failures,
        outcome_weight(outcome, reason),
        schedule=target.schedule,
        now=now,
        most_failures=most_failures,
    )
    source_id, identity_key = identity or (None, None)
    parameters = {
        "id": target.id,
        "worker": worker,
        "now": now,
        "status": state.status,
        "failures": state.consecutive_failures,
        "next_due_at": state.next_due_at,
        "outcome": outcome,
        "reason": json_safe(str(reason))[:500] if reason else None,
        "run_id": run_id,
        "source_id": source_id,
        "identity_key": identity_key,
        "found": found,
    }
    return connection.execute(_RECORD, parameters).rowcount == 1
