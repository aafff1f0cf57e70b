"""Scheduling of targets: due dates, admission to the queue, pauses, and when a target is broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from cronsim import CronSim, CronSimError

DEFAULT_SCHEDULE = "0 */4 * * *"
LOWEST_PRIORITY, HIGHEST_PRIORITY = -100, 100
MOST_PENDING = 10_000
MOST_PENDING_PER_SOURCE = 1_000
LONGEST_BACKLOG_SECONDS = 4 * 3600
RETRY_AFTER_SECONDS = 60.0
RETRY_AFTER_DISABLED_SECONDS = 3600.0
LONGEST_PAUSE_SECONDS = 3600.0
ALERT_PAUSE_SECONDS = 1800.0
STALE_AFTER = timedelta(hours=24)
FAILURES_TO_BE_BROKEN = 5
RECHECK_AFTER = timedelta(days=7)


class TargetStatus(StrEnum):
    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    BROKEN = "BROKEN"
    STALE = "STALE"


class TargetOutcome(StrEnum):
    """How a check of a target ended."""

    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    DROPPED = "DROPPED"
    QUARANTINED = "QUARANTINED"


class Rejection(StrEnum):
    """Why the queue rejected a target."""

    QUEUE_FULL = "queue_full"
    ADAPTER_DISABLED = "adapter_disabled"
    RATE_LIMITED = "rate_limited"


class Weight(StrEnum):
    """How a check counts for the target."""

    GOOD = "good"
    FAILURE = "failure"
    # Quarantined, a duplicate, or not requested: counts neither as success nor as failure.
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """Queue limits, and how long scheduling pauses when they are exceeded."""

    most_pending: int = MOST_PENDING
    most_pending_per_source: int = MOST_PENDING_PER_SOURCE
    longest_backlog: float = LONGEST_BACKLOG_SECONDS
    retry_after: float = RETRY_AFTER_SECONDS
    longest_pause: float = LONGEST_PAUSE_SECONDS


@dataclass(frozen=True, slots=True)
class QueueCandidate:
    """A target that is due to enter the queue; `seconds` is the interval between requests to its site."""

    id: int
    adapter_id: str
    source_id: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Rejected:
    id: int
    reason: Rejection
    retry_after_ms: int


@dataclass(slots=True)
class QueuedCounts:
    """The number of targets that are queued already."""

    total: int = 0
    by_source: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Pause:
    rejected_cycles: int
    seconds: float

    @property
    def is_alarming(self) -> bool:
        return self.seconds > ALERT_PAUSE_SECONDS


@dataclass(frozen=True, slots=True)
class TargetState:
    """The state of a target after a check."""

    status: TargetStatus
    consecutive_failures: int
    next_due_at: datetime


def check_schedule(expression: str) -> str | None:
    """Return why the expression is not a valid schedule, or None if it is valid."""
    if len(expression.split()) != 5:
        return "a schedule has five parts: minute, hour, day of month, month, day of week"
    try:
        next(CronSim(expression, datetime(2026, 1, 1, tzinfo=UTC)))
    except (CronSimError, ValueError, TypeError, AssertionError) as error:
        # cronsim fails an assertion, without a message, on some invalid expressions.
        return str(error).lower() or "it cannot be read"
    except StopIteration:
        return "there is no such day"
    return None


def next_due(schedule: str, now: datetime) -> datetime:
    """Return the first scheduled time after now, in UTC."""
    moment: datetime = next(CronSim(schedule, now.astimezone(UTC)))
    return moment


def admit(
    offered: Iterable[QueueCandidate],
    waiting: QueuedCounts,
    disabled: Container[tuple[str, str]] = (),
    limits: QueueLimits | None = None,
) -> tuple[list[int], list[Rejected]]:
    """Return the accepted ids in their order, and the rejected ones with reason and retry delay.

    Every target is in one of the two lists. `disabled` has the disabled (adapter, source) pairs.
    """
    limits = limits or QueueLimits()
    total, by_source = waiting.total, Counter(waiting.by_source)
    accepted: list[int] = []
    rejected: list[Rejected] = []
    for one in offered:
        backlog = by_source[one.source_id] * one.seconds
        reason, wait = None, limits.retry_after
        if (one.adapter_id, one.source_id) in disabled:
            reason, wait = Rejection.ADAPTER_DISABLED, RETRY_AFTER_DISABLED_SECONDS
        elif total >= limits.most_pending or by_source[one.source_id] >= limits.most_pending_per_source:
            reason = Rejection.QUEUE_FULL
        elif backlog >= limits.longest_backlog > 0:
            # At the rate limit of this site, the queue already takes too long.
            reason, wait = Rejection.RATE_LIMITED, max(limits.retry_after, one.seconds)
        if reason is not None:
            rejected.append(Rejected(one.id, reason, round(wait * 1000)))
            continue
        accepted.append(one.id)
        total += 1
        by_source[one.source_id] += 1
    return accepted, rejected


def pause_after(
    accepted: int, rejected: Mapping[Rejection, int], rejected_cycles: int, limits: QueueLimits | None = None
) -> Pause:
    """Pause scheduling if over half of a cycle was rejected: doubled with each such cycle, up to a limit.

    Targets of disabled adapters do not count: they wait for a person, not for space in the queue.
    """
    limits = limits or QueueLimits()
    refused = sum(count for reason, count in rejected.items() if reason is not Rejection.ADAPTER_DISABLED)
    if refused * 2 <= accepted + refused:
        return Pause(0, 0.0)
    cycles = rejected_cycles + 1
    return Pause(cycles, min(limits.retry_after * 2.0 ** min(cycles - 1, 32), limits.longest_pause))


def is_stale(queued_at: datetime, now: datetime, *, after: timedelta = STALE_AFTER) -> bool:
    """Return whether a target has been pending for too long."""
    return now - queued_at > after


# Out of stock without a price is a valid reading of the page, not a failure.
_EXPECTED = frozenset({"OOS_NO_PRICE"})
_WITHOUT_WEIGHT = frozenset(
    {"DUPLICATE_WITHIN_RUN", "no_turn", "no_proxy", "no_browser", "crawl_ending", "store_unavailable"}
)


def outcome_weight(outcome: TargetOutcome, reason: str | None) -> Weight:
    if outcome is TargetOutcome.SUCCESS or reason in _EXPECTED:
        return Weight.GOOD
    if outcome is TargetOutcome.QUARANTINED or reason in _WITHOUT_WEIGHT:
        return Weight.NOTHING
    return Weight.FAILURE


def state_after_check(
    status: TargetStatus,
    consecutive_failures: int,
    weight: Weight,
    *,
    schedule: str,
    now: datetime,
    most_failures: int = FAILURES_TO_BE_BROKEN,
    recheck_after: timedelta = RECHECK_AFTER,
) -> TargetState:
    """Return the new state: five failures in a row make a target BROKEN, one good check ACTIVE again."""
    failures = consecutive_failures
    if weight is Weight.GOOD:
        failures = 0
    elif weight is Weight.FAILURE:
        failures += 1
    if status is not TargetStatus.PAUSED:
        if failures >= most_failures:
            status = TargetStatus.BROKEN
        elif weight is Weight.GOOD:
            status = TargetStatus.ACTIVE
    broken = status is TargetStatus.BROKEN
    return TargetState(status, failures, now + recheck_after if broken else next_due(schedule, now))
