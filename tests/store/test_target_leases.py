"""Leases of targets: each target is processed exactly once, even if workers are killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

from pricewatch import clock
from pricewatch.queued_work import LeasedTarget
from pricewatch.rules.target_schedule import TargetOutcome
from pricewatch.store.queues import target_leases, target_queue
from tests.databases import Database
from tests.store.sample_targets import NOW, make_targets, states
from tests.waiting import until

LEASE_SECONDS = 1.0
CHUNK, PER_TRANSACTION = 50, 25
FIRST_EXPIRY = text("SELECT min(lease_until) FROM targets WHERE queue_state = 'leased'")
_processes = multiprocessing.get_context("forkserver")


def work(database_url: str, number: int, finished: Any, begun: Any) -> None:
    """A worker without a crawl: lease a chunk, record each target, and count the finished ones."""
    begun.wait(60)
    worker = f"worker {number}"
    engine = create_engine(database_url, poolclass=NullPool)
    with engine.connect() as connection:
        while True:
            with connection.begin():
                target_queue.requeue_expired(connection, clock.now())
                leased = target_leases.lease(
                    connection, worker, clock.now(), seconds=LEASE_SECONDS, most=CHUNK
                )
                expires_at = connection.execute(FIRST_EXPIRY).scalar()
            if not leased and expires_at is None:
                return
            if not leased and expires_at is not None:
                # No target is pending, but the lease of another worker may expire.
                time.sleep(max(0.0, (expires_at - clock.now()).total_seconds()) + 0.01)
            for begin in range(0, len(leased), PER_TRANSACTION):
                targets = leased[begin : begin + PER_TRANSACTION]
                with connection.begin():
                    for target in targets:
                        _record(connection, worker, target)
                with finished.get_lock():
                    finished[number] += len(targets)


def _record(connection: Connection, worker: str, target: LeasedTarget) -> None:
    """Record the outcome and the work in one transaction, so that both are stored or neither."""
    insert = text("INSERT INTO work_done (target_id, worker) VALUES (:id, :worker)")
    if target_leases.record_outcome(connection, target, worker, TargetOutcome.SUCCESS, None, clock.now()):
        connection.execute(insert, {"id": target.id, "worker": worker})


@pytest.mark.parametrize("killed", [0, 2])
@pytest.mark.proof
def test_four_workers_drain_10000_targets_each_exactly_once(database: Database, killed: int) -> None:
    make_targets(database, 10_000, sources=10, due=clock.now())
    database.do("CREATE TABLE work_done (target_id bigint, worker text)")
    admission = database.call(target_queue.schedule, clock.now())
    assert (len(admission.accepted), admission.rejected) == (10_000, [])
    finished, begun = _processes.Array("i", 4), _processes.Barrier(4)
    workers = [
        _processes.Process(target=work, args=(database.url, number, finished, begun), daemon=True)
        for number in range(4)
    ]
    for worker in workers:
        worker.start()
    for number, worker in enumerate(workers[:killed]):
        # In the middle of its work, while it holds leases.
        until(lambda number=number: finished[number] > 100, every=0.005)  # type: ignore[misc, operator]
        assert worker.pid
        os.kill(worker.pid, signal.SIGKILL)
    for worker in workers:
        worker.join(60)
        assert worker.exitcode is not None
    assert [worker.exitcode for worker in workers] == [-signal.SIGKILL] * killed + [0] * (4 - killed)
    assert states(database) == {"idle": 10_000}
    assert database.value("SELECT count(*) FROM targets WHERE last_status = 'SUCCESS'") == 10_000
    per_target = Counter(target_id for (target_id,) in database.rows("SELECT target_id FROM work_done"))
    assert len(per_target) == 10_000
    assert set(per_target.values()) == {1}
    assert database.value("SELECT count(DISTINCT worker) FROM work_done") > killed


def test_extended_lease_does_not_expire(database: Database) -> None:
    make_targets(database, 2)
    database.call(target_queue.schedule, NOW)
    for worker in ("alive", "dead"):
        database.call(target_leases.lease, worker, NOW, seconds=60, most=1)
    later = NOW + timedelta(seconds=61)
    assert database.call(target_leases.extend, "alive", NOW + timedelta(seconds=50), seconds=60) == 1
    assert database.call(target_queue.requeue_expired, later) == 1
    (returned,) = database.call(target_leases.lease, "third", later, seconds=60, most=5)
    # The worker that lost the lease cannot record an outcome.
    outcome = (TargetOutcome.FAILED, "too late", later)
    assert not database.call(target_leases.record_outcome, returned, "dead", *outcome)
    assert database.value("SELECT last_status FROM targets WHERE id = :id", id=returned.id) is None


def test_released_target_keeps_its_position(database: Database) -> None:
    make_targets(database, 3)
    database.call(target_queue.schedule, NOW)
    (first,) = database.call(target_leases.lease, "w", NOW, seconds=60, most=1)
    assert database.call(target_leases.release, "w") == 1
    (again,) = database.call(target_leases.lease, "w", NOW, seconds=60, most=1)
    assert first == again


def test_busy_source_is_skipped(database: Database) -> None:
    make_targets(database, 20, sources=2)
    database.call(target_queue.schedule, NOW)
    leased = database.call(target_leases.lease, "w", NOW, seconds=60, most=50, busy=["shop0"])
    assert {target.source_id for target in leased} == {"shop1"}
    assert len(leased) == 10


def test_targets_are_leased_by_id_unless_leased_by_another_worker(database: Database) -> None:
    make_targets(database, 2, due=None)
    first = database.call(target_leases.lease_by_id, "w", [1, 2], NOW, seconds=60)
    assert [target.id for target in first] == [1, 2]
    assert database.call(target_leases.lease_by_id, "other", [1, 2], NOW, seconds=60) == []
    # They were not queued before the lease, so they are idle after it.
    database.call(target_leases.release, "w")
    assert states(database) == {"idle": 2}
