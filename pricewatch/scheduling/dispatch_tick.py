"""One look at everything that may be due, in one transaction: what is to run becomes jobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Connection

from pricewatch.rules.market_schedule import (
    OLDEST_PENDING,
    SHARES,
    ScheduleDecision,
    is_maintenance_due,
    judge,
    spread,
    target_jobs,
    work_of,
)
from pricewatch.scheduling.dispatch_settings import DispatchPlan
from pricewatch.store.engine.schema import ensure_partitions
from pricewatch.store.maintenance import daily
from pricewatch.store.queues import dispatch_state, job_lists, job_queue, node_rows, target_queue
from pricewatch.store.queues.job_queue import NewJob
from pricewatch.store.queues.target_queue import Admission
from pricewatch.store.writing import alert_rows

# Behind what a person has asked for.
PRIORITY = -1.0


@dataclass(slots=True)
class DispatchTick:
    """What one look came to."""

    at: datetime
    started: int = 0
    silent_runs: int = 0
    breakers_closed: int = 0
    maintained: bool = False
    targets: Admission = field(default_factory=Admission)
    # Old runs whose details are to be removed now: from here to there.
    removes_details: tuple[datetime, datetime] | None = None


def tick(
    connection: Connection,
    now: datetime,
    plan: DispatchPlan,
    chance: Callable[[], float],
    *,
    node: str,
    silence: timedelta,
    maintained_at: datetime | None,
    details_kept_from: datetime | None,
) -> DispatchTick:
    """For whoever holds the dispatcher's row."""
    done = DispatchTick(now)
    done.silent_runs = dispatch_state.end_silent_runs(connection, now)
    if maintained_at is not None and is_maintenance_due(maintained_at, now, plan.maintenance_at):
        done.maintained = True
        done.breakers_closed = daily.close_breakers(connection)
        daily.roll_over_counters(connection, now)
        daily.recall_what_was_put_off(connection, now)
        ensure_partitions(connection, now)
        kept_from = now - plan.keep_details
        begins = details_kept_from if details_kept_from and details_kept_from < kept_from else None
        done.removes_details = (begins or datetime.min.replace(tzinfo=now.tzinfo), kept_from)
    counts = job_lists.counts(connection, silence)
    wanted = market_jobs(connection, now, plan, chance)
    wanted += source_jobs(connection, now, plan, chance)
    done.targets = target_queue.schedule(connection, now, plan.limits, plan.pace)
    wanted += targets_jobs(connection, plan)
    room = max(0, plan.most_pending - counts.pending)
    done.started = job_queue.add_missing(connection, wanted[:room])
    tell_lost_nodes(connection, now, silence)
    tell_waiting(connection, now, counts.oldest_pending_seconds)
    dispatch_state.note_tick(
        connection,
        node=node,
        last_tick_at=now,
        last_started=done.started,
        maintained_at=now if done.maintained or maintained_at is None else maintained_at,
    )
    return done


def market_jobs(
    connection: Connection, now: datetime, plan: DispatchPlan, chance: Callable[[], float]
) -> list[NewJob]:
    return [
        NewJob(
            spider=verdict.spider,
            arguments={"market": market.id, "trigger": "SCHEDULED"},
            work=work_of(verdict.spider, {"market": market.id}),
            wait=spread(chance(), seconds=plan.spread_seconds).total_seconds(),
            priority=PRIORITY,
        )
        for market in dispatch_state.due_markets(connection, now)
        for verdict in (judge(market, spider, now) for spider in SHARES)
        if verdict.starts
    ]


def source_jobs(
    connection: Connection, now: datetime, plan: DispatchPlan, chance: Callable[[], float]
) -> list[NewJob]:
    """Verification of what was handed over and is in no market."""
    return [
        NewJob(
            spider="verification",
            arguments={"source": source_id, "trigger": "SCHEDULED"},
            work=work_of("verification", {"source": source_id}),
            wait=spread(chance(), seconds=plan.spread_seconds).total_seconds(),
            priority=PRIORITY,
        )
        for source_id in dispatch_state.due_sources(connection, now)
    ]


def targets_jobs(connection: Connection, plan: DispatchPlan) -> list[NewJob]:
    waiting = dispatch_state.targets_waiting(connection)
    wanted = target_jobs(waiting, per_job=plan.targets_per_job, most=plan.most_target_jobs)
    # Each has a work of its own, so that several nodes share the queue.
    works = [work_of("targets", {}), *(f"targets {number}" for number in range(2, wanted + 1))]
    return [
        NewJob(spider="targets", arguments={"trigger": "SCHEDULED"}, work=work, priority=PRIORITY)
        for work in works[:wanted]
    ]


def verdicts(connection: Connection, now: datetime) -> list[tuple[str, ScheduleDecision]]:
    """For a person who asks: what would start, and why the rest would not."""
    return [
        (market.id, judge(market, spider, now))
        for market in dispatch_state.all_markets(connection)
        for spider in SHARES
    ] + [
        (f"source {source_id}", ScheduleDecision("verification"))
        for source_id in dispatch_state.due_sources(connection, now)
    ]


def tell_lost_nodes(connection: Connection, now: datetime, silence: timedelta) -> None:
    lost = node_rows.lost(connection, silence)
    for name, last_seen in lost:
        alert_rows.raise_alert(
            connection,
            kind="node_lost",
            subject=name,
            message=f"The node {name} was last heard of at {last_seen:%H:%M:%S} UTC; "
            "its jobs are run by the others.",
            severity="P2",
            now=now,
        )
    alert_rows.resolve_others(connection, kind="node_lost", subjects=[name for name, _ in lost], now=now)


def tell_waiting(connection: Connection, now: datetime, seconds: float | None) -> None:
    if seconds is not None and seconds > OLDEST_PENDING.total_seconds():
        alert_rows.raise_alert(
            connection,
            kind="jobs_waiting",
            subject="queue",
            message=f"A job has waited for {seconds / 60:.0f} minutes: all slots are taken, or what it "
            "works at is still under way. Add a node, or raise max_proc_per_cpu.",
            severity="P2",
            now=now,
        )
    else:
        alert_rows.resolve_alert(connection, kind="jobs_waiting", subject="queue", now=now)
