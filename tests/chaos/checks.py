"""What must hold when everything has calmed down: each promise, how much was checked, what broke it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pricewatch.bazaar.client import LogEntry, TruthListing
from pricewatch.simulation.store_audit import AuditRule, AuditVerdict, Span, Stored, Watching, audit
from tests.chaos.cluster import Cluster
from tests.chaos.watcher import Watcher

REACHED = (
    AuditRule.NOT_KNOWN,
    AuditRule.STORED_TWICE,
    AuditRule.NO_ROW,
    AuditRule.STALE,
    AuditRule.INACTIVE,
    AuditRule.WITHOUT_PRICE,
    AuditRule.STILL_ACTIVE,
)


@dataclass(slots=True)
class Check:
    promise: str
    checked: int
    broken: list[str] = field(default_factory=list)


def compare(
    truth: Iterable[TruthListing], stored: dict[str, Stored], final: Span, looks: Sequence[datetime]
) -> list[Check]:
    """What is stored against what the marketplace knows, after one last complete sweep."""
    watching = Watching([final], looks, patience=timedelta(), long_patience=timedelta())
    verdict = audit(truth, stored, watching)
    return [
        _promise("truth is reached: every listing, its price, what is gone", verdict, *REACHED),
        _promise(
            "no price is stored that was never shown", verdict, AuditRule.NEVER_SHOWN, AuditRule.WRONG_AGE
        ),
        _promise("no stock is stored that nothing said", verdict, AuditRule.NEVER_SAID),
        _promise("no history row repeats the one before", verdict, AuditRule.REPEATED),
        _promise("nothing that was up is taken for gone", verdict, AuditRule.WRONGLY_GONE),
    ]


def at_all_times(watcher: Watcher) -> list[Check]:
    return [
        Check("no checkpoint is ahead of its data", watcher.checkpoints, watcher.ahead),
        Check("history is in order", watcher.history_rows, watcher.late),
        Check("what was committed is never lost", watcher.history_rows, watcher.lost),
    ]


def at_rest(cluster: Cluster) -> list[Check]:
    """Runs, jobs, leases: nothing is left hanging in the database."""
    return [
        _none(
            cluster,
            "every run is in an end state",
            "runs",
            "SELECT 'run ' || id || ' of ' || spider || ' on ' || node FROM runs WHERE status = 'running'",
        ),
        _none(
            cluster,
            "every job is in an end state",
            "jobs",
            "SELECT 'job ' || job_id || ' is ' || state FROM jobs WHERE ended_at IS NULL",
        ),
        _none(
            cluster,
            "every lease is returned",
            "targets",
            "SELECT 'target ' || id || ' is leased' FROM targets WHERE queue_state = 'leased'"
            " UNION ALL SELECT 'turn ' || h.key || ' is held' FROM rate_limits, jsonb_each(holders) h"
            " WHERE (h.value->>'until')::float8 > extract(epoch FROM now())",
        ),
        _none(
            cluster,
            "nothing half collected is left",
            "runs",
            "SELECT 'run ' || run_id || ' left ' || count(*) || ' cards' FROM collected_cards"
            " GROUP BY run_id",
        ),
    ]


def budget(log: Iterable[LogEntry], per_second: int) -> Check:
    """By the marketplace's own log: in no second more requests than allowed."""
    times = sorted(entry.time for entry in log)
    check = Check("the budget is never exceeded", len(times))
    for seconds in (1, 10):
        most, at = busiest(times, seconds)
        if most > per_second * seconds:
            when = datetime.fromtimestamp(at, UTC)
            offsets = " ".join(f"{1000 * (each - at):.0f}" for each in times if 0 <= each - at < seconds)
            check.broken.append(f"{most} requests within {seconds} s at {when:%H:%M:%S}, at ms {offsets}")
    return check


def busiest(times: Sequence[float], window: float) -> tuple[int, float]:
    """The most requests in any sliding window, and when that began; times are sorted."""
    most, at, first = 0, 0.0, 0
    for last, moment in enumerate(times):
        while moment - times[first] >= window:
            first += 1
        if last - first + 1 > most:
            most, at = last - first + 1, times[first]
    return most, at


def _promise(promise: str, verdict: AuditVerdict, *rules: AuditRule) -> Check:
    broken = [f"{rule}: {what}" for rule in rules for what in verdict.broken.get(rule, [])]
    return Check(promise, sum(verdict.checked[rule] for rule in rules), broken)


def _none(cluster: Cluster, promise: str, of_table: str, query: str) -> Check:
    return Check(
        promise,
        int(cluster.value(f"SELECT count(*) FROM {of_table}")),
        [str(what) for (what,) in cluster.rows(query)],
    )
