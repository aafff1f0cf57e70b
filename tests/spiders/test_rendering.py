"""Pages that scripts build: when a run uses the browser, what it learns, and how pages are counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pricewatch.store.source_registry import source_hints
from tests.conftest import Crawl
from tests.spiders.conftest import World
from tests.spiders.target_runs import fetch, readable, target, watch
from tests.spiders.test_verification_of_source import verify_source
from tests.waiting import until

# For the adapter of the marketplace, which never says that a page may need the browser.
ADDON = {"ADDONS": json.dumps({"tests.spiders.stub_readers.ScriptsMayAddPrices": 1})}
COUNTERS = ("urls_attempted", "urls_succeeded", "urls_failed", "offers_extracted")


def priced_by_script(world: World, count: int) -> list[Any]:
    """Return listings whose pages have everything but the price, which a script adds."""
    found = [true for true in world.on_sale() if true.markup in ("jsonld", "microdata")][:count]
    world.bazaar.habit("price_by_script", ids=[true.id for true in found])
    return found


def check(crawl: Crawl, world: World, **settings: Any) -> Any:
    """Run the targets spider in its own process; return the row of the run."""
    outcome = crawl("targets", settings=settings)
    assert outcome.returncode == 0, outcome.stderr
    return world.database.row("SELECT * FROM runs ORDER BY id DESC LIMIT 1")


def counted(run: Any) -> tuple[int, ...]:
    return tuple(getattr(run, name) for name in COUNTERS)


def requests(world: World, true: Any) -> int:
    return len(world.methods_used(true.url))


def needs_browser(world: World) -> bool:
    return bool(world.database.value("SELECT needs_browser FROM sources WHERE id = 'bazaar'"))


@pytest.mark.browser
@pytest.mark.slow
def test_page_without_a_price_is_tried_in_the_browser_and_the_source_remembers(
    world: World, crawl: Crawl
) -> None:
    first, later = priced_by_script(world, 2)
    (first_id,) = watch(world, [first], adapter_id="generic")
    run = check(crawl, world)
    assert counted(run) == (1, 1, 0, 1)
    assert (run.reasons["browser/tried"], run.reasons["browser/needed"]) == (1, 1)
    assert requests(world, first) == 2
    assert target(world, first_id).last_status == "SUCCESS"
    assert world.listing(first).price_cents == first.price
    assert needs_browser(world)
    audit = world.database.row("SELECT person, action, subject FROM audit")
    assert tuple(audit) == ("pricewatch", "source needs the browser", "bazaar")
    # From now on, its pages are rendered at once.
    (later_id,) = watch(world, [later], adapter_id="generic")
    run = check(crawl, world)
    assert counted(run) == (1, 1, 0, 1)
    assert "browser/tried" not in run.reasons
    assert requests(world, later) == 1
    assert target(world, later_id).last_status == "SUCCESS"
    # A choice of a person replaces what was learned.
    world.database.call(source_hints.set_render, "bazaar", "never")
    assert not needs_browser(world)
    world.database.do("UPDATE targets SET next_due_at = now() - interval '1 day'")
    run = check(crawl, world)
    assert counted(run) == (2, 0, 2, 0)
    assert "browser/tried" not in run.reasons
    assert not needs_browser(world)


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.proof
def test_page_that_the_browser_cannot_read_either_fails_once(world: World, crawl: Crawl) -> None:
    (true,) = priced_by_script(world, 1)
    # The script finds no price to add.
    world.bazaar.fault("status", path="^/api/", status=404)
    (target_id,) = watch(world, [true], adapter_id="generic")
    run = check(crawl, world)
    assert counted(run) == (1, 0, 1, 0)
    assert run.reasons["browser/tried"] == 1
    assert run.reasons["failure/PRICE_NOT_FOUND"] == 1
    assert requests(world, true) == 2
    row = target(world, target_id)
    assert (row.last_status, row.last_reason, row.queue_state) == ("FAILED", "PRICE_NOT_FOUND", "idle")
    assert row.consecutive_failures == 1
    assert not needs_browser(world)


def test_without_a_browser_the_outcome_is_the_first_failure(world: World, crawl: Crawl) -> None:
    trues = priced_by_script(world, 3)
    ids = watch(world, trues, adapter_id="generic")
    run = check(crawl, world, CHROMIUM_PATH="/nowhere/chromium")
    assert counted(run) == (3, 0, 3, 0)
    assert not [reason for reason in run.reasons if "no_browser" in reason or "network" in reason]
    for target_id in ids:
        row = target(world, target_id)
        assert (row.last_status, row.queue_state, row.consecutive_failures) == ("FAILED", "idle", 1)
        assert row.last_reason == "PRICE_NOT_FOUND"
    assert not needs_browser(world)
    tables = ("listings", "price_history", "quarantine", "audit", "alerts")
    assert [world.database.value(f"SELECT count(*) FROM {table}") for table in tables] == [0] * len(tables)


@pytest.mark.parametrize(("source", "own"), [("never", None), ("always", "never")])
def test_never_means_no_browser(world: World, crawl: Crawl, source: str, own: str | None) -> None:
    (true,) = priced_by_script(world, 1)
    world.database.call(source_hints.set_render, "bazaar", source)
    watch(world, [true], adapter_id="generic", render=own)
    run = check(crawl, world, CHROMIUM_PATH="/nowhere/chromium")
    assert (counted(run), requests(world, true)) == ((1, 0, 1, 0), 1)
    assert "browser/tried" not in run.reasons


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.proof
def test_always_renders_at_once_for_a_source_or_a_target(world: World) -> None:
    plain, scripts = world.on_sale()[-1], priced_by_script(world, 1)[0]
    (target_id,) = watch(world, [scripts], adapter_id="generic", render="always")
    watch(world, [plain], adapter_id="generic")
    run = fetch(world)
    assert (run["counters"]["offers_valid"], requests(world, scripts)) == (2, 1)
    assert target(world, target_id).last_status == "SUCCESS"
    assert not needs_browser(world)
    # One page was rendered; a page in the browser also requests its scripts.
    pages = [entry.path for entry in world.bazaar.log() if entry.path == "/static/offer.js"]
    assert len(pages) == 1
    world.database.call(source_hints.set_render, "bazaar", "always")
    world.database.do("UPDATE targets SET render = NULL, next_due_at = :now", now=world.bazaar.now())
    assert fetch(world)["counters"]["offers_valid"] == 2


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.proof
def test_checked_page_is_tried_in_the_browser_too(world: World, crawl: Crawl) -> None:
    (true,) = priced_by_script(world, 1)
    outcome = crawl("targets", url=world.bazaar.url + true.url, adapter="generic")
    assert true.title in outcome.stdout
    assert "failed" not in outcome.stdout
    assert requests(world, true) == 2
    assert not needs_browser(world)
    missing = crawl(
        "targets",
        settings={"CHROMIUM_PATH": "/nowhere/chromium"},
        url=world.bazaar.url + true.url,
        adapter="generic",
    )
    assert "PRICE_NOT_FOUND" in missing.stdout
    assert "no_browser" not in missing.stdout


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.proof
def test_custom_selector_that_matches_nothing_is_tried_in_the_browser(world: World, crawl: Crawl) -> None:
    (true,) = priced_by_script(world, 1)
    (target_id,) = watch(world, [true], adapter_id="generic", selectors={"price": "strong.price"})
    run = check(crawl, world)
    assert counted(run) == (1, 1, 0, 1)
    assert target(world, target_id).last_status == "SUCCESS"
    assert world.listing(true).price_cents == true.price


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("by_script", [True, False])
def test_redirect_in_the_browser_to_another_product_is_a_failure(world: World, by_script: bool) -> None:
    one, other = readable(world, 2)
    (target_id,) = watch(world, [one], adapter_id="generic", render="always")
    if by_script:
        body = f"<!doctype html><title>Moved</title><script>location.replace('{other.url}')</script>"
        world.bazaar.fault("respond", path=one.url, body=body)
    else:
        world.bazaar.fault("redirect", path=one.url, to=other.url)
    fetch(world)
    assert requests(world, other) == 1
    row = target(world, target_id)
    assert (row.last_status, row.last_reason) == ("FAILED", "PAGE_STRUCTURE_CHANGED")
    assert world.database.value("SELECT count(*) FROM listings") == 0


@pytest.mark.slow
@pytest.mark.proof
def test_stopped_run_releases_a_target_that_waits_for_the_browser(world: World, crawl: Crawl) -> None:
    (true,) = priced_by_script(world, 1)
    watch(world, [true], adapter_id="generic")
    # robots.txt, the page, and several seconds later the page in the browser.
    world.database.do("UPDATE sources SET requests_per_second = 0.3 WHERE id = 'bazaar'")
    running = crawl.start("targets")
    until(lambda: requests(world, true) == 1)
    until(lambda: world.database.value("SELECT count(*) FROM targets WHERE queue_state = 'leased'") == 1)
    running.terminate()
    assert running.end().returncode != 0
    assert requests(world, true) == 1
    row = world.database.row("SELECT queue_state, consecutive_failures, last_status, leased_by FROM targets")
    assert tuple(row) == ("pending", 0, None, None)


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.proof
def test_product_pages_of_a_market_are_tried_in_the_browser(world: World, crawl: Crawl) -> None:
    outcome = crawl("discovery", settings=ADDON, market=world.market, max_details=60)
    assert outcome.returncode == 0, outcome.stderr
    run = world.database.row("SELECT * FROM runs ORDER BY id DESC LIMIT 1")
    assert run.urls_attempted == 60 == run.urls_succeeded + run.urls_failed
    scripts = {true.url for true in world.bazaar.truth("bikes") if true.markup == "js"}
    read = [
        true
        for true in world.bazaar.truth("bikes")
        if true.url in scripts and requests(world, true) and world.listing(true).last_scraped_at
    ]
    assert read
    assert all(world.listing(true).price_cents == true.price for true in read)
    assert needs_browser(world)
    # Overview pages did not need the browser, and do not get it.
    world.bazaar.clear_log()
    again = crawl(
        "sweep", settings={**ADDON, "CHROMIUM_PATH": "/nowhere"}, market=world.market, max_details=0
    )
    assert again.returncode == 0, again.stderr


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.proof
def test_verification_renders_what_the_targets_spider_renders(world: World) -> None:
    (true,) = priced_by_script(world, 1)
    watch(world, [true], adapter_id="generic", render="always")
    fetch(world)
    world.bazaar.clear_log()
    world.database.do("UPDATE listings SET verification_requested_at = :now", now=world.bazaar.now())
    run = verify_source(world)
    assert run["counters"]["urls_succeeded"] == 1
    assert "/static/offer.js" in [entry.path for entry in world.bazaar.log()]
