"""Pages that take too long to read: the run goes on without them, and they are put off like any failure."""

from __future__ import annotations

import json
from typing import Any

from tests.conftest import Crawl
from tests.forked import Outcome
from tests.reading.slow_adapters import POISON, SLOW_XPATH
from tests.spiders.conftest import World
from tests.spiders.target_runs import known, readable, target, watch

SETTINGS = {
    "ADDONS": json.dumps({"tests.reading.slow_adapters.PoisonPagesTakeForever": 1}),
    "READ_DEADLINE_SECONDS": 0.5,
    "RUN_HEARTBEAT_SECONDS": 0.1,
}


def poison(world: World, path: str) -> None:
    world.bazaar.fault("status", path=f"^{path}$", status=200, body=POISON.decode())


def run_of(world: World) -> Any:
    return world.database.row("SELECT * FROM runs ORDER BY id DESC LIMIT 1")


def crawl_targets(crawl: Crawl, world: World, **settings: Any) -> Any:
    return finished(crawl("targets", settings={**SETTINGS, **settings}), world)


def finished(outcome: Outcome, world: World) -> Any:
    assert outcome.returncode == 0, outcome.stderr
    return run_of(world)


def test_other_targets_are_read_and_the_poison_page_is_put_off(world: World, crawl: Crawl) -> None:
    trues = readable(world, 7)
    ids = watch(world, trues[:6])
    # An ordinary page with a selector that takes forever: no signal interrupts it.
    ids += watch(world, trues[6:], selectors={"price": SLOW_XPATH})
    poison(world, trues[2].url)
    run = crawl_targets(crawl, world)
    assert (run.status, run.urls_attempted, run.urls_succeeded, run.urls_failed) == ("finished", 7, 5, 2)
    assert run.reasons["failure/READ_TIMEOUT"] == 2
    assert world.metric("scrape_urls_failed_total", "bazaar", "bazaar", "READ_TIMEOUT") == 2
    for target_id, true in zip(ids, trues, strict=True):
        row = target(world, target_id)
        if true in (trues[2], trues[6]):
            assert (row.last_status, row.last_reason, row.status) == ("FAILED", "READ_TIMEOUT", "ACTIVE")
            assert (row.consecutive_failures, row.queue_state) == (1, "idle")
            assert row.listing_id is None
        else:
            assert (row.last_status, world.listing(true).price_cents) == ("SUCCESS", true.price)
        assert row.next_due_at > run.finished_at
    errors = [error["details"] for error in run.errors]
    assert errors == ["not read within 0.5 seconds"] * 2
    assert world.database.rows("SELECT id FROM quarantine") == []
    # The next run does not meet them before they are due.
    assert crawl_targets(crawl, world).urls_attempted == 0
    assert len(world.methods_used(trues[2].url)) == 1


def test_poison_page_says_nothing_about_a_known_listing(world: World, crawl: Crawl) -> None:
    (true,), (target_id,) = known(world)
    before = world.listing(true)
    poison(world, true.url)
    world.database.do("UPDATE targets SET next_due_at = now() - interval '1 minute'")
    run = crawl_targets(crawl, world)
    assert (run.status, run.reasons["failure/READ_TIMEOUT"], run.offers_quarantined) == ("finished", 1, 0)
    after = world.listing(true)
    assert (after.price_cents, after.active, after.strikes) == (before.price_cents, True, before.strikes)
    assert target(world, target_id).last_reason == "READ_TIMEOUT"


def test_poison_overview_page_is_requested_once(world: World, crawl: Crawl) -> None:
    poison(world, "/c/bikes.*")
    outcome = crawl("discovery", market=world.market, settings=SETTINGS)
    run = run_of(world)
    assert (run.status, run.reasons["failure/READ_TIMEOUT"]) == ("failed", 1), outcome.stderr
    assert "READ_TIMEOUT not read within 0.5 seconds" in run.reason
    assert len(world.methods_used("/c/bikes")) == 1


def test_verification_goes_on_after_a_poison_page(world: World, crawl: Crawl) -> None:
    trues, _ = known(world, 3)
    world.database.do(
        "UPDATE listings SET last_seen_at = now() - interval '3 days', verification_requested_at = now()"
    )
    poison(world, trues[1].url)
    run = finished(crawl("verification", source="bazaar", settings=SETTINGS), world)
    assert (run.status, run.urls_attempted, run.urls_failed) == ("finished", 3, 1)
    assert run.reasons["failure/READ_TIMEOUT"] == 1
    checks = world.database.rows("SELECT outcome, reason FROM verification_attempts")
    assert [row.reason for row in checks if row.reason] == ["READ_TIMEOUT not read within 0.5 seconds"]


def test_large_page_is_read_with_a_memory_limit(world: World, crawl: Crawl) -> None:
    large, ordinary = readable(world, 2)
    ids = watch(world, [large, ordinary])
    body = POISON.decode().replace("poison", "a") + "<b></b>" * 300_000
    world.bazaar.fault("status", path=large.url, status=200, body=body)
    run = crawl_targets(crawl, world, READ_DEADLINE_SECONDS=5, READER_MEMORY_MB=150)
    assert (run.status, run.urls_succeeded, run.urls_failed) == ("finished", 1, 1)
    assert [error["details"] for error in run.errors] == ["not read within 150 MB of memory"]
    assert [target(world, one).last_status for one in ids] == ["FAILED", "SUCCESS"]


def test_parse_command_reports_a_poison_page(world: World, crawl: Crawl) -> None:
    (true,) = readable(world, 1)
    poison(world, true.url)
    options = [part for name, value in SETTINGS.items() for part in ("-s", f"{name}={value}")]
    outcome = crawl.command("parse", "--json", *options, world.bazaar.url + true.url).end()
    found = json.loads(outcome.stdout)
    assert (outcome.returncode, found["status"], found["reason"]) == (1, "failed", "READ_TIMEOUT")
    assert found["details"] == "not read within 0.5 seconds"
