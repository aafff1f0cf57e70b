"""The dispatcher queues what is due, once in the whole cluster, and nothing else."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from scrapy.settings import Settings

from pricewatch.rules.market_schedule import INTERVAL_SHARES, decide_start
from pricewatch.rules.staleness import StalePrices
from pricewatch.rules.target_schedule import QueueLimits
from pricewatch.scheduling.dispatch_settings import DispatchSettings
from pricewatch.scheduling.dispatch_tick import DispatchTick
from pricewatch.scheduling.dispatcher import dispatch_once
from pricewatch.store.queues import dispatch_state, job_leases, job_queue, node_rows
from pricewatch.store.queues.job_queue import LeaseHolder
from tests.databases import Database
from tests.scheduling.dispatching import (
    DISPATCH_SETTINGS,
    NOW,
    make_market,
    no_sample_markets,
    pending_jobs,
    run_tick,
)
from tests.store.sample_targets import make_targets

MINUTE = timedelta(minutes=1)
__all__ = ["no_sample_markets"]
pytestmark = pytest.mark.usefixtures("no_sample_markets")
PLACE = LeaseHolder("here", "host/1", timedelta(seconds=30))


def test_a_new_market_is_scheduled_without_further_setup(database: Database) -> None:
    make_market(database)
    assert run_tick(database).started == 1
    job = database.row("SELECT * FROM jobs")
    assert (job.project, job.spider, job.work) == ("pricewatch", "discovery", "market m")
    assert job.arguments == {"market": "m", "trigger": "SCHEDULED"}
    # The same work is not queued twice.
    assert run_tick(database, NOW + MINUTE).started == 0


def test_a_market_with_known_listings_gets_all_three_spiders(database: Database) -> None:
    then = NOW - timedelta(hours=30)
    make_market(database, last_discovery_at=then, last_sweep_at=then, last_verification_at=then)
    make_market(database, "fresh", last_discovery_at=NOW - MINUTE, last_sweep_at=NOW - MINUTE)
    run_tick(database)
    assert pending_jobs(database) == [("discovery", "m"), ("sweep", "m"), ("verification", "m")]


def test_jobs_start_at_random_times_within_a_minute(database: Database) -> None:
    for number in range(40):
        make_market(database, f"m{number}")
    run_tick(database, chance=random.Random(3).random)
    waits = [
        float(seconds)
        for (seconds,) in database.rows("SELECT extract(epoch FROM not_before - added_at) FROM jobs")
    ]
    assert min(waits) >= 0
    assert max(waits) <= 60
    assert len(set(waits)) == 40
    # No job is claimed before its time.
    database.do("UPDATE jobs SET not_before = now() + interval '1 min'")
    assert database.call(job_queue.claim, PLACE, ["pricewatch"]) is None
    database.do("UPDATE jobs SET not_before = now() WHERE arguments->>'market' = 'm7'")
    claimed = database.call(job_queue.claim, PLACE, ["pricewatch"])
    assert claimed.arguments["market"] == "m7"


def test_a_market_that_is_crawled_from_the_shell_is_not_scheduled(database: Database) -> None:
    make_market(database)
    database.do(
        "INSERT INTO runs (spider, market_id, started_at, heartbeat_at)"
        " VALUES ('discovery', 'm', :now, :now)",
        now=NOW,
    )
    assert run_tick(database).started == 0


def test_a_run_without_heartbeat_is_stale_and_counts_as_failed(database: Database) -> None:
    make_market(database)
    for spider, minutes in (("discovery", 31), ("sweep", 29)):
        database.do(
            "INSERT INTO runs (spider, market_id, job_id, started_at, heartbeat_at)"
            " VALUES (:spider, 'm', :spider, :then, :then)",
            spider=spider,
            then=NOW - minutes * MINUTE,
        )
    database.call(job_queue.add, "pricewatch", "discovery", {"market": "m"}, job_id="discovery")
    database.call(job_queue.claim, PLACE, ["pricewatch"])
    assert run_tick(database).silent_runs == 1
    assert dict(database.rows("SELECT spider, status FROM runs")) == {
        "discovery": "stale",
        "sweep": "running",
    }
    assert database.value("SELECT discovery_failures FROM markets WHERE id = 'm'") == 1
    # Its process gets SIGTERM, on any node.
    (renewed,) = database.call(job_leases.renew, PLACE, [database.value("SELECT id FROM jobs")]).values()
    assert (renewed.cancels, renewed.cancel_signal) == (1, "TERM")


def test_a_custom_spiders_run_without_heartbeat_is_stale(database: Database) -> None:
    """It does not count as a failure of the spiders that the dispatcher starts."""
    make_market(database)
    for market in (None, "m"):
        database.do(
            "INSERT INTO runs (spider, market_id, source_id, adapter_id, started_at, heartbeat_at)"
            " VALUES ('toys', :market, 'bazaar', 'spider:toys', :then, :then)",
            market=market,
            then=NOW - 31 * MINUTE,
        )
    assert run_tick(database).silent_runs == 2
    assert {row.status for row in database.rows("SELECT status FROM runs")} == {"stale"}
    market = database.row("SELECT * FROM markets WHERE id = 'm'")
    assert (market.discovery_failures, market.last_scrape_status) == (0, None)
    assert pending_jobs(database) == [("discovery", "m")]


def test_due_targets_get_as_many_jobs_as_they_need(database: Database) -> None:
    make_targets(database, 2500, sources=3, due=NOW)
    dispatch_settings = DispatchSettings(limits=QueueLimits(most_pending_per_source=5000, longest_backlog=0))
    done = run_tick(database, dispatch_settings=dispatch_settings)
    assert len(done.targets.accepted) == 2500
    works = [work for (work,) in database.rows("SELECT work FROM jobs WHERE spider = 'targets' ORDER BY id")]
    assert works == ["targets", "targets 2", "targets 3"]
    assert run_tick(database, NOW + MINUTE, dispatch_settings).started == 0


def test_rejected_targets_stay_due_and_pause_scheduling(database: Database) -> None:
    make_targets(database, 30, due=NOW)
    dispatch_settings = DispatchSettings(limits=QueueLimits(most_pending=10, longest_backlog=0))
    assert len(run_tick(database, dispatch_settings=dispatch_settings).targets.accepted) == 10
    assert database.value("SELECT count(*) FROM targets WHERE queue_state = 'idle'") == 20
    # No target has been claimed since: all that are offered now are rejected.
    later = run_tick(database, NOW + MINUTE, dispatch_settings).targets
    assert (later.accepted, set(later.reasons)) == ([], {"queue_full"})
    assert later.paused_until == NOW + 2 * MINUTE
    assert run_tick(database, NOW + 1.5 * MINUTE, dispatch_settings).targets.offered == 0


def test_targets_of_a_disabled_adapter_get_no_job(database: Database) -> None:
    make_targets(database, 5, due=NOW)
    database.do("INSERT INTO adapter_status (adapter_id, enabled) VALUES ('adapter0', false)")
    database.do("UPDATE targets SET queue_state = 'pending', queued_at = :now", now=NOW)
    assert run_tick(database).started == 0


def test_no_jobs_are_added_to_a_full_queue(database: Database) -> None:
    for number in range(20):
        make_market(database, f"m{number}")
    assert run_tick(database, dispatch_settings=DispatchSettings(most_pending=5)).started == 5
    assert run_tick(database, NOW + MINUTE, DispatchSettings(most_pending=5)).started == 0


def test_one_dispatcher_at_a_time_and_one_tick_a_minute(database: Database) -> None:
    for number in range(50):
        make_market(database, f"m{number}")

    def one(node: int, now: datetime = NOW) -> DispatchTick | None:
        begin = database.engine.begin
        return dispatch_once(
            begin, DISPATCH_SETTINGS, node=f"node {node}", silence=MINUTE, every=MINUTE, now=now
        )

    with ThreadPoolExecutor(6) as threads:
        done = [tick for tick in threads.map(one, range(24)) if tick is not None]
    assert len(done) == 1
    assert Counter(pending_jobs(database)).most_common(1)[0][1] == 1
    assert len(pending_jobs(database)) == 50
    assert one(1, NOW + MINUTE / 2) is None
    assert one(2, NOW + MINUTE) is not None
    assert database.value("SELECT node FROM dispatcher") == "node 2"


def test_a_lost_node_raises_an_alert_and_a_stopped_one_does_not(database: Database) -> None:
    for name in ("lost", "left", "there"):
        place = LeaseHolder(name, f"host/{name}", timedelta(seconds=30))
        database.call(node_rows.register, place, url=None, pid=1, slots=2)
    database.call(node_rows.mark_stopped, LeaseHolder("left", "host/left", timedelta()))
    database.do("UPDATE nodes SET heartbeat_at = now() - interval '5 min' WHERE name <> 'there'")
    run_tick(database)
    open_alerts = "SELECT subject FROM alerts WHERE kind = 'node_lost' AND resolved_at IS NULL"
    assert [subject for (subject,) in database.rows(open_alerts)] == ["lost"]
    database.do("UPDATE nodes SET heartbeat_at = now()")
    run_tick(database, NOW + MINUTE)
    assert database.rows(open_alerts) == []


def test_a_job_that_waits_for_half_an_hour_raises_an_alert(database: Database) -> None:
    database.call(job_queue.add, "pricewatch", "targets", {})
    database.do(
        "UPDATE jobs SET added_at = now() - interval '31 min', not_before = now() - interval '31 min'"
    )
    run_tick(database)
    assert database.value("SELECT count(*) FROM alerts WHERE kind = 'jobs_waiting'") == 1


def test_the_query_finds_every_market_that_the_rule_would_start(database: Database) -> None:
    """Checked with 400 markets in random states."""
    chance = random.Random(11)

    def random_time(longest: float) -> datetime | None:
        return None if chance.random() < 0.1 else NOW - timedelta(minutes=chance.random() * longest)

    for number in range(400):
        # Some are so fresh that only a requested verification can be due; some have times in the future.
        longest = chance.choice([30, 60 * 50, 60 * 50, -60 * 9000])
        make_market(
            database,
            f"m{number}",
            tier=chance.choice(["hot", "standard", "cool"]),
            enabled=chance.random() < 0.9,
            scrape_frequency_hours=chance.choice([None, None, 1, 48]),
            **{f"{spider}_failures": chance.choice([0, 0, 0, 1, 2, 3, 5]) for spider in INTERVAL_SHARES},
            **{f"{spider}_failed_at": random_time(3000) for spider in INTERVAL_SHARES},
            last_discovery_at=random_time(longest),
            last_sweep_at=random_time(longest),
            last_verification_at=random_time(300),
        )
    database.do(
        "INSERT INTO listings (source_id, market_id, identity_key, url, canonical_url, title, availability,"
        " first_seen_at, last_seen_at, verification_requested_at)"
        " SELECT 'bazaar', id, 'PID:' || id, id, id, id, 'IN_STOCK', :now, :now, :now FROM markets"
        " WHERE id LIKE 'm%7'",
        now=NOW,
    )
    markets = database.call(dispatch_state.all_markets)
    expected = {
        (market.id, spider)
        for market in markets
        for spider in INTERVAL_SHARES
        if decide_start(market, spider, NOW).starts
    }
    found = {
        (market.id, spider)
        for market in database.call(dispatch_state.due_markets, NOW)
        for spider in INTERVAL_SHARES
        if decide_start(market, spider, NOW).starts
    }
    assert found == expected
    assert len(expected) > 200


def test_the_limits_for_stale_prices_come_from_the_settings() -> None:
    settings = Settings({"STALE_PRICE_HOURS": "6", "STALE_PRICE_SHARE": "0.5"})
    settings.setmodule("pricewatch.settings", priority="default")
    assert DispatchSettings.of(settings).stale_prices == StalePrices(hours=6, share=0.5)
