"""Targets: due dates, admission, pauses, and how a check changes a target."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricewatch.rules.target_schedule import (
    DEFAULT_SCHEDULE,
    Pause,
    QueueCandidate,
    QueuedCounts,
    QueueLimits,
    Rejection,
    TargetOutcome,
    TargetStatus,
    Weight,
    admit,
    check_schedule,
    is_stale,
    next_due,
    outcome_weight,
    pause_after,
    state_after_check,
)

NOW = datetime(2026, 3, 1, 12, 34, 56, tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (DEFAULT_SCHEDULE, datetime(2026, 3, 1, 16, tzinfo=UTC)),
        ("*/5 * * * *", datetime(2026, 3, 1, 12, 35, tzinfo=UTC)),
        ("34 12 * * *", datetime(2026, 3, 2, 12, 34, tzinfo=UTC)),
        ("0 0 29 2 *", datetime(2028, 2, 29, tzinfo=UTC)),
        ("0 9 * * MON", datetime(2026, 3, 2, 9, tzinfo=UTC)),
    ],
)
def test_next_due_is_the_first_scheduled_time_after_now(schedule: str, expected: datetime) -> None:
    assert check_schedule(schedule) is None
    assert next_due(schedule, NOW) == expected
    # The result does not depend on the time zone of `now`.
    assert next_due(schedule, NOW.astimezone()) == expected


@pytest.mark.parametrize(
    "schedule",
    [
        "",
        "daily",
        "* * * *",
        "* * * * * *",
        "61 * * * *",
        "0 0 30 2 *",
        "0 0 * * 9",
        "*/0 * * * *",
        "- - - - -",
    ],
)
def test_invalid_schedules_are_refused(schedule: str) -> None:
    assert check_schedule(schedule)


@given(st.text(max_size=20))
def test_any_text_is_a_schedule_or_an_error(text: str) -> None:
    if check_schedule(text) is None:
        assert next_due(text, NOW) > NOW


OFFERS = st.lists(
    st.builds(
        QueueCandidate,
        id=st.integers(1, 10**6),
        adapter_id=st.sampled_from("abc"),
        source_id=st.sampled_from("xyz"),
        seconds=st.floats(0, 100),
    ),
    max_size=60,
    unique_by=lambda one: one.id,
)


@given(
    OFFERS,
    st.dictionaries(st.sampled_from("xyz"), st.integers(0, 20)),
    st.sets(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"))),
    st.integers(0, 40),
    st.integers(0, 20),
)
def test_admission_loses_no_target_and_respects_the_limits(
    offered: list[QueueCandidate],
    pending: dict[str, int],
    disabled: set[tuple[str, str]],
    most: int,
    per_source: int,
) -> None:
    waiting = QueuedCounts(sum(pending.values()), Counter(pending))
    limits = QueueLimits(most_pending=most, most_pending_per_source=per_source)
    accepted, rejected = admit(offered, waiting, disabled, limits)
    assert sorted([*accepted, *(one.id for one in rejected)]) == sorted(one.id for one in offered)
    assert accepted == [one.id for one in offered if one.id in set(accepted)]
    assert waiting.total + len(accepted) <= max(most, waiting.total)
    by_id = {one.id: one for one in offered}
    admitted = Counter(by_id[target_id].source_id for target_id in accepted)
    for source_id, count in admitted.items():
        assert pending.get(source_id, 0) + count <= per_source
    pairs = {(by_id[target_id].adapter_id, by_id[target_id].source_id) for target_id in accepted}
    assert pairs.isdisjoint(disabled)
    for one in rejected:
        assert one.retry_after_ms > 0
        pair = (by_id[one.id].adapter_id, by_id[one.id].source_id)
        assert (one.reason is Rejection.ADAPTER_DISABLED) == (pair in disabled)
    # No target is rejected while the queue has space.
    if not disabled and not rejected:
        assert len(accepted) == len(offered)


@pytest.mark.parametrize(
    ("accepted", "rejected", "before", "expected"),
    [
        (10, {}, 0, Pause(0, 0.0)),
        (0, {}, 5, Pause(0, 0.0)),
        (5, {Rejection.QUEUE_FULL: 5}, 3, Pause(0, 0.0)),
        (4, {Rejection.QUEUE_FULL: 5}, 0, Pause(1, 60.0)),
        (4, {Rejection.RATE_LIMITED: 3, Rejection.QUEUE_FULL: 2}, 1, Pause(2, 120.0)),
        (0, {Rejection.QUEUE_FULL: 1}, 5, Pause(6, 1920.0)),
        (0, {Rejection.QUEUE_FULL: 1}, 6, Pause(7, 3600.0)),
        (0, {Rejection.QUEUE_FULL: 1}, 500, Pause(501, 3600.0)),
        # A disabled adapter waits for a person; the others need not pause.
        (1, {Rejection.ADAPTER_DISABLED: 99}, 0, Pause(0, 0.0)),
    ],
)
def test_pause_doubles_while_most_targets_are_rejected(
    accepted: int, rejected: dict[Rejection, int], before: int, expected: Pause
) -> None:
    found = pause_after(accepted, rejected, before)
    assert found == expected
    assert found.is_alarming == (expected.seconds > 1800)


@pytest.mark.parametrize(
    ("outcome", "reason", "weight"),
    [
        (TargetOutcome.SUCCESS, None, Weight.GOOD),
        (TargetOutcome.DROPPED, "OOS_NO_PRICE", Weight.GOOD),
        (TargetOutcome.FAILED, "PRICE_NOT_FOUND", Weight.FAILURE),
        (TargetOutcome.FAILED, "http_error_404", Weight.FAILURE),
        (TargetOutcome.DROPPED, "UNKNOWN_AVAILABILITY", Weight.FAILURE),
        (TargetOutcome.DROPPED, "BLOCKED_BY_ROBOTS_TXT", Weight.FAILURE),
        (TargetOutcome.DROPPED, "DUPLICATE_WITHIN_RUN", Weight.NOTHING),
        (TargetOutcome.QUARANTINED, "VALIDATION_FAILED", Weight.NOTHING),
        (TargetOutcome.FAILED, "no_turn", Weight.NOTHING),
    ],
)
def test_weight_depends_on_outcome_and_reason(
    outcome: TargetOutcome, reason: str | None, weight: Weight
) -> None:
    assert outcome_weight(outcome, reason) is weight


@given(st.lists(st.sampled_from(Weight), max_size=40))
def test_broken_is_five_failures_in_a_row_and_nothing_else(weights: list[Weight]) -> None:
    status, failures, streak = TargetStatus.ACTIVE, 0, 0
    for weight in weights:
        found = state_after_check(status, failures, weight, schedule=DEFAULT_SCHEDULE, now=NOW)
        streak = 0 if weight is Weight.GOOD else streak + (weight is Weight.FAILURE)
        assert found.consecutive_failures == streak
        assert (found.status is TargetStatus.BROKEN) == (streak >= 5)
        wait = found.next_due_at - NOW
        assert wait == timedelta(days=7) if streak >= 5 else wait <= timedelta(hours=4)
        status, failures = found.status, found.consecutive_failures


def test_paused_target_stays_paused_after_any_check() -> None:
    for weight in Weight:
        found = state_after_check(TargetStatus.PAUSED, 4, weight, schedule=DEFAULT_SCHEDULE, now=NOW)
        assert found.status is TargetStatus.PAUSED


def test_stale_is_over_a_day() -> None:
    assert not is_stale(NOW - timedelta(hours=24), NOW)
    assert is_stale(NOW - timedelta(hours=24, seconds=1), NOW)
