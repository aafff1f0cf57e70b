"""One tick of the dispatcher, in one transaction: queue a job for everything that is due."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Connection

from pricewatch.rules.market_schedule import (
    INTERVAL_SHARES,
    OLDEST_PENDING,
    ScheduleDecision,
    decide_start,
    exclusion_key,
    is_maintenance_due,
    spread,
    target_jobs,
)
from pricewatch.scheduling.dispatch_settings import DispatchSettings
from pricewatch.store.engine.schema import ensure_partitions
from pricewatch.store.operations import alert_rows, daily_maintenance
from pricewatch.store.queues import dispatch_state, job_lists, job_queue, node_rows, target_queue
from pricewatch.store.queues.job_queue import NewJob
from pricewatch.store.queues.target_queue import Admission

# Lower than jobs that a person schedules.
PRIORITY = -1.0


@dataclass(slots=True)
class DispatchTick:
    """What one tick did."""

    at: datetime
    started: int = 0
    silent_runs: int = 0
    breakers_closed: int = 0
    maintained: bool = False
    targets: Admission = field(default_factory=Admission)
    # Maintenance removes the details of runs between these times.
    removes_details: tuple[datetime, datetime] | None = None


def tick(
    connection: Connection,
    now: datetime,
    dispatch_settings: DispatchSettings,
    chance: Callable[[], float],
    *,
    node: str,
    silence: timedelta,
    maintained_at: datetime | None,
    details_kept_from: datetime | None,
) -> DispatchTick:
    """Run one tick. The caller must hold the lock on the dispatcher's row."""
    done = DispatchTick(now)
    done.silent_runs = dispatch_state.close_silent_runs(connection, now)
    if maintained_at is not None and is_maintenance_due(maintained_at, now, dispatch_settings.maintenance_at):
        done.maintained = True
        done.breakers_closed = daily_maintenance.reset_breakers(connection)
        daily_maintenance.add_up_and_expire(connection, now)
        daily_maintenance.undo_future_delays(connection, now)
        ensure_partitions(connection, now)
        kept_from = now - dispatch_settings.keep_details
        begins = details_kept_from if details_kept_from and details_kept_from < kept_from else None
        done.removes_details = (begins or datetime.min.replace(tzinfo=now.tzinfo), kept_from)
    counts = job_lists.counts(connection, silence)
    due = market_jobs(connection, now, dispatch_settings, chance)
    due += source_jobs(connection, now, dispatch_settings, chance)
    done.targets = target_queue.schedule(connection, now, dispatch_settings.limits, dispatch_settings.pace)
    due += targets_jobs(connection, dispatch_settings)
    free = max(0, dispatch_settings.most_pending - counts.pending)
    done.started = job_queue.add_missing(connection, due[:free])
    alert_lost_nodes(connection, now, silence)
    alert_waiting_jobs(connection, now, counts.oldest_pending_seconds)
    dispatch_state.record_tick(
        connection,
        node=node,
        last_tick_at=now,
        last_started=done.started,
        maintained_at=now if done.maintained or maintained_at is None else maintained_at,
    )
    return done


def market_jobs(
    connection: Connection, now: datetime, dispatch_settings: DispatchSettings, chance: Callable[[], float]
) -> list[NewJob]:
    return [
        NewJob(
            spider=decision.spider,
            arguments={"market": market.id, "trigger": "SCHEDULED"},
            work=exclusion_key(decision.spider, {"market": market.id}),
            wait=spread(chance(), seconds=dispatch_settings.spread_seconds).total_seconds(),
            priority=PRIORITY,
        )
        for market in dispatch_state.due_markets(connection, now)
        for decision in (decide_start(market, spider, now) for spider in INTERVAL_SHARES)
        if decision.starts
    ]


def source_jobs(
    connection: Connection, now: datetime, dispatch_settings: DispatchSettings, chance: Callable[[], float]
) -> list[NewJob]:
    """Verification of listings that were requested for verification and belong to no market."""
    return [
        NewJob(
            spider="verification",
            arguments={"source": source_id, "trigger": "SCHEDULED"},
            work=exclusion_key("verification", {"source": source_id}),
            wait=spread(chance(), seconds=dispatch_settings.spread_seconds).total_seconds(),
            priority=PRIORITY,
        )
        for source_id in dispatch_state.due_sources(connection, now)
    ]


def targets_jobs(connection: Connection, dispatch_settings: DispatchSettings) -> list[NewJob]:
    waiting = dispatch_state.count_pending_targets(connection)
    count = target_jobs(
        waiting, per_job=dispatch_settings.targets_per_job, most=dispatch_settings.most_target_jobs
    )
    # A different `work` for each job lets several nodes share the queue.
    works = [exclusion_key("targets", {}), *(f"targets {number}" for number in range(2, count + 1))]
    return [
        NewJob(spider="targets", arguments={"trigger": "SCHEDULED"}, work=work, priority=PRIORITY)
        for work in works[:count]
    ]


def explain_schedule(connection: Connection, now: datetime) -> list[tuple[str, ScheduleDecision]]:
    """Explain the schedule: what would start, and why the rest would not."""
    return [
        (market.id, decide_start(market, spider, now))
        for market in dispatch_state.all_markets(connection)
        for spider in INTERVAL_SHARES
    ] + [
        (f"source {source_id}", ScheduleDecision("verification"))
        for source_id in dispatch_state.due_sources(connection, now)
    ]


def alert_lost_nodes(connection: Connection, now: datetime, silence: timedelta) -> None:
    lost = node_rows.find_lost(connection, silence)
    for name, last_seen in lost:
        alert_rows.raise_alert(
            connection,
            kind="node_lost",
            subject=name,
            message=f"The last heartbeat of node {name} was at {last_seen:%H:%M:%S} UTC; "
            "other nodes run its jobs.",
            severity="P2",
            now=now,
        )
    alert_rows.resolve_all_except(connection, kind="node_lost", subjects=[name for name, _ in lost], now=now)


def alert_waiting_jobs(connection: Connection, now: datetime, seconds: float | None) -> None:
    if seconds is not None and seconds > OLDEST_PENDING.total_seconds():
        alert_rows.raise_alert(
            connection,
            kind="jobs_waiting",
            subject="queue",
            message=f"A job has waited for {seconds / 60:.0f} minutes: all slots are taken, or another job "
            "for the same market or source is still running. Add a node, or raise max_proc_per_cpu.",
            severity="P2",
            now=now,
        )
    else:
        alert_rows.resolve_alert(connection, kind="jobs_waiting", subject="queue", now=now)
