"""A job's way through a cluster of two: it runs once, its end is kept, it can be cancelled from anywhere."""

from __future__ import annotations

import signal
from typing import Any

from tests.scheduling.conftest import Cluster
from tests.waiting import until


def test_a_job_runs_and_its_end_is_kept(cluster: Cluster) -> None:
    one, two = cluster.daemons
    good, bad = one.schedule("quick", n=1), one.schedule("failing", n=1)
    until(lambda: {two.states().get(good), two.states().get(bad)} == {"finished", "failed"})
    finished, failed = two.job(good), two.job(bad)
    assert (finished["exit_code"], finished["reason"]) == (0, None)
    # Failed is not finished, and says why.
    assert (failed["exit_code"], failed["reason"]) == (3, "It was ordered to fail.")
    assert {"id", "project", "spider", "start_time", "end_time", "log_url", "items_url"} <= set(finished)
    assert two.get("status.json", job=good)["currstate"] == "finished"
    assert two.get("status.json", job="nobody")["currstate"] is None


def test_a_running_job_is_cancelled_from_another_node(cluster: Cluster) -> None:
    job, node = a_running_job(cluster, "patient")
    (other,) = [daemon for daemon in cluster.daemons if daemon.name != node]
    assert other.post("cancel.json", project="test", job=job)["prevstate"] == "running"
    until(lambda: other.states()[job] == "cancelled")
    assert not cluster.marks.has(job, "done")
    assert other.post("cancel.json", project="test", job=job)["prevstate"] is None


def test_a_spider_that_does_not_listen_is_killed(cluster: Cluster) -> None:
    job, node = a_running_job(cluster, "stubborn")
    (other,) = [daemon for daemon in cluster.daemons if daemon.name != node]
    other.post("cancel.json", project="test", job=job, signal="TERM")
    until(lambda: other.states()[job] == "cancelled")
    assert other.job(job)["exit_signal"] == 9


def test_a_cancel_sends_whatever_signal_it_names(cluster: Cluster) -> None:
    job, _node = a_running_job(cluster, "patient", n="signal")
    cluster.daemons[0].post("cancel.json", project="test", job=job, signal="SIGUSR1")
    until(lambda: cluster.daemons[0].states()[job] == "cancelled")
    assert cluster.daemons[0].job(job)["exit_signal"] == signal.SIGUSR1


def test_the_same_thing_waits_for_itself(cluster: Cluster) -> None:
    one, two = cluster.daemons
    first, _node = a_running_job(cluster, "patient", n="same")
    second = two.schedule("patient", n="same", seconds=30)
    another = one.schedule("quick", n="another")
    until(lambda: one.states()[another] == "finished")
    assert one.states()[second] == "pending"
    # What waits can be taken out of the queue from any node.
    assert one.post("cancel.json", project="test", job=second)["prevstate"] == "pending"
    assert two.states()[second] == "cancelled"
    assert two.job(second)["start_time"] is None
    one.post("cancel.json", project="test", job=first)
    until(lambda: one.states()[first] == "cancelled")
    assert not cluster.marks.has(second, "began")


def test_priorities_decide_who_is_next(cluster: Cluster) -> None:
    one = cluster.daemons[0]
    busy = [a_running_job(cluster, "patient", n=f"busy {n}")[0] for n in range(4)]
    late = [one.schedule("quick", n=f"p{priority}", priority=priority) for priority in (0, 5, 10)]
    listed = [job["id"] for job in one.get("listjobs.json")["pending"]]
    assert listed == list(reversed(late))
    status = one.get("daemonstatus.json")
    assert (status["running"], status["pending"]) == (4, 3)
    assert status["oldest_pending_seconds"] >= 0
    one.post("cancel.json", project="test", job=busy[0])
    until(lambda: all(one.states()[job] == "finished" for job in late))
    began = {
        job: cluster.database.value("SELECT started_at FROM jobs WHERE job_id = :id", id=job) for job in late
    }
    assert sorted(late, key=lambda job: began[job]) == list(reversed(late))
    for job in busy[1:]:
        one.post("cancel.json", project="test", job=job)
    until(lambda: "running" not in one.states().values())


def test_what_cannot_be_scheduled_is_told_as_scrapyd_tells_it(cluster: Cluster) -> None:
    one = cluster.daemons[0]

    def refusal(path: str, **fields: Any) -> str:
        answer = one.post(path, **fields)
        assert answer["status"] == "error"
        return str(answer["message"])

    assert refusal("schedule.json", project="nobody", spider="quick") == "project 'nobody' not found"
    assert refusal("schedule.json", project="test", spider="nobody") == "spider 'nobody' not found"
    assert refusal("schedule.json", project="test") == "'spider' parameter is required"
    assert refusal("schedule.json", project="test", spider="quick", _version="9") == "version '9' not found"
    job = one.schedule("quick", n="named", jobid="my-own")
    assert job == "my-own"
    assert "already" in refusal("schedule.json", project="test", spider="quick", jobid="my-own")
    assert refusal("cancel.json", project="nobody", job="x") == "project 'nobody' not found"
    for unusable in ("../../etc/x", "a/b", "x" * 300):
        assert "the name of a log" in refusal("schedule.json", project="test", spider="quick", jobid=unusable)
    for unknown in ("FOO", "SIGFOO", "99999", "-9", "9" * 5000):
        message = refusal("cancel.json", project="test", job=job, signal=unknown)
        assert message == f"signal '{unknown}' is unknown"
    assert "ZIP" in refusal("addversion.json", project="test", version="1", egg="nonsense")


def test_pages_of_jobs_end_where_there_are_none(cluster: Cluster) -> None:
    answer = cluster.daemons[0].get("listjobs.json", offset=10**30)
    assert (answer["status"], answer["finished"]) == ("ok", [])


def a_running_job(cluster: Cluster, spider: str, **arguments: str) -> tuple[str, str]:
    """A job that would run for long, and the node that it runs on."""
    daemon = cluster.daemons[0]
    job = daemon.schedule(spider, seconds=30, **arguments)
    until(lambda: cluster.marks.has(job, "began"))
    return job, str(daemon.job(job)["node"])
