"""The job queue: claims, leases, lost jobs, cancellation and lists."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from pricewatch import clock
from pricewatch.errors import UserError
from pricewatch.store.queues import job_leases, job_lists, job_queue
from pricewatch.store.queues.job_leases import JobResult
from pricewatch.store.queues.job_queue import ClaimedJob, LeaseHolder
from tests.databases import Database

LEASE = timedelta(seconds=30)
HERE, THERE = LeaseHolder("here", "host/1", LEASE), LeaseHolder("there", "host/2", LEASE)


def add(database: Database, count: int = 1, **options: object) -> list[str]:
    return [
        database.call(job_queue.add, "p", "spider", {"n": str(number)}, **options) for number in range(count)
    ]


def claim(database: Database, holder: LeaseHolder = HERE) -> ClaimedJob | None:
    claimed: ClaimedJob | None = database.call(job_queue.claim, holder, ["p"])
    return claimed


def states(database: Database) -> dict[str, int]:
    return dict(database.rows("SELECT state, count(*) FROM jobs GROUP BY 1"))


def test_concurrent_nodes_claim_each_job_once(database: Database) -> None:
    add(database, 120)
    # Jobs with the same work must not run at the same time.
    for _ in range(40):
        database.call(job_queue.add, "p", "sweep", {"market": "m"})

    def work(number: int) -> list[str]:
        claimed, holder = [], LeaseHolder(f"node {number}", f"host/{number}", LEASE)
        while (job := claim(database, holder)) is not None:
            if job.spider == "sweep":
                running = "SELECT count(*) FROM jobs WHERE state = 'running' AND work = 'market m'"
                assert database.value(running) == 1
                assert database.call(job_leases.record_result, holder, JobResult(job.id, "finished", 0))
            claimed.append(job.job_id)
        return claimed

    with ThreadPoolExecutor(6) as executor:
        claims = Counter(job for jobs_of_node in executor.map(work, range(6)) for job in jobs_of_node)
    while (job := claim(database)) is not None:
        claims[job.job_id] += 1
        database.call(job_leases.record_result, HERE, JobResult(job.id, "finished", 0))
    assert len(claims) == 160
    assert set(claims.values()) == {1}


def test_job_is_not_claimed_before_its_time_or_for_another_project(database: Database) -> None:
    add(database, wait=timedelta(hours=1))
    assert claim(database) is None
    assert database.call(job_queue.claim, HERE, ["another"]) is None


def test_lost_job_is_requeued_until_the_last_attempt(database: Database) -> None:
    add(database)
    for attempt in (1, 2, 3):
        job = claim(database)
        assert job is not None
        assert job.attempts == attempt
        assert database.call(job_leases.requeue_lost, clock.now(), silence=LEASE) == []
        database.do("UPDATE jobs SET lease_until = now() - interval '1 s'")
        (lost,) = database.call(job_leases.requeue_lost, clock.now(), silence=LEASE)
    assert lost.state == "failed"
    assert "was lost during attempt 3" in database.value("SELECT reason FROM jobs")


def test_job_with_a_run_heartbeat_is_not_lost(database: Database) -> None:
    (job_id,) = add(database)
    claim(database)
    now = clock.now()
    database.do("UPDATE jobs SET lease_until = now() - interval '1 s'")
    database.do(
        "INSERT INTO runs (spider, job_id, started_at, heartbeat_at) VALUES ('targets', :job, :now, :now)",
        job=job_id,
        now=now,
    )
    assert database.call(job_leases.requeue_lost, now, silence=LEASE) == []
    later = now + LEASE + timedelta(seconds=1)
    assert len(database.call(job_leases.requeue_lost, later, silence=LEASE)) == 1
    assert database.value("SELECT status FROM runs") == "stale"


def test_collected_cards_of_a_lost_job_are_deleted(database: Database) -> None:
    (job_id,) = add(database)
    claim(database)
    run_id = open_run(database, "discovery", job_id)
    add_collected_card(database, run_id)
    database.do("UPDATE jobs SET lease_until = now() - interval '1 s'")
    assert len(database.call(job_leases.requeue_lost, clock.now() + 2 * LEASE, silence=LEASE)) == 1
    assert database.value("SELECT status FROM runs") == "stale"
    assert database.value("SELECT count(*) FROM collected_cards") == 0


@pytest.mark.parametrize("failed", [True, False])
def test_runs_of_a_killed_process_are_closed_with_its_job(database: Database, failed: bool) -> None:
    """Otherwise all nodes would consider the market under way for half an hour."""
    (job_id,) = add(database)
    run_id = open_run(database, "sweep", job_id)
    add_collected_card(database, run_id)
    now = clock.now()
    close = {"why": "its process is gone", "failed": failed}
    assert database.call(job_leases.close_runs, job_id, now, **close) == 1
    assert tuple(database.row("SELECT status, reason FROM runs")) == ("stale", "its process is gone")
    assert database.value("SELECT count(*) FROM collected_cards") == 0
    failures = database.value("SELECT sweep_failures FROM markets WHERE id = 'bazaar-bikes'")
    assert failures == int(failed)
    assert database.call(job_leases.close_runs, job_id, now, **close) == 0


def open_run(database: Database, spider: str, job_id: str) -> int:
    return int(
        database.value(
            "INSERT INTO runs (spider, market_id, job_id, started_at, heartbeat_at)"
            " VALUES (:spider, 'bazaar-bikes', :job, now(), now()) RETURNING id",
            spider=spider,
            job=job_id,
        )
    )


def add_collected_card(database: Database, run_id: int) -> None:
    database.do(
        "INSERT INTO collected_cards (run_id, start_page, page, identity_key, card)"
        " VALUES (:run, '/', 1, 'PID:1', '{}')",
        run=run_id,
    )


def test_node_cannot_renew_end_or_release_a_lost_job(database: Database) -> None:
    add(database)
    job = claim(database)
    assert job is not None
    database.do("UPDATE jobs SET lease_until = now() - interval '1 s'")
    database.call(job_leases.requeue_lost, clock.now(), silence=LEASE)
    again = claim(database, THERE)
    assert again is not None
    assert database.call(job_leases.renew, HERE, [job.id]) == {}
    assert not database.call(job_leases.record_result, HERE, JobResult(job.id, "finished", 0))
    assert not database.call(job_leases.release, HERE, job.id, "stopped")
    assert list(database.call(job_leases.renew, THERE, [job.id])) == [job.id]


def test_cancelled_job_ends_as_cancelled(database: Database) -> None:
    for end in ("finished", "lost", "released"):
        database.do("DELETE FROM jobs")
        (job_id,) = add(database)
        job = claim(database)
        assert job is not None
        assert database.call(job_leases.cancel, "p", job_id, "TERM") == "running"
        if end == "finished":
            database.call(job_leases.record_result, HERE, JobResult(job.id, "finished", 0))
        elif end == "lost":
            database.do("UPDATE jobs SET lease_until = now() - interval '1 s'")
            database.call(job_leases.requeue_lost, clock.now(), silence=LEASE)
        else:
            database.call(job_leases.release, HERE, job.id, "stopped")
        assert states(database) == {"cancelled": 1}, end
        assert database.call(job_leases.cancel, "p", job_id, "TERM") is None


def test_job_ids_are_unique(database: Database) -> None:
    add(database, job_id="mine")
    with pytest.raises(UserError, match="Job 'mine' already exists"):
        add(database, job_id="mine")


def test_lists_and_counts_cover_all_nodes(database: Database) -> None:
    add(database, 5)
    for holder in (HERE, THERE):
        job = claim(database, holder)
        assert job is not None
        database.call(job_leases.record_result, holder, JobResult(job.id, "failed", 1, None, "why"))
    claim(database, THERE)
    counts = database.call(job_lists.counts, LEASE)
    assert (counts.pending, counts.running, counts.ended) == (2, 1, 2)
    assert counts.oldest_pending_seconds is not None
    first, second = (database.call(job_lists.ended, most=1, skipped=n)[0] for n in (0, 1))
    assert (first.node, second.node) == ("there", "here")
    assert database.call(job_lists.ended, "another") == []
    assert database.call(job_lists.find, second.job_id).reason == "why"
