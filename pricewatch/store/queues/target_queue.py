"""The queue of targets: what is due is let in up to a limit, leased to workers, and comes back if they die.

The queue is a state of the target's own row, so that nothing can be lost between two tables. Every time is
the caller's.
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
    Limits,
    Offered,
    Rejected,
    Rejection,
    Waiting,
    admit,
    pause_after,
)
from pricewatch.store.models import TargetQueue
from pricewatch.store.writing import adapter_status, alert_rows

MANY_STALE = 100

# The predicate of ix_targets_due, word for word.
_CAN_BE_DUE = (
    "enabled AND NOT robots_path_blocked AND queue_state = 'idle' AND next_due_at IS NOT NULL"
    " AND status IN ('ACTIVE', 'BROKEN')"
)

# Hops from one (source, priority) to the next along the index and takes the first due ones of each, so that
# the cost is that of the rows taken, and no source with a long backlog keeps another one's out of sight.
_DUE = text(f"""
WITH RECURSIVE groups AS (
    (SELECT source_id, priority FROM targets WHERE {_CAN_BE_DUE}
     ORDER BY source_id, priority DESC LIMIT 1)
    UNION ALL
    SELECT following.source_id, following.priority FROM groups g CROSS JOIN LATERAL (
        (SELECT 0 AS turn, source_id, priority FROM targets
         WHERE {_CAN_BE_DUE} AND source_id = g.source_id AND priority < g.priority
         ORDER BY priority DESC LIMIT 1)
        UNION ALL
        (SELECT 1, source_id, priority FROM targets WHERE {_CAN_BE_DUE} AND source_id > g.source_id
         ORDER BY source_id, priority DESC LIMIT 1)
        ORDER BY turn LIMIT 1
    ) following
), due AS (
    SELECT one.*, row_number() OVER (
               PARTITION BY one.source_id ORDER BY one.priority DESC, one.next_due_at) AS place
    FROM groups g CROSS JOIN LATERAL (
        SELECT t.id, t.adapter_id, t.source_id, t.priority, t.next_due_at,
               greatest(coalesce(s.min_delay_ms / 1000.0, :min_delay),
                        1 / coalesce(nullif(s.requests_per_second, 0), :rate)) AS seconds
        FROM targets t JOIN sources s ON s.id = t.source_id AND s.tos_approved_by IS NOT NULL
        WHERE {_CAN_BE_DUE} AND t.source_id = g.source_id AND t.priority = g.priority
          AND t.next_due_at <= :now
        ORDER BY t.next_due_at, t.id LIMIT :most_per_source
    ) one
)
SELECT id, adapter_id, source_id, seconds FROM due WHERE place <= :most_per_source
ORDER BY priority DESC, next_due_at, id LIMIT :most
""")

_NAMED = text("""
SELECT t.id, t.adapter_id, t.source_id,
       greatest(coalesce(s.min_delay_ms / 1000.0, :min_delay),
                1 / coalesce(nullif(s.requests_per_second, 0), :rate)) AS seconds
FROM targets t JOIN sources s ON s.id = t.source_id AND s.tos_approved_by IS NOT NULL
WHERE t.id = ANY(:ids) AND t.queue_state = 'idle' AND t.enabled AND NOT t.robots_path_blocked
  AND t.status <> 'PAUSED'
ORDER BY t.priority DESC, t.id
""")

_WAITING = text("SELECT source_id, count(*) FROM targets WHERE queue_state = 'pending' GROUP BY 1")

_LET_IN = text("""
UPDATE targets SET queue_state = 'pending', queued_at = :now,
                   status = CASE WHEN status = 'STALE' THEN 'ACTIVE' ELSE status END
WHERE id = ANY(:ids) AND queue_state = 'idle'
""")

_RETURN_EXPIRED = text("""
UPDATE targets SET queue_state = 'pending', leased_by = NULL, lease_until = NULL
WHERE queue_state = 'leased' AND lease_until < :now
""")

_MARK_STALE = text("""
UPDATE targets SET queue_state = 'idle', queued_at = NULL, status = 'STALE', last_reason = 'waited too long'
WHERE queue_state = 'pending' AND queued_at < :before
""")

_COUNT_STALE = text("SELECT count(*) FROM targets WHERE status <> 'ACTIVE' AND status = 'STALE'")


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a source is read that says nothing of its own."""

    requests_per_second: float = 0.5
    min_delay: float = 2.0


@dataclass(slots=True)
class Admission:
    """What became of the targets that were offered: nobody is in neither list."""

    accepted: list[int] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    paused_until: datetime | None = None

    @property
    def offered(self) -> int:
        return len(self.accepted) + len(self.rejected)

    @property
    def reasons(self) -> Counter[Rejection]:
        return Counter(one.reason for one in self.rejected)


def schedule(
    connection: Connection, now: datetime, limits: Limits | None = None, pace: Pace | None = None
) -> Admission:
    """One scheduling cycle: what is due asks to be let in. Rests while too much of it was rejected."""
    limits, pace = limits or Limits(), pace or Pace()
    state = hold_queue(connection)
    if state.paused_until is not None and state.paused_until > now:
        return Admission(paused_until=state.paused_until)
    return_expired(connection, now)
    mark_stale(connection, now)
    given = {
        "now": now,
        "most": limits.most_pending + 1,
        "most_per_source": limits.most_pending_per_source + 1,
        "min_delay": pace.min_delay,
        "rate": pace.requests_per_second,
    }
    admission = _admit(connection, connection.execute(_DUE, given).all(), now, limits)
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
            message=f"Scheduling of targets rests for {pause.seconds / 60:.0f} minutes: "
            f"{len(admission.rejected)} of {admission.offered} were rejected, "
            f"and so it went {pause.rejected_cycles} times in a row.",
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
    limits: Limits | None = None,
    pace: Pace | None = None,
) -> Admission:
    """Let these in, as far as there is room. What waits already, or must not be fetched, is passed by."""
    pace = pace or Pace()
    hold_queue(connection)
    given = {"ids": ids, "min_delay": pace.min_delay, "rate": pace.requests_per_second}
    return _admit(connection, connection.execute(_NAMED, given).all(), now, limits or Limits())


def hold_queue(connection: Connection) -> Any:
    """Whoever fills the queue is alone in doing so: the limits are exact, however many try."""
    connection.execute(insert(TargetQueue).values(id=1).on_conflict_do_nothing())
    return connection.execute(select(*TargetQueue.__table__.columns).with_for_update()).one()


def _admit(connection: Connection, rows: list[Row[Any]] | Any, now: datetime, limits: Limits) -> Admission:
    waiting = Waiting()
    for source_id, count in connection.execute(_WAITING):
        waiting.total += count
        waiting.by_source[source_id] += count
    disabled = adapter_status.switched_off(connection)
    offered = [Offered(row.id, row.adapter_id, row.source_id, float(row.seconds)) for row in rows]
    admission = Admission(*admit(offered, waiting, disabled, limits))
    if admission.accepted:
        connection.execute(_LET_IN, {"ids": admission.accepted, "now": now})
    _count(connection, admission)
    return admission


def _count(connection: Connection, admission: Admission) -> None:
    """Keep the totals that metrics are made of."""
    totals = connection.execute(select(TargetQueue.rejected_total)).scalar_one()
    added = {str(reason): int(totals.get(reason, 0)) + count for reason, count in admission.reasons.items()}
    connection.execute(
        update(TargetQueue).values(
            accepted_total=TargetQueue.accepted_total + len(admission.accepted),
            rejected_total={**totals, **added},
        )
    )


def return_expired(connection: Connection, now: datetime) -> int:
    """The leases of a worker that gave no sign of life for too long are anybody's again."""
    return connection.execute(_RETURN_EXPIRED, {"now": now}).rowcount


def mark_stale(connection: Connection, now: datetime, after: timedelta = STALE_AFTER) -> int:
    """What waited for a day is out of date: it is set aside until somebody queues it again."""
    marked = connection.execute(_MARK_STALE, {"before": now - after}).rowcount
    if marked:
        stale = connection.execute(_COUNT_STALE).scalar_one()
        if stale > MANY_STALE:
            alert_rows.raise_alert(
                connection,
                kind="targets_stale",
                subject="targets",
                message=f"{stale} targets waited for over a day and were set aside: "
                "the workers do not keep up. `scrapy targets requeue --status STALE` queues them again.",
                severity="P3",
                now=now,
            )
    return marked
