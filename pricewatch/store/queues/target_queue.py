"""The target queue: due targets are admitted up to a limit; expired leases return to the queue.

The queue is a state of the target's own row, so no target can be lost between two tables. The caller passes
the current time.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, select, text, update
from sqlalchemy.dialects.postgresql import insert

from pricewatch.rules.target_schedule import (
    STALE_AFTER,
    QueueCandidate,
    QueuedCounts,
    QueueLimits,
    Rejected,
    Rejection,
    admit,
    pause_after,
)
from pricewatch.store.models import TargetQueue
from pricewatch.store.operations import adapter_status, alert_rows

STALE_ALERT_THRESHOLD = 100

# Must equal the predicate of ix_targets_due, or the index is not used.
_CAN_BE_DUE = (
    "enabled AND NOT robots_path_blocked AND queue_state = 'idle' AND next_due_at IS NOT NULL"
    " AND status IN ('ACTIVE', 'BROKEN')"
)

# A loose index scan over (source, priority) that reads the first due targets of each pair: the cost depends
# on the rows returned only, and a source with a long backlog does not hide the targets of other sources.
_DUE = text(f"""
WITH RECURSIVE groups AS (
    (SELECT source_id, priority FROM targets WHERE {_CAN_BE_DUE}
     ORDER BY source_id, priority DESC LIMIT 1)
    UNION ALL
    SELECT following.source_id, following.priority FROM groups g CROSS JOIN LATERAL (
        (SELECT 0 AS step, source_id, priority FROM targets
         WHERE {_CAN_BE_DUE} AND source_id = g.source_id AND priority < g.priority
         ORDER BY priority DESC LIMIT 1)
        UNION ALL
        (SELECT 1, source_id, priority FROM targets WHERE {_CAN_BE_DUE} AND source_id > g.source_id
         ORDER BY source_id, priority DESC LIMIT 1)
        ORDER BY step LIMIT 1
    ) following
), due AS (
    SELECT first_due.*, row_number() OVER (
               PARTITION BY first_due.source_id
               ORDER BY first_due.priority DESC, first_due.next_due_at) AS rank
    FROM groups g CROSS JOIN LATERAL (
        SELECT t.id, t.adapter_id, t.source_id, t.priority, t.next_due_at,
               greatest(coalesce(s.min_delay_ms / 1000.0, :min_delay),
                        1 / coalesce(nullif(s.requests_per_second, 0), :rate)) AS seconds
        FROM targets t JOIN sources s ON s.id = t.source_id AND s.tos_approved_by IS NOT NULL
        WHERE {_CAN_BE_DUE} AND t.source_id = g.source_id AND t.priority = g.priority
          AND t.next_due_at <= :now
        ORDER BY t.next_due_at, t.id LIMIT :most_per_source
    ) first_due
)
SELECT id, adapter_id, source_id, seconds FROM due WHERE rank <= :most_per_source
ORDER BY priority DESC, next_due_at, id LIMIT :most
""")

_BY_ID = text("""
SELECT t.id, t.adapter_id, t.source_id,
       greatest(coalesce(s.min_delay_ms / 1000.0, :min_delay),
                1 / coalesce(nullif(s.requests_per_second, 0), :rate)) AS seconds
FROM targets t JOIN sources s ON s.id = t.source_id AND s.tos_approved_by IS NOT NULL
WHERE t.id = ANY(:ids) AND t.queue_state = 'idle' AND t.enabled AND NOT t.robots_path_blocked
  AND t.status <> 'PAUSED'
ORDER BY t.priority DESC, t.id
""")

_PENDING = text("SELECT source_id, count(*) FROM targets WHERE queue_state = 'pending' GROUP BY 1")

_ENQUEUE = text("""
UPDATE targets SET queue_state = 'pending', queued_at = :now,
                   status = CASE WHEN status = 'STALE' THEN 'ACTIVE' ELSE status END
WHERE id = ANY(:ids) AND queue_state = 'idle'
""")

_REQUEUE_EXPIRED = text("""
UPDATE targets SET queue_state = 'pending', leased_by = NULL, lease_until = NULL
WHERE queue_state = 'leased' AND lease_until < :now
""")

_MARK_STALE = text("""
UPDATE targets SET queue_state = 'idle', queued_at = NULL, status = 'STALE',
                   last_reason = 'pending for too long'
WHERE queue_state = 'pending' AND queued_at < :before
""")

_COUNT_STALE = text("SELECT count(*) FROM targets WHERE status <> 'ACTIVE' AND status = 'STALE'")


@dataclass(frozen=True, slots=True)
class DefaultRate:
    """The request rate of sources that do not set their own."""

    requests_per_second: float = 0.5
    min_delay: float = 2.0


@dataclass(slots=True)
class Admission:
    """The result of a scheduling cycle: every offered target is either accepted or rejected."""

    accepted: list[int] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    paused_until: datetime | None = None

    @property
    def offered(self) -> int:
        return len(self.accepted) + len(self.rejected)

    @property
    def reasons(self) -> Counter[Rejection]:
        return Counter(rejected.reason for rejected in self.rejected)


def schedule(
    connection: Connection, now: datetime, limits: QueueLimits | None = None, pace: DefaultRate | None = None
) -> Admission:
    """Run one scheduling cycle: queue due targets. Scheduling pauses after cycles with many rejections."""
    limits, pace = limits or QueueLimits(), pace or DefaultRate()
    state = _lock_queue(connection)
    if state.paused_until is not None and state.paused_until > now:
        return Admission(paused_until=state.paused_until)
    requeue_expired(connection, now)
    mark_stale(connection, now)
    parameters = {
        "now": now,
        "most": limits.most_pending + 1,
        "most_per_source": limits.most_pending_per_source + 1,
        "min_delay": pace.min_delay,
        "rate": pace.requests_per_second,
    }
    admission = _admit(connection, connection.execute(_DUE, parameters).all(), now, limits)
    pause = pause_after(len(admission.accepted), admission.reasons, state.rejected_cycles, limits)
    admission.paused_until = now + timedelta(seconds=pause.seconds) if pause.seconds else None
    connection.execute(
        update(TargetQueue).values(
            paused_until=admission.paused_until,
            rejected_cycles=pause.rejected_cycles,
            last_cycle_at=now,
            last_offered=admission.offered,
            last_accepted=len(admission.accepted),
        )
    )
    if pause.is_alarming:
        alert_rows.raise_alert(
            connection,
            kind="targets_paused",
            subject="targets",
            message=f"Scheduling of targets is paused for {pause.seconds / 60:.0f} minutes: "
            f"{len(admission.rejected)} of {admission.offered} targets were rejected, "
            f"as in {pause.rejected_cycles} cycles in a row.",
            severity="P2",
            now=now,
            details={"reasons": dict(admission.reasons)},
        )
    elif not pause.seconds:
        alert_rows.resolve_alert(connection, kind="targets_paused", subject="targets", now=now)
    return admission


def enqueue(
    connection: Connection,
    ids: list[int],
    now: datetime,
    limits: QueueLimits | None = None,
    pace: DefaultRate | None = None,
) -> Admission:
    """Queue these targets up to the limits, except those queued already or not to be fetched."""
    pace = pace or DefaultRate()
    _lock_queue(connection)
    parameters = {"ids": ids, "min_delay": pace.min_delay, "rate": pace.requests_per_second}
    return _admit(connection, connection.execute(_BY_ID, parameters).all(), now, limits or QueueLimits())


def _lock_queue(connection: Connection) -> Any:
    """Lock the queue's row: one process at a time fills the queue, so the limits are exact."""
    connection.execute(insert(TargetQueue).values(id=1).on_conflict_do_nothing())
    return connection.execute(select(*TargetQueue.__table__.columns).with_for_update()).one()


def _admit(
    connection: Connection, rows: list[Row[Any]] | Any, now: datetime, limits: QueueLimits
) -> Admission:
    waiting = QueuedCounts()
    for source_id, count in connection.execute(_PENDING):
        waiting.total += count
        waiting.by_source[source_id] += count
    disabled = adapter_status.disabled_adapters(connection)
    offered = [QueueCandidate(row.id, row.adapter_id, row.source_id, float(row.seconds)) for row in rows]
    admission = Admission(*admit(offered, waiting, disabled, limits))
    if admission.accepted:
        connection.execute(_ENQUEUE, {"ids": admission.accepted, "now": now})
    _add_to_totals(connection, admission)
    return admission


def _add_to_totals(connection: Connection, admission: Admission) -> None:
    """Update the totals that the metrics report."""
    totals = connection.execute(select(TargetQueue.rejected_total)).scalar_one()
    added = {str(reason): int(totals.get(reason, 0)) + count for reason, count in admission.reasons.items()}
    connection.execute(
        update(TargetQueue).values(
            accepted_total=TargetQueue.accepted_total + len(admission.accepted),
            rejected_total={**totals, **added},
        )
    )


def requeue_expired(connection: Connection, now: datetime) -> int:
    """Requeue targets whose lease has expired; return how many."""
    return connection.execute(_REQUEUE_EXPIRED, {"now": now}).rowcount


def mark_stale(connection: Connection, now: datetime, after: timedelta = STALE_AFTER) -> int:
    """Mark targets that were pending for a day as STALE until a person queues them; return how many."""
    marked = connection.execute(_MARK_STALE, {"before": now - after}).rowcount
    if marked:
        stale = connection.execute(_COUNT_STALE).scalar_one()
        if stale > STALE_ALERT_THRESHOLD:
            alert_rows.raise_alert(
                connection,
                kind="targets_stale",
                subject="targets",
                message=f"{stale} targets were pending for over a day and were marked STALE: "
                "the workers do not keep up. `scrapy targets requeue --status STALE` queues them again.",
                severity="P3",
                now=now,
            )
    return marked
