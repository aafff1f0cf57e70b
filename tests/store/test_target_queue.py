"""The target queue: admission limits, pauses, stale targets, approval, and query plans."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from pricewatch.rules.target_schedule import QueueLimits, Rejection
from pricewatch.store.operations import adapter_status
from pricewatch.store.queues import target_leases, target_queue
from pricewatch.store.queues.target_queue import _DUE, Admission
from pricewatch.store.source_registry import source_rows
from tests.databases import Database
from tests.store.sample_targets import NOW, make_targets, states


def schedule(database: Database, now: Any = NOW, **limits: Any) -> Admission:
    admission: Admission = database.call(target_queue.schedule, now, QueueLimits(**limits))
    return admission


def test_of_10001_due_targets_10000_are_queued_and_1_is_rejected(database: Database) -> None:
    make_targets(database, 10_000, sources=10)
    make_targets(database, 1, sources=11, first=10_010, priority=-1)
    admission = schedule(database)
    assert len(admission.accepted) == 10_000
    (rejected,) = admission.rejected
    assert rejected.reason is Rejection.QUEUE_FULL
    assert rejected.retry_after_ms == 60_000
    # The rejected target stays due and is offered again.
    assert states(database) == {"pending": 10_000, "idle": 1}
    database.do("UPDATE targets SET queue_state = 'idle', next_due_at = NULL WHERE queue_state = 'pending'")
    assert schedule(database).accepted == [rejected.id]
    counted = database.row("SELECT accepted_total, rejected_total FROM target_queue")
    assert (counted.accepted_total, counted.rejected_total) == (10_001, {"queue_full": 1})


def test_source_limit_does_not_affect_other_sources(database: Database) -> None:
    """Even if all sources have the same adapter."""
    make_targets(database, 3_000, sources=2)
    database.do("UPDATE targets SET source_id = 'shop0', priority = 50 WHERE id % 3 <> 0")
    database.do("UPDATE targets SET adapter_id = 'generic'")
    admission = schedule(database)
    by_source = dict(
        database.rows("SELECT source_id, count(*) FROM targets WHERE queue_state = 'pending' GROUP BY 1")
    )
    assert by_source["shop0"] == 1_000
    assert by_source["shop1"] == database.value("SELECT count(*) FROM targets WHERE source_id = 'shop1'")
    assert set(admission.reasons) == {Rejection.QUEUE_FULL}


def test_targets_are_ordered_by_priority_and_due_time(database: Database) -> None:
    for number, (priority, minutes) in enumerate([(0, 5), (7, 1), (0, 9), (-3, 60), (7, 3)]):
        make_targets(database, 1, first=number, due=NOW - timedelta(minutes=minutes), priority=priority)
    make_targets(database, 1, first=9, due=NOW + timedelta(seconds=1), priority=100)
    order = [1 + index for index in (4, 1, 2, 0, 3)]
    assert schedule(database).accepted == order
    leased = database.call(target_leases.lease, "w", NOW, seconds=60, most=3)
    assert [target.id for target in leased] == sorted(
        order, key=lambda target_id: (-[0, 7, 0, -3, 7][target_id - 1], target_id)
    )[:3]


def test_slow_source_gets_no_more_targets_than_it_can_serve_in_time(database: Database) -> None:
    make_targets(database, 300)
    database.do("UPDATE sources SET min_delay_ms = 60000 WHERE id = 'shop0'")
    admission = schedule(database)
    # One a minute: 240 in four hours.
    assert len(admission.accepted) == 240
    assert admission.reasons == {Rejection.RATE_LIMITED: 60}


def test_targets_of_a_disabled_adapter_are_rejected_without_a_pause(database: Database) -> None:
    make_targets(database, 30, sources=3)
    schedule(database)
    database.call(adapter_status.disable, "adapter0", reason="MANUAL", by="Ada", note="", now=NOW)
    assert states(database) == {"pending": 20, "idle": 10}
    database.do("UPDATE targets SET queue_state = 'idle' WHERE adapter_id = 'adapter1'")
    database.do("UPDATE targets SET next_due_at = NULL WHERE adapter_id = 'adapter1' AND id % 2 = 0")
    admission = schedule(database)
    assert admission.reasons == {Rejection.ADAPTER_DISABLED: 10}
    assert {rejected.retry_after_ms for rejected in admission.rejected} == {3_600_000}
    assert admission.paused_until is None
    assert database.call(target_leases.lease, "w", NOW, seconds=60, most=100, source_id="shop0") == []


def test_adapter_disabled_for_one_source_reads_the_others(database: Database) -> None:
    make_targets(database, 30, sources=3)
    database.do("UPDATE targets SET adapter_id = 'generic'")
    schedule(database)
    database.call(adapter_status.disable, "generic", "shop0", reason="MANUAL", by="Ada", note="", now=NOW)
    assert states(database) == {"pending": 20, "idle": 10}
    admission = schedule(database)
    assert admission.reasons == {Rejection.ADAPTER_DISABLED: 10}
    leased = database.call(target_leases.lease, "w", NOW, seconds=60, most=100)
    assert {target.source_id for target in leased} == {"shop1", "shop2"}


def test_pause_doubles_while_most_targets_are_rejected(database: Database) -> None:
    make_targets(database, 40)
    assert schedule(database, most_pending=10).paused_until is None
    now, pauses = NOW, []
    for _ in range(8):
        admission = schedule(database, now, most_pending=10)
        assert admission.paused_until is not None
        pauses.append((admission.paused_until - now).total_seconds())
        paused = schedule(database, now + timedelta(seconds=1), most_pending=10)
        assert (paused.offered, paused.paused_until) == (0, admission.paused_until)
        alert = database.rows("SELECT message FROM alerts WHERE resolved_at IS NULL")
        assert bool(alert) == (pauses[-1] > 1800)
        now = admission.paused_until
    assert pauses == [60, 120, 240, 480, 960, 1920, 3600, 3600]
    # With room in the queue, the pause ends and the alert is resolved.
    database.do("UPDATE targets SET queue_state = 'idle', next_due_at = NULL WHERE queue_state = 'pending'")
    assert schedule(database, now).paused_until is None
    assert database.value("SELECT count(*) FROM alerts WHERE resolved_at IS NULL") == 0


def test_targets_pending_for_a_day_are_stale_until_queued_again(database: Database) -> None:
    make_targets(database, 120)
    schedule(database)
    late = NOW + timedelta(hours=24, seconds=1)
    assert database.call(target_queue.mark_stale, NOW + timedelta(hours=24)) == 0
    assert database.call(target_queue.mark_stale, late) == 120
    assert dict(database.rows("SELECT status, count(*) FROM targets GROUP BY 1")) == {"STALE": 120}
    assert schedule(database, late).offered == 0
    assert "120 targets" in database.value("SELECT message FROM alerts WHERE kind = 'targets_stale'")
    admission = database.call(target_queue.enqueue, [1, 2], late)
    assert admission.accepted == [1, 2]
    assert database.value("SELECT count(*) FROM targets WHERE status = 'ACTIVE'") == 2


def test_approval_starts_targets_and_withdrawal_stops_them(database: Database) -> None:
    make_targets(database, 3, due=None)
    database.do("UPDATE sources SET tos_approved_by = NULL WHERE id = 'shop0'")
    assert schedule(database).offered == 0
    assert database.call(target_queue.enqueue, [1], NOW).offered == 0
    assert database.call(source_rows.approve, "shop0", "Ada", NOW) == 3
    assert len(schedule(database).accepted) == 3
    database.call(source_rows.withdraw_approval, "shop0", NOW)
    assert schedule(database).offered == 0
    assert states(database) == {"idle": 3}


def test_concurrent_cycles_keep_the_limit(database: Database) -> None:
    make_targets(database, 200)
    barrier = threading.Barrier(4)

    def fill() -> None:
        barrier.wait()
        schedule(database, most_pending=50)

    threads = [threading.Thread(target=fill) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert states(database) == {"pending": 50, "idle": 150}


@pytest.mark.parametrize("analyzed", [True, False])
def test_due_targets_are_read_from_the_index(database: Database, analyzed: bool) -> None:
    """With and without planner statistics."""
    make_targets(database, 20_000, sources=4)
    make_targets(database, 2_000, sources=4, first=50_000, due=NOW + timedelta(hours=4), priority=9)
    if analyzed:
        database.do("ANALYZE")
    with database.engine.connect() as connection:
        plan = connection.execute(
            text(f"EXPLAIN (ANALYZE, COSTS OFF, FORMAT JSON) {_DUE.text}"),
            {"now": NOW, "most": 100, "most_per_source": 50, "min_delay": 2, "rate": 0.5},
        ).scalar_one()
    nodes = list(_nodes(plan[0]["Plan"]))
    on_targets = [node for node in nodes if node.get("Relation Name") == "targets"]
    assert on_targets
    assert {node["Node Type"] for node in on_targets} <= {"Index Scan", "Index Only Scan"}
    assert {node["Index Name"] for node in on_targets} == {"ix_targets_due"}
    # At most the returned rows, and one step for each source and priority.
    assert sum(node["Actual Rows"] * node["Actual Loops"] for node in on_targets) < 300


def _nodes(plan: Any) -> Any:
    yield plan
    for child in plan.get("Plans", []):
        yield from _nodes(child)
