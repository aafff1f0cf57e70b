"""Rows of runs: one run of a market at a time, and no run stays open after its process has ended."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

from pricewatch import clock
from pricewatch.errors import RunRefused
from pricewatch.rules.custom_spiders import reader_id
from pricewatch.store.queues import job_queue
from pricewatch.store.views import run_list
from pricewatch.store.writing import collected_cards, run_rows
from pricewatch.vocabulary import PageOutcome, RunStatus
from tests.databases import Database
from tests.store.observations import MARKET, START, card


def open_run(database: Database, **fields: Any) -> int:
    run_id: int = database.call(
        run_rows.open_run, **{"now": clock.now(), "spider": "sweep", "market_id": MARKET, **fields}
    )
    return run_id


def test_a_spider_does_not_crawl_a_market_twice_at_the_same_time(database: Database) -> None:
    first = open_run(database)
    with pytest.raises(RunRefused, match=f"sweep run of market {MARKET} is already running .run {first}, on"):
        open_run(database)
    open_run(database, spider="discovery")
    open_run(database, market_id="bazaar-toys")
    database.call(run_rows.close_run, first, RunStatus.FINISHED, None)
    open_run(database)


def test_a_spider_may_have_any_name_of_valid_length(database: Database) -> None:
    for name in ("x" * 100, "Acme/toys & games", "Spielzeug für Kinder"):
        open_run(database, spider=name, market_id=None, adapter_id=reader_id(name))
    for name in ("", "x" * 101):
        with pytest.raises(RunRefused, match=f"has 1 to 100 characters, not {len(name)}: change its name"):
            open_run(database, spider=name, market_id=None)
    assert database.value("SELECT count(*) FROM runs") == 3


def test_the_project_of_a_run_is_the_project_of_its_job(database: Database) -> None:
    for project, job_id in (("other", "a"), ("pricewatch", "b"), ("third", "a")):
        spider = "toys" if project == "other" else "sweep"
        database.call(job_queue.add, project, spider, job_id=job_id)
    for spider, job_id, project in (
        ("toys", "a", "other"),
        ("sweep", "b", "pricewatch"),
        ("sweep", "a", "third"),
        ("sweep", "removed", "pricewatch"),
    ):
        assert database.call(run_list.project_of, {"spider": spider, "job_id": job_id}) == project


def test_a_run_whose_process_has_ended_is_stale(database: Database) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    first = open_run(database)
    database.do("UPDATE runs SET pid = :pid", pid=process.pid)
    database.call(collected_cards.collect, first, "/c/bikes", 1, [card(1)])
    second = open_run(database)
    assert database.rows("SELECT id, status, reason FROM runs ORDER BY id") == [
        (first, "stale", "its process is gone"),
        (second, "running", None),
    ]
    assert database.value("SELECT count(*) FROM collected_cards") == 0


def test_a_run_whose_process_is_a_zombie_is_stale(database: Database) -> None:
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as zombie:
        assert zombie.stdout
        zombie.stdout.read()
        while psutil.Process(zombie.pid).status() != psutil.STATUS_ZOMBIE:
            pass
        open_run(database)
        database.do("UPDATE runs SET pid = :pid", pid=zombie.pid)
        open_run(database)
    assert database.value("SELECT count(*) FROM runs WHERE status = 'stale'") == 1


def test_a_run_whose_pid_belongs_to_a_newer_process_is_stale(database: Database) -> None:
    """Process ids are reused after a restart of the machine or the container."""
    open_run(database, now=clock.now() - timedelta(minutes=20))
    assert open_run(database)
    assert database.value("SELECT pid FROM runs WHERE status = 'stale'") == os.getpid()


def test_a_run_of_another_node_is_stale_after_half_an_hour_without_a_heartbeat(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.now()
    monkeypatch.setenv("PRICEWATCH_NODE", "other")
    open_run(database, now=now - timedelta(hours=1))
    monkeypatch.setenv("PRICEWATCH_NODE", "this")
    database.do("UPDATE runs SET heartbeat_at = :at", at=now - timedelta(minutes=29))
    with pytest.raises(RunRefused, match="on other since"):
        open_run(database, now=now)
    database.do("UPDATE runs SET heartbeat_at = :at", at=now - timedelta(minutes=31))
    open_run(database, now=now)
    assert database.value("SELECT reason FROM runs WHERE status = 'stale'") == "no heartbeat"


def test_a_closed_run_stays_closed_and_its_cards_are_deleted(database: Database) -> None:
    run_id = open_run(database)
    database.call(collected_cards.collect, run_id, "/c/bikes", 1, [card(1)])
    database.call(run_rows.close_run, run_id, RunStatus.CANCELLED, "stopped", finished_at=START)
    database.call(run_rows.close_run, run_id, RunStatus.FINISHED, None)
    assert database.row("SELECT status, reason FROM runs") == ("cancelled", "stopped")
    assert database.value("SELECT count(*) FROM collected_cards") == 0


def test_invalid_characters_from_pages_do_not_prevent_storing_a_run(database: Database) -> None:
    run_id = open_run(database)
    errors = [{"error": "a\x00b\ud800", "value": float("nan"), "seen": {1}}]
    database.call(run_rows.update_run, run_id, {"pages": 1}, {"errors": errors, "progress": {"\x00": START}})
    database.call(
        run_rows.add_page, run_id, url="/\x00", outcome=PageOutcome.BLOCKED, fetched_at=START, error="\ud800"
    )
    database.call(run_rows.close_run, run_id, RunStatus.FAILED, "bad \x00 page")
    assert database.row("SELECT reason, errors, progress FROM runs") == (
        "bad  page",
        [{"error": "ab?", "value": "nan", "seen": [1]}],
        {"": START.isoformat()},
    )
    assert database.row("SELECT url, error FROM run_pages") == ("/", "?")
