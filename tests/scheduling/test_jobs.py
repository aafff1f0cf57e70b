"""Jobs in a daemon and in a cluster of two: their outcome is stored, and any node can cancel them."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from tests.scheduling.conftest import Cluster
from tests.scheduling.daemons import Daemon
from tests.waiting import until


def test_the_outcome_of_a_job_is_stored(daemon: Daemon) -> None:
    good, bad = daemon.schedule("quick", n=1), daemon.schedule("failing", n=1)
    until(lambda: {daemon.states().get(good), daemon.states().get(bad)} == {"finished", "failed"})
    finished, failed = daemon.job(good), daemon.job(bad)
    assert (finished["exit_code"], finished["reason"]) == (0, None)
    assert (failed["exit_code"], failed["reason"]) == (3, "This spider always fails.")
    assert {"id", "project", "spider", "start_time", "end_time", "log_url", "items_url"} <= set(finished)
    assert daemon.get("status.json", job=good)["currstate"] == "finished"
    assert daemon.get("status.json", job="nobody")["currstate"] is None


@pytest.mark.proof
def test_a_running_job_is_cancelled_from_another_node(cluster: Cluster) -> None:
    job, node = a_running_job(cluster, "slow")
    (other,) = [daemon for daemon in cluster.daemons if daemon.name != node]
    assert other.post("cancel.json", project="test", job=job)["prevstate"] == "running"
    until(lambda: other.states()[job] == "cancelled")
    assert not cluster.marks.has(job, "done")
    assert other.post("cancel.json", project="test", job=job)["prevstate"] is None


def test_a_spider_that_ignores_signals_is_killed(one_daemon: Cluster, daemon: Daemon) -> None:
    job, _node = a_running_job(one_daemon, "stubborn")
    daemon.post("cancel.json", project="test", job=job, signal="TERM")
    until(lambda: daemon.states()[job] == "cancelled")
    assert daemon.job(job)["exit_signal"] == 9


def test_cancel_sends_the_requested_signal(one_daemon: Cluster, daemon: Daemon) -> None:
    job, _node = a_running_job(one_daemon, "slow", n="signal")
    daemon.post("cancel.json", project="test", job=job, signal="SIGUSR1")
    until(lambda: daemon.states()[job] == "cancelled")
    assert daemon.job(job)["exit_signal"] == signal.SIGUSR1


@pytest.mark.proof
def test_a_job_waits_for_a_running_job_with_the_same_work(cluster: Cluster) -> None:
    one, two = cluster.daemons
    first, _node = a_running_job(cluster, "slow", n="same")
    second = two.schedule("slow", n="same", seconds=30)
    another = one.schedule("quick", n="another")
    until(lambda: one.states()[another] == "finished")
    assert one.states()[second] == "pending"
    # A pending job can be cancelled from any node.
    assert one.post("cancel.json", project="test", job=second)["prevstate"] == "pending"
    assert two.states()[second] == "cancelled"
    assert two.job(second)["start_time"] is None
    one.post("cancel.json", project="test", job=first)
    until(lambda: one.states()[first] == "cancelled")
    assert not cluster.marks.has(second, "began")


def test_jobs_start_in_order_of_priority(one_daemon: Cluster, daemon: Daemon) -> None:
    busy = [a_running_job(one_daemon, "slow", n=f"busy {n}")[0] for n in range(2)]
    late = [daemon.schedule("quick", n=f"p{priority}", priority=priority) for priority in (0, 5, 10)]
    listed = [job["id"] for job in daemon.get("listjobs.json")["pending"]]
    assert listed == list(reversed(late))
    status = daemon.get("daemonstatus.json")
    assert (status["running"], status["pending"]) == (2, 3)
    assert status["oldest_pending_seconds"] >= 0
    daemon.post("cancel.json", project="test", job=busy[0])
    until(lambda: all(daemon.states()[job] == "finished" for job in late))
    began = {
        job: one_daemon.database.value("SELECT started_at FROM jobs WHERE job_id = :id", id=job)
        for job in late
    }
    assert sorted(late, key=lambda job: began[job]) == list(reversed(late))
    for job in busy[1:]:
        daemon.post("cancel.json", project="test", job=job)
    until(lambda: "running" not in daemon.states().values())


def test_bad_requests_are_refused_with_scrapyds_messages(daemon: Daemon) -> None:
    def refusal(path: str, **fields: Any) -> str:
        answer = daemon.post(path, **fields)
        assert answer["status"] == "error"
        return str(answer["message"])

    assert refusal("schedule.json", project="nobody", spider="quick") == "project 'nobody' not found"
    assert refusal("schedule.json", project="test", spider="nobody") == "spider 'nobody' not found"
    assert refusal("schedule.json", project="test") == "'spider' parameter is required"
    assert refusal("schedule.json", project="test", spider="quick", _version="9") == "version '9' not found"
    job = daemon.schedule("quick", n="named", jobid="my-own")
    assert job == "my-own"
    assert "already" in refusal("schedule.json", project="test", spider="quick", jobid="my-own")
    assert refusal("cancel.json", project="nobody", job="x") == "project 'nobody' not found"
    for unusable in ("../../etc/x", "a/b", "x" * 300):
        assert "the name of a log file" in refusal(
            "schedule.json", project="test", spider="quick", jobid=unusable
        )
    for unknown in ("FOO", "SIGFOO", "99999", "-9", "9" * 5000):
        message = refusal("cancel.json", project="test", job=job, signal=unknown)
        assert message == f"signal '{unknown}' is unknown"
    assert "ZIP" in refusal("addversion.json", project="test", version="1", egg="nonsense")


def test_an_offset_beyond_the_last_job_gives_an_empty_list(daemon: Daemon) -> None:
    answer = daemon.get("listjobs.json", offset=10**30)
    assert (answer["status"], answer["finished"]) == ("ok", [])


def a_running_job(cluster: Cluster, spider: str, **arguments: str) -> tuple[str, str]:
    """A job that runs for 30 seconds, and its node."""
    daemon = cluster.daemons[0]
    job = daemon.schedule(spider, seconds=30, **arguments)
    until(lambda: cluster.marks.has(job, "began"))
    return job, str(daemon.job(job)["node"])
