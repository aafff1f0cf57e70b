"""A cluster survives when a node is killed, stopped or restarted, and when the database restarts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psutil  # type: ignore[import-untyped]
import pytest

from tests.databases import Database, Server
from tests.scheduling.conftest import Cluster
from tests.scheduling.daemons import Daemon
from tests.waiting import until

JOBS = 200
pytestmark = pytest.mark.proof


@pytest.fixture
def three(make_cluster: Callable[[], Cluster], module_database: Database) -> Iterator[Cluster]:
    yield from running(make_cluster(), module_database, "one", "two", "three")


@pytest.fixture
def single(make_cluster: Callable[[], Cluster], module_database: Database) -> Iterator[Cluster]:
    yield from running(make_cluster(), module_database, "one")


def running(cluster: Cluster, database: Database, *names: str) -> Iterator[Cluster]:
    database.do("DELETE FROM jobs")
    database.do("DELETE FROM nodes")
    for name in names:
        cluster.start(name)
    for daemon in cluster.daemons:
        daemon.wait()
    yield cluster
    cluster.stop()


def test_200_jobs_run_once_each_despite_a_killed_node_and_a_database_restart(
    three: Cluster, server: Server
) -> None:
    one, two, _ = three.daemons
    database, marks = three.database, three.marks
    jobs = [one.schedule("quick", n=n, seconds=0.05) for n in range(JOBS)]
    until(lambda: marks.count("done") > 50)
    # Kill one node in the middle of a job, and its spiders with it.
    stuck = two.schedule("slow", n="stuck", seconds=2, priority=9)
    until(lambda: marks.has(stuck, "began"))
    victim = next(daemon for daemon in three.daemons if daemon.name == marks.nodes_by_job("began")[stuck][0])
    victim.kill()
    alive = [daemon for daemon in three.daemons if daemon is not victim]
    until(lambda: marks.count("done") > 110)
    server.restart("fast")
    until(lambda: jobs_left(database) == 0)
    assert database.rows("SELECT job_id, state, reason FROM jobs WHERE state <> 'finished'") == []
    done = marks.nodes_by_job("done")
    assert set(done) == {*jobs, stuck}
    again = {job for (job,) in database.rows("SELECT job_id FROM jobs WHERE attempts > 1")}
    assert stuck in again
    assert done[stuck] != [victim.name]
    # Only jobs that were running on the killed node may be repeated.
    assert {job for job, nodes in done.items() if len(nodes) > 1} <= again
    assert len(again) <= 2 + 1
    # How many jobs each node runs depends on the load of the machine.
    assert {node for nodes in done.values() for node in nodes} == {daemon.name for daemon in three.daemons}
    assert all(daemon.get("daemonstatus.json")["running"] == 0 for daemon in alive)


def test_a_node_that_stops_lets_spiders_end_and_requeues_unfinished_jobs(single: Cluster) -> None:
    (one,) = single.daemons
    jobs = [one.schedule(spider, n="stop", seconds=3) for spider in ("slow", "stubborn")]
    until(lambda: all(single.marks.has(job, "began") for job in jobs))
    one.terminate()
    rows = single.database.rows("SELECT job_id, state, attempts, reason FROM jobs ORDER BY id")
    assert [tuple(row) for row in rows] == [(job, "pending", 0, "its node was stopped") for job in jobs]
    assert single.database.value("SELECT count(*) FROM nodes WHERE stopped_at IS NULL") == 0
    two = single.start("two").wait()
    until(lambda: set(two.states().values()) == {"finished"})
    assert all(single.marks.has(job, "done") for job in jobs)


def test_orphans_of_a_killed_daemon_are_ended_when_it_starts_again(single: Cluster) -> None:
    (one,) = single.daemons
    # This spider ignores the SIGTERM that it gets when its daemon dies.
    job = one.schedule("stubborn", n="orphan", seconds=120)
    until(lambda: one.job(job).get("pid") is not None)
    orphan = psutil.Process(one.job(job)["pid"])
    until(lambda: single.marks.has(job, "began"))
    one.kill()
    assert orphan.is_running()
    one.start()
    one.wait()
    until(lambda: single.marks.has(job, "began", times=2))
    assert not orphan.is_running()
    assert not single.marks.has(job, "done")
    one.post("cancel.json", project="test", job=job)
    until(lambda: one.states()[job] == "cancelled")


def test_the_spiders_of_a_killed_daemon_end(single: Cluster) -> None:
    (one,) = single.daemons
    job = one.schedule("slow", n="killed", seconds=60)
    until(lambda: one.job(job).get("pid") is not None)
    until(lambda: single.marks.has(job, "began"))
    spider = psutil.Process(one.job(job)["pid"])
    one.kill()
    until(lambda: not spider.is_running() or spider.status() == psutil.STATUS_ZOMBIE)


def test_a_second_daemon_with_the_same_name_does_not_start(single: Cluster) -> None:
    one = single.daemons[0]
    second = Daemon(one.directory, "one", {**one.environment}, runner="tests.scheduling.fake_runner")
    assert second.process.wait(60) == 1
    assert "A daemon named one is already running" in second.log.read_text()
    assert "Traceback" not in second.log.read_text()


def jobs_left(database: Database) -> int:
    try:
        return int(database.value("SELECT count(*) FROM jobs WHERE ended_at IS NULL"))
    except Exception:  # noqa: BLE001 - the database is restarting
        return -1
