"""Pages that scripts build: when a run uses the browser, what it learns, and how pages are counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pricewatch.store.source_registry import source_hints
from tests.conftest import Crawl
from tests.spiders.conftest import World
from tests.spiders.target_runs import fetch, readable, target, watch

ADDON = {"ADDONS": json.dumps({"tests.spiders.stub_readers.ScriptsMayAddPrices": 1})}
COUNTERS = ("urls_attempted", "urls_succeeded", "urls_failed", "offers_extracted")


def built_by_scripts(world: World, count: int) -> list[Any]:
    found = [true for true in world.bazaar.truth() if true.markup == "js" and true.state == "on_sale"]
    assert len(found) >= count
    return found[:count]


def check(crawl: Crawl, world: World, **settings: Any) -> Any:
    """Run the targets spider with the stub reader in its own process; return the row of the run."""
    outcome = crawl("targets", settings={**ADDON, **settings})
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
    first, later = built_by_scripts(world, 2)
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
def test_page_that_the_browser_cannot_read_either_fails_once(world: World, crawl: Crawl) -> None:
    true = readable(world, 1)[0]
    body = "<html><body><h1>A lamp</h1><p>Please call us for an offer, we are glad to help.</p></body></html>"
    world.bazaar.fault("respond", path=true.url, body=body)
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
    trues = built_by_scripts(world, 3)
    ids = watch(world, trues, adapter_id="generic")
    run = check(crawl, world, CHROMIUM_PATH="/nowhere/chromium")
    assert counted(run) == (3, 0, 3, 0)
    assert not [reason for reason in run.reasons if "no_browser" in reason or "network" in reason]
    for target_id in ids:
        row = target(world, target_id)
        assert (row.last_status, row.queue_state, row.consecutive_failures) == ("FAILED", "idle", 1)
        assert row.last_reason in ("PRICE_NOT_FOUND", "EMPTY_PAGE")
    assert not needs_browser(world)


@pytest.mark.parametrize(("source", "own"), [("never", None), ("always", "never")])
def test_never_means_no_browser(world: World, crawl: Crawl, source: str, own: str | None) -> None:
    (true,) = built_by_scripts(world, 1)
    world.database.call(source_hints.set_render, "bazaar", source)
    watch(world, [true], adapter_id="generic", render=own)
    run = check(crawl, world, CHROMIUM_PATH="/nowhere/chromium")
    assert (counted(run), requests(world, true)) == ((1, 0, 1, 0), 1)
    assert "browser/tried" not in run.reasons


@pytest.mark.browser
@pytest.mark.slow
def test_always_renders_at_once_for_a_source_or_a_target(world: World) -> None:
    plain, scripts = readable(world, 1)[0], built_by_scripts(world, 1)[0]
    (target_id,) = watch(world, [scripts], adapter_id="generic", render="always")
    watch(world, [plain], adapter_id="generic")
    run = fetch(world)
    assert (run["counters"]["offers_valid"], requests(world, scripts)) == (2, 1)
    assert target(world, target_id).last_status == "SUCCESS"
    assert not needs_browser(world)
    # One page was rendered; a page in the browser also requests its scripts.
    pages = [entry.path for entry in world.bazaar.log() if entry.path == "/static/app.js"]
    assert len(pages) == 1
    world.database.call(source_hints.set_render, "bazaar", "always")
    world.database.do("UPDATE targets SET render = NULL, next_due_at = :now", now=world.bazaar.now())
    assert fetch(world)["counters"]["offers_valid"] == 2


@pytest.mark.browser
@pytest.mark.slow
def test_checked_page_is_tried_in_the_browser_too(world: World, crawl: Crawl) -> None:
    (true,) = built_by_scripts(world, 1)
    outcome = crawl("targets", settings=ADDON, url=world.bazaar.url + true.url, adapter="generic")
    assert true.title in outcome.stdout
    assert "would be stored" in outcome.stdout.lower() or "ok" in outcome.stdout.lower()
    assert requests(world, true) == 2
    assert not needs_browser(world)
    missing = crawl(
        "targets",
        settings={**ADDON, "CHROMIUM_PATH": "/nowhere/chromium"},
        url=world.bazaar.url + true.url,
        adapter="generic",
    )
    assert "NOT_FOUND" in missing.stdout or "EMPTY_PAGE" in missing.stdout


@pytest.mark.browser
@pytest.mark.slow
def test_custom_selector_that_matches_nothing_is_tried_in_the_browser(world: World, crawl: Crawl) -> None:
    (true,) = built_by_scripts(world, 1)
    (target_id,) = watch(world, [true], adapter_id="generic", selectors={"price": "strong.price"})
    run = check(crawl, world)
    assert counted(run) == (1, 1, 0, 1)
    assert target(world, target_id).last_status == "SUCCESS"
    assert world.listing(true).price_cents == true.price


@pytest.mark.browser
@pytest.mark.slow
def test_redirect_in_the_browser_to_another_product_is_a_failure(world: World) -> None:
    one, other = readable(world, 2)
    (target_id,) = watch(world, [one], adapter_id="generic", render="always")
    world.bazaar.fault("redirect", path=one.url, to=other.url)
    fetch(world)
    row = target(world, target_id)
    assert (row.last_status, row.last_reason) == ("FAILED", "PAGE_STRUCTURE_CHANGED")
    assert world.database.value("SELECT count(*) FROM listings") == 0
