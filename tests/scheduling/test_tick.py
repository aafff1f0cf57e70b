"""What is due becomes jobs, once in the whole cluster, and nothing else does."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from scrapy.settings import Settings

from pricewatch.rules.market_schedule import SHARES, judge
from pricewatch.rules.staleness import StalePrices
from pricewatch.rules.target_schedule import Limits
from pricewatch.scheduling.dispatch_settings import DispatchPlan
from pricewatch.scheduling.dispatch_tick import DispatchTick
from pricewatch.scheduling.dispatcher import dispatch_once
from pricewatch.store.queues import dispatch_state, job_leases, job_queue, node_rows
from pricewatch.store.queues.job_queue import QueuePlace
from tests.databases import Database
from tests.scheduling.ticking import NOW, PLAN, look, make_market, only_what_a_test_makes, queued
from tests.store.watched import make_targets

MINUTE = timedelta(minutes=1)
__all__ = ["only_what_a_test_makes"]
pytestmark = pytest.mark.usefixtures("only_what_a_test_makes")
PLACE = QueuePlace("here", "host/1", timedelta(seconds=30))


def test_adding_a_row_is_all_it_takes(database: Database) -> None:
    make_market(database)
    assert look(database).started == 1
    job = database.row("SELECT * FROM jobs")
    assert (job.project, job.spider, job.work) == ("pricewatch", "discovery", "market m")
    assert job.arguments == {"market": "m", "trigger": "SCHEDULED"}
    # It waits its turn: the same thing is not queued twice.
    assert look(database, NOW + MINUTE).started == 0


def test_three_spiders_once_something_is_known(database: Database) -> None:
    then = NOW - timedelta(hours=30)
    make_market(database, last_discovery_at=then, last_sweep_at=then, last_verification_at=then)
    make_market(database, "fresh", last_discovery_at=NOW - MINUTE, last_sweep_at=NOW - MINUTE)
    look(database)
    assert queued(database) == [("discovery", "m"), ("sweep", "m"), ("verification", "m")]


def test_begins_within_a_minute_at_random(database: Database) -> None:
    for number in range(40):
        make_market(database, f"m{number}")
    look(database, chance=random.Random(3).random)
    waits = [
        float(seconds)
        for (seconds,) in database.rows("SELECT extract(epoch FROM not_before - added_at) FROM jobs")
    ]
    assert min(waits) >= 0
    assert max(waits) <= 60
    assert len(set(waits)) == 40
    # Nobody takes a job before its time.
    database.do("UPDATE jobs SET not_before = now() + interval '1 min'")
    assert database.call(job_queue.claim, PLACE, ["pricewatch"]) is None
    database.do("UPDATE jobs SET not_before = now() WHERE arguments->>'market' = 'm7'")
    claimed = database.call(job_queue.claim, PLACE, ["pricewatch"])
    assert claimed.arguments["market"] == "m7"


def test_a_market_that_is_crawled_from_the_shell_is_left_alone(database: Database) -> None:
    make_market(database)
    database.do(
        "INSERT INTO runs (spider, market_id, started_at, heartbeat_at)"
        " VALUES ('discovery', 'm', :now, :now)",
        now=NOW,
    )
    assert look(database).started == 0


def test_a_silent_run_is_over_and_counts(database: Database) -> None:
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
    assert look(database).silent_runs == 1
    assert dict(database.rows("SELECT spider, status FROM runs")) == {
        "discovery": "stale",
        "sweep": "running",
    }
    assert database.value("SELECT discovery_failures FROM markets WHERE id = 'm'") == 1
    # Its process is told to end, wherever it is.
    (renewed,) = database.call(job_leases.beat, PLACE, [database.value("SELECT id FROM jobs")]).values()
    assert (renewed.cancels, renewed.cancel_signal) == (1, "TERM")


def test_a_silent_run_of_any_spider_is_over(database: Database) -> None:
    """One that crawled a market says nothing of the spiders that the dispatcher starts."""
    make_market(database)
    for market in (None, "m"):
        database.do(
            "INSERT INTO runs (spider, market_id, source_id, adapter_id, started_at, heartbeat_at)"
            " VALUES ('toys', :market, 'bazaar', 'spider:toys', :then, :then)",
            market=market,
            then=NOW - 31 * MINUTE,
        )
    assert look(database).silent_runs == 2
    assert {row.status for row in database.rows("SELECT status FROM runs")} == {"stale"}
    market = database.row("SELECT * FROM markets WHERE id = 'm'")
    assert (market.discovery_failures, market.last_scrape_status) == (0, None)
    assert queued(database) == [("discovery", "m")]


def test_a_spider_of_another_project_that_is_called_verification_verifies_nothing(
    database: Database,
) -> None:
    hand_over(database, "bazaar", NOW - timedelta(hours=1))
    database.do(
        "INSERT INTO runs (spider, source_id, adapter_id, status, started_at, heartbeat_at)"
        " SELECT 'verification', 'bazaar', 'spider:verification', status, :now, :now"
        " FROM unnest(ARRAY['running', 'finished']) AS status",
        now=NOW,
    )
    look(database, NOW + MINUTE)
    assert verifications(database) == ["bazaar"]


def test_targets_that_are_due_get_as_many_jobs_as_they_need(database: Database) -> None:
    make_targets(database, 2500, sources=3, due=NOW)
    plan = DispatchPlan(limits=Limits(most_pending_per_source=5000, longest_backlog=0))
    done = look(database, plan=plan)
    assert len(done.targets.accepted) == 2500
    works = [work for (work,) in database.rows("SELECT work FROM jobs WHERE spider = 'targets' ORDER BY id")]
    assert works == ["targets", "targets 2", "targets 3"]
    assert look(database, NOW + MINUTE, plan).started == 0


def test_rejected_targets_stay_due_and_make_scheduling_rest(database: Database) -> None:
    make_targets(database, 30, due=NOW)
    plan = DispatchPlan(limits=Limits(most_pending=10, longest_backlog=0))
    assert len(look(database, plan=plan).targets.accepted) == 10
    assert database.value("SELECT count(*) FROM targets WHERE queue_state = 'idle'") == 20
    # Nobody has taken any: all of what is offered now is rejected.
    later = look(database, NOW + MINUTE, plan).targets
    assert (later.accepted, set(later.reasons)) == ([], {"queue_full"})
    assert later.paused_until == NOW + 2 * MINUTE
    assert look(database, NOW + 1.5 * MINUTE, plan).targets.offered == 0


def test_no_job_for_targets_that_nobody_may_read(database: Database) -> None:
    make_targets(database, 5, due=NOW)
    database.do("INSERT INTO adapter_status (adapter_id, enabled) VALUES ('adapter0', false)")
    database.do("UPDATE targets SET queue_state = 'pending', queued_at = :now", now=NOW)
    assert look(database).started == 0


def hand_over(database: Database, source: str, at: datetime, market: str | None = None) -> None:
    database.do(
        "INSERT INTO listings (source_id, market_id, identity_key, url, canonical_url, title, availability,"
        " first_seen_at, last_seen_at, verification_requested_at)"
        " VALUES (:source, :market, 'PID:' || :source, :source, :source, 'It', 'IN_STOCK', :at, :at, :at)",
        source=source,
        market=market,
        at=at,
    )


def verifications(database: Database) -> list[str]:
    rows = database.rows("SELECT arguments->>'source' FROM jobs WHERE spider = 'verification' ORDER BY id")
    return [source for (source,) in rows]


def test_what_was_handed_over_outside_any_market_is_verified_by_source(database: Database) -> None:
    hour = timedelta(hours=1)
    database.do(
        "INSERT INTO sources (id, name, adapter_id, domain, base_url, tos_approved_by)"
        " SELECT id, id, 'generic', id, 'https://' || id, CASE WHEN id <> 'unread' THEN 'a test' END"
        " FROM unnest(ARRAY['later', 'listed', 'shop', 'unread']) AS id"
    )
    make_market(database, source_id="listed", enabled=False)
    hand_over(database, "shop", NOW - hour)
    hand_over(database, "unread", NOW - hour)
    hand_over(database, "later", NOW - hour / 2)
    hand_over(database, "listed", NOW - hour, market="m")
    look(database)
    assert verifications(database) == ["shop"]
    # While it waits, and for an hour after it began, it is not queued again.
    look(database, NOW + MINUTE)
    assert verifications(database) == ["shop"]
    database.do("DELETE FROM jobs")
    database.do(
        "INSERT INTO runs (spider, source_id, status, started_at, heartbeat_at)"
        " VALUES ('verification', 'shop', 'finished', :now, :now)",
        now=NOW,
    )
    look(database, NOW + 45 * MINUTE)
    assert verifications(database) == ["later"]
    look(database, NOW + hour + MINUTE)
    assert verifications(database) == ["later", "shop"]
    database.do("UPDATE listings SET verification_requested_at = NULL")
    database.do("DELETE FROM jobs")
    look(database, NOW + 5 * hour)
    assert verifications(database) == []


def test_a_full_queue_is_not_filled_further(database: Database) -> None:
    for number in range(20):
        make_market(database, f"m{number}")
    assert look(database, plan=DispatchPlan(most_pending=5)).started == 5
    assert look(database, NOW + MINUTE, DispatchPlan(most_pending=5)).started == 0


def test_one_dispatcher_at_a_time_and_one_tick_a_minute(database: Database) -> None:
    for number in range(50):
        make_market(database, f"m{number}")

    def one(node: int, now: datetime = NOW) -> DispatchTick | None:
        begin = database.engine.begin
        return dispatch_once(begin, PLAN, node=f"node {node}", silence=MINUTE, every=MINUTE, now=now)

    with ThreadPoolExecutor(6) as crowd:
        done = [tick for tick in crowd.map(one, range(24)) if tick is not None]
    assert len(done) == 1
    assert Counter(queued(database)).most_common(1)[0][1] == 1
    assert len(queued(database)) == 50
    assert one(1, NOW + MINUTE / 2) is None
    assert one(2, NOW + MINUTE) is not None
    assert database.value("SELECT node FROM dispatcher") == "node 2"


def test_a_node_that_is_silent_is_told_and_one_that_left_is_not(database: Database) -> None:
    for name in ("lost", "left", "there"):
        place = QueuePlace(name, f"host/{name}", timedelta(seconds=30))
        database.call(node_rows.join, place, url=None, pid=1, slots=2)
    database.call(node_rows.leave, QueuePlace("left", "host/left", timedelta()))
    database.do("UPDATE nodes SET heartbeat_at = now() - interval '5 min' WHERE name <> 'there'")
    look(database)
    told = "SELECT subject FROM alerts WHERE kind = 'node_lost' AND resolved_at IS NULL"
    assert [subject for (subject,) in database.rows(told)] == ["lost"]
    database.do("UPDATE nodes SET heartbeat_at = now()")
    look(database, NOW + MINUTE)
    assert database.rows(told) == []


def test_a_job_that_waits_for_long_is_told(database: Database) -> None:
    database.call(job_queue.add, "pricewatch", "targets", {})
    database.do(
        "UPDATE jobs SET added_at = now() - interval '31 min', not_before = now() - interval '31 min'"
    )
    look(database)
    assert database.value("SELECT count(*) FROM alerts WHERE kind = 'jobs_waiting'") == 1


def test_the_query_leaves_out_nothing_that_the_rule_would_start(database: Database) -> None:
    """Markets in every state that chance brings about."""
    chance = random.Random(11)

    def some_time(longest: float) -> datetime | None:
        return None if chance.random() < 0.1 else NOW - timedelta(minutes=chance.random() * longest)

    for number in range(400):
        # Some are so fresh that only what was handed over can be due, some are of a time that never came.
        longest = chance.choice([30, 60 * 50, 60 * 50, -60 * 9000])
        make_market(
            database,
            f"m{number}",
            tier=chance.choice(["hot", "standard", "cool"]),
            enabled=chance.random() < 0.9,
            scrape_frequency_hours=chance.choice([None, None, 1, 48]),
            **{f"{spider}_failures": chance.choice([0, 0, 0, 1, 2, 3, 5]) for spider in SHARES},
            **{f"{spider}_failed_at": some_time(3000) for spider in SHARES},
            last_discovery_at=some_time(longest),
            last_sweep_at=some_time(longest),
            last_verification_at=some_time(300),
        )
    database.do(
        "INSERT INTO listings (source_id, market_id, identity_key, url, canonical_url, title, availability,"
        " first_seen_at, last_seen_at, verification_requested_at)"
        " SELECT 'bazaar', id, 'PID:' || id, id, id, id, 'IN_STOCK', :now, :now, :now FROM markets"
        " WHERE id LIKE 'm%7'",
        now=NOW,
    )
    everything = database.call(dispatch_state.all_markets)
    wanted = {
        (market.id, spider) for market in everything for spider in SHARES if judge(market, spider, NOW).starts
    }
    found = {
        (market.id, spider)
        for market in database.call(dispatch_state.due_markets, NOW)
        for spider in SHARES
        if judge(market, spider, NOW).starts
    }
    assert found == wanted
    assert len(wanted) > 200


def test_the_limits_of_stale_prices_are_settings() -> None:
    settings = Settings({"STALE_PRICE_HOURS": "6", "STALE_PRICE_SHARE": "0.5"})
    settings.setmodule("pricewatch.settings", priority="default")
    assert DispatchPlan.of(settings).stale_prices == StalePrices(hours=6, share=0.5)
