"""The guarantees that are checked after the run: how much was checked, and each violation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pricewatch.bazaar.client import LogEntry, TruthListing
from pricewatch.simulation.audit_results import AuditRule, AuditVerdict
from pricewatch.simulation.audited_listings import AuditedListing, CrawlCoverage
from pricewatch.simulation.listing_audit import audit_listings
from pricewatch.simulation.time_spans import Span
from tests.chaos.cluster import Cluster
from tests.chaos.invariants import InvariantMonitor

STORED_STATE = (
    AuditRule.NOT_KNOWN,
    AuditRule.STORED_TWICE,
    AuditRule.NO_ROW,
    AuditRule.STALE,
    AuditRule.INACTIVE,
    AuditRule.WITHOUT_PRICE,
    AuditRule.STILL_ACTIVE,
)
# The rate limiter guarantees its limit over any window of this many seconds.
RATE_WINDOW = 10


@dataclass(slots=True)
class GuaranteeCheck:
    guarantee: str
    checked: int
    broken: list[str] = field(default_factory=list)


def compare_with_truth(
    truth: Iterable[TruthListing],
    stored: dict[str, AuditedListing],
    final_cycle: Span,
    verified_at: Sequence[datetime],
) -> list[GuaranteeCheck]:
    """Compare the stored listings with the truth, after a last complete sweep."""
    coverage = CrawlCoverage([final_cycle], verified_at, grace=timedelta(), long_grace=timedelta())
    verdict = audit_listings(truth, stored, coverage)
    return [
        _guarantee("the stored listings and prices match the truth", verdict, *STORED_STATE),
        _guarantee(
            "no price is stored that was never shown",
            verdict,
            AuditRule.PRICE_NEVER_SHOWN,
            AuditRule.WRONG_AGE,
        ),
        _guarantee(
            "no availability is stored that was never shown", verdict, AuditRule.AVAILABILITY_NEVER_SHOWN
        ),
        _guarantee("no history row repeats the previous row", verdict, AuditRule.REPEATED),
        _guarantee("no online listing is marked as gone", verdict, AuditRule.WRONGLY_GONE),
    ]


def check_invariants(monitor: InvariantMonitor) -> list[GuaranteeCheck]:
    return [
        GuaranteeCheck("no checkpoint is ahead of its data", monitor.checkpoints, monitor.ahead),
        GuaranteeCheck("history is in order", monitor.history_rows, monitor.late),
        GuaranteeCheck("committed rows are never lost", monitor.history_rows, monitor.lost),
    ]


def check_final_state(cluster: Cluster) -> list[GuaranteeCheck]:
    """GuaranteeCheck that no run, job, lease or collected card is left unfinished in the database."""
    return [
        _check_no_rows(
            cluster,
            "every run has ended",
            "runs",
            "SELECT 'run ' || id || ' of ' || spider || ' on ' || node FROM runs WHERE status = 'running'",
        ),
        _check_no_rows(
            cluster,
            "every job has ended",
            "jobs",
            "SELECT 'job ' || job_id || ' is ' || state FROM jobs WHERE ended_at IS NULL",
        ),
        _check_no_rows(
            cluster,
            "every lease is released",
            "targets",
            "SELECT 'target ' || id || ' is leased' FROM targets WHERE queue_state = 'leased'"
            " UNION ALL SELECT 'slot ' || h.key || ' is reserved' FROM rate_limits, jsonb_each(holders) h"
            " WHERE (h.value->>'until')::float8 > extract(epoch FROM now())",
        ),
        _check_no_rows(
            cluster,
            "no collected cards are left",
            "runs",
            "SELECT 'run ' || run_id || ' left ' || count(*) || ' cards' FROM collected_cards"
            " GROUP BY run_id",
        ),
    ]


def check_rate_limit(log: Iterable[LogEntry], per_second: float) -> GuaranteeCheck:
    """GuaranteeCheck by the log of the marketplace that no ten seconds had more requests than allowed."""
    times = sorted(entry.time for entry in log)
    check = GuaranteeCheck("the rate limit is never exceeded over ten seconds", len(times))
    count, at = busiest(times, RATE_WINDOW)
    if count > per_second * RATE_WINDOW:
        when = datetime.fromtimestamp(at, UTC)
        check.broken.append(f"{count} requests within {RATE_WINDOW} s at {when:%H:%M:%S}")
    return check


def busiest(times: Sequence[float], window: float) -> tuple[int, float]:
    """Return the highest number of requests in a sliding window, and its begin; `times` must be sorted."""
    highest, at, first = 0, 0.0, 0
    for last, moment in enumerate(times):
        while moment - times[first] >= window:
            first += 1
        if last - first + 1 > highest:
            highest, at = last - first + 1, times[first]
    return highest, at


def _guarantee(guarantee: str, verdict: AuditVerdict, *rules: AuditRule) -> GuaranteeCheck:
    broken = [f"{rule}: {case}" for rule in rules for case in verdict.broken.get(rule, [])]
    return GuaranteeCheck(guarantee, sum(verdict.checked[rule] for rule in rules), broken)


def _check_no_rows(cluster: Cluster, guarantee: str, table: str, query: str) -> GuaranteeCheck:
    """GuaranteeCheck that the query returns nothing; the rows of the table are what was checked."""
    return GuaranteeCheck(
        guarantee,
        int(cluster.value(f"SELECT count(*) FROM {table}")),
        [str(description) for (description,) in cluster.rows(query)],
    )
