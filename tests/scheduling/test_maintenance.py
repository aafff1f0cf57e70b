"""Daily maintenance at 03:00: open circuits get one attempt, counters roll over, old rows are removed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pricewatch.store.fetch_state import proxy_blocks
from pricewatch.store.operations import metric_totals
from pricewatch.store.people import login_failures, web_sessions
from pricewatch.store.people.login_failures import FailureKeys
from pricewatch.store.queues import job_queue
from pricewatch.store.source_registry import market_rows
from pricewatch.store.views import market_list
from tests.databases import Database
from tests.scheduling.dispatching import NOW, make_market, no_sample_markets, pending_jobs, run_tick

__all__ = ["no_sample_markets"]
pytestmark = pytest.mark.usefixtures("no_sample_markets")


def test_an_open_circuit_gets_one_attempt_a_day(database: Database) -> None:
    make_market(database)
    moment = NOW
    run_tick(database, moment)
    for _ in range(3):
        database.do("DELETE FROM jobs")
        database.call(
            market_rows.record_run, "m", spider="discovery", status="failed", at=moment, failed=True
        )
        moment += timedelta(hours=1)
        run_tick(database, moment)
    assert pending_jobs(database) == []
    assert (
        database.value("SELECT count(*) FROM alerts WHERE kind = 'circuit_open' AND resolved_at IS NULL") == 1
    )
    night = datetime(2026, 11, 17, 3, 1, tzinfo=UTC)
    done = run_tick(database, night)
    assert (done.maintained, done.breakers_closed, done.started) == (True, 1, 1)
    database.do("DELETE FROM jobs")
    database.call(market_rows.record_run, "m", spider="discovery", status="failed", at=night, failed=True)
    assert run_tick(database, night + timedelta(hours=2)).started == 0
    database.call(market_rows.record_run, "m", spider="discovery", status="completed", at=night, failed=False)
    assert (
        database.value("SELECT count(*) FROM alerts WHERE kind = 'circuit_open' AND resolved_at IS NULL") == 0
    )


def test_each_spider_of_a_market_has_its_own_circuit(database: Database) -> None:
    make_market(database, last_discovery_at=NOW - timedelta(days=2), last_sweep_at=NOW - timedelta(days=2))

    def ended(spider: str, *, failed: bool) -> None:
        status = "failed" if failed else "completed"
        at = NOW - timedelta(hours=20)
        database.call(market_rows.record_run, "m", spider=spider, status=status, at=at, failed=failed)

    for _ in range(3):
        ended("sweep", failed=True)
        ended("discovery", failed=False)
    open_alerts = "SELECT subject FROM alerts WHERE kind = 'circuit_open' AND resolved_at IS NULL"
    assert database.rows(open_alerts) == [("m sweep",)]
    run_tick(database)
    assert ("discovery", "m") in pending_jobs(database)
    assert ("sweep", "m") not in pending_jobs(database)
    (row,) = (row for row in database.call(market_list.markets) if row["id"] == "m")
    assert row["failures"] == {"discovery": 0, "sweep": 3, "verification": 0}
    assert (row["consecutive_failures"], row["circuits_open"]) == (3, ["sweep"])
    night = datetime(2026, 11, 17, 3, 1, tzinfo=UTC)
    assert run_tick(database, night).breakers_closed == 1
    assert ("sweep", "m") in pending_jobs(database)
    ended("discovery", failed=True)
    ended("sweep", failed=False)
    assert database.rows(open_alerts) == []
    failures = database.row("SELECT discovery_failures, sweep_failures FROM markets WHERE id = 'm'")
    assert tuple(failures) == (1, 0)


def test_maintenance_runs_once_a_day(database: Database) -> None:
    run_tick(database)
    nights = [datetime(2026, 11, 17, hour, 5, tzinfo=UTC) for hour in (2, 3, 4, 12)]
    assert [run_tick(database, night).maintained for night in nights] == [False, True, False, False]
    assert run_tick(database, nights[1] + timedelta(days=3)).maintained


def test_times_written_by_a_clock_that_was_ahead_are_reset(database: Database) -> None:
    run_tick(database)
    ahead = NOW + timedelta(days=400)
    assert run_tick(database, ahead).maintained
    for number, at in enumerate((ahead, NOW)):
        database.do(
            "INSERT INTO targets (source_id, adapter_id, url, canonical_url, last_scraped_at, next_due_at)"
            " VALUES ('bazaar', 'bazaar', :url, :url, :at, :due)",
            url=f"https://shop.example/{number}",
            at=at,
            due=at + timedelta(days=30),
        )
    for proxy, at in (("late:1", ahead), ("now:1", NOW)):
        until = at + timedelta(hours=1)
        database.call(proxy_blocks.block, "shop.example", proxy, error="x", now=at, until=until)
    assert run_tick(database).maintained
    due = [row[0] for row in database.rows("SELECT next_due_at FROM targets ORDER BY id")]
    assert due == [NOW, NOW + timedelta(days=30)]
    assert set(database.call(proxy_blocks.blocked, "shop.example", NOW)) == {"now:1"}
    assert not run_tick(database).maintained


def test_maintenance_removes_old_details_but_keeps_failed_verifications(database: Database) -> None:
    run_tick(database)
    make_market(database, enabled=False)
    database.do(
        "INSERT INTO listings (source_id, market_id, identity_key, url, canonical_url, title, availability,"
        " first_seen_at, last_seen_at)"
        " VALUES ('bazaar', 'm', 'PID:1', 'u', 'u', 't', 'IN_STOCK', :now, :now)",
        now=NOW,
    )
    for days in (40, 10):
        run = database.value(
            "INSERT INTO runs (spider, market_id, status, started_at, heartbeat_at)"
            " VALUES ('sweep', 'm', 'finished', :then, :then) RETURNING id",
            then=NOW - timedelta(days=days),
        )
        database.do(
            "INSERT INTO run_pages (run_id, url, outcome, fetched_at) VALUES (:run, 'u', 'ok', :now)",
            run=run,
            now=NOW,
        )
        for outcome in ("alive", "gone"):
            database.do(
                "INSERT INTO verification_attempts (run_id, listing_id, outcome) SELECT :run, id, :outcome"
                " FROM listings",
                run=run,
                outcome=outcome,
            )
    database.call(job_queue.add, "pricewatch", "sweep", {}, job_id="old")
    database.do("UPDATE jobs SET state = 'finished', ended_at = :then", then=NOW - timedelta(days=100))
    assert run_tick(database, NOW + timedelta(days=1)).maintained
    assert database.value("SELECT count(*) FROM run_pages") == 1
    assert dict(database.rows("SELECT outcome, count(*) FROM verification_attempts GROUP BY 1")) == {
        "alive": 1,
        "gone": 2,
    }
    assert database.value("SELECT count(*) FROM runs") == 2
    assert database.value("SELECT count(*) FROM jobs WHERE job_id = 'old'") == 0


def test_counters_of_finished_runs_are_added_to_the_totals(database: Database) -> None:
    """The counters of finished runs are added up even if /metrics is never read."""
    run_tick(database)
    for status in ("finished", "running"):
        run = database.value(
            "INSERT INTO runs (spider, status, started_at, heartbeat_at)"
            " VALUES ('sweep', :status, :now, :now) RETURNING id",
            status=status,
            now=NOW + timedelta(hours=15),
        )
        database.call(metric_totals.save_run_metrics, run, {"pages": 3})
    night = datetime(2026, 11, 17, 3, 1, tzinfo=UTC)
    for address, at in (("long-ago", NOW), ("just-now", night)):
        database.call(login_failures.add, FailureKeys(address), at)
    for domain, until in (("over.example", NOW), ("still.example", night + timedelta(hours=1))):
        database.call(proxy_blocks.block, domain, "proxy:1", error="x", now=NOW, until=until)
    session = {"lifetime": timedelta(hours=12), "credential": "x"}
    database.call(web_sessions.open_session, "ada", NOW - timedelta(days=30), **session)
    before = database.call(metric_totals.totals)
    assert run_tick(database, night).maintained
    assert database.rows("SELECT run_id FROM run_figures") == [(run,)]
    assert database.call(metric_totals.totals) == before == {"pages": 6}
    assert database.rows("SELECT address FROM login_failures") == [("just-now",)]
    assert database.rows("SELECT domain FROM proxy_blocks") == [("still.example",)]
    assert database.value("SELECT count(*) FROM web_sessions") == 0
