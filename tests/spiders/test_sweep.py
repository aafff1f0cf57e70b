"""The sweep: chunks, overlap, wrap-around, checkpoint, coverage, and which product pages it reads."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

# The number of bikes on sale in the marketplace of these tests.
BIKES = 150


def overview_pages(world: Any, since: int = 0) -> list[int]:
    """Return the numbers of the overview pages that were requested, in order."""
    found = (re.search(r"^/c/bikes\?page=(\d+)", entry.path) for entry in world.bazaar.log(since))
    return [int(match[1]) for match in found if match]


def sweep(world: Any, **arguments: Any) -> tuple[Any, list[int]]:
    world.bazaar.clear_log()
    run = world.crawl("sweep", **arguments)
    return run, overview_pages(world)


def checkpoint(world: Any) -> Any:
    return world.database.value("SELECT sweep_page FROM markets WHERE id = :id", id=world.market)


def test_sweep_reads_the_pages_of_the_specification(world):
    # 150 pages of one bike each: 1–50, 45–95, 90–140, then the rest, then from the start again.
    world.set_market(page_size=1)
    for first, last in ((1, 50), (45, 95), (90, 140)):
        run, pages = sweep(world, max_details=0)
        assert run["status"] == "finished"
        assert pages == list(range(first, last + 1))
        assert checkpoint(world) == last
    run, pages = sweep(world, max_details=0)
    assert pages == list(range(135, 151))
    assert run["progress"]["cycle"]["complete"]
    assert checkpoint(world) is None
    assert world.database.value("SELECT count(*) FROM listings WHERE active") == BIKES
    _, pages = sweep(world, max_details=0)
    assert pages[:2] == [1, 2]


def test_every_price_change_is_appended_once(world):
    sweep(world, max_details=0)
    changed = world.on_sale()[:3]
    for true in changed:
        world.bazaar.change(true.id, price=true.price + 100)
    world.advance(hours=3)
    run, _ = sweep(world, max_details=0)
    again, _ = sweep(world, max_details=0)
    assert again["price_rows"] == 0
    assert run["price_rows"] >= len(changed)
    for true in changed:
        history = world.database.rows(
            "SELECT price_cents FROM price_history WHERE listing_id = :id ORDER BY observed_at",
            id=world.listing(true).id,
        )
        assert [price for (price,) in history] == [true.price, true.price + 100]


@pytest.mark.parametrize("spider", ["sweep", "discovery"])
def test_price_jumps_are_counted_by_adapter_and_source(world, spider):
    world.crawl(spider, max_details=0)
    changed = world.on_sale()[:3]
    for true in changed:
        world.bazaar.change(true.id, price=true.price * 5)
    run = world.crawl(spider, max_details=0)
    assert run["reasons"]["quarantined/price_jump"] == len(changed)
    labels = "bazaar", "bazaar", "VALIDATION_FAILED"
    assert world.metric("scrape_offers_quarantined_total", *labels) == len(changed)


def test_failed_start_page_names_the_failed_page(world):
    world.set_market(page_size=20)
    world.bazaar.fault(path=r"page=3&", action="status", status=500)
    run, _ = sweep(world, max_details=0)
    (start,) = run["progress"]["start_pages"]
    assert (start["failed_page"], start["completed"]) == (3, False)


@pytest.mark.parametrize(("currency", "stays"), [("KWD", True), (None, False)])
def test_price_range_applies_to_its_currency_only(world, currency, stays):
    """Prices in another currency are not compared; their listings stay and are counted."""
    shop_currency = world.on_sale()[0].currency
    world.set_market(min_price_cents=99_999_999, price_currency=currency or shop_currency)
    run, _ = sweep(world, max_details=0)
    same = [true for true in world.on_sale() if true.currency == shop_currency]
    known = {row.canonical_url for row in world.database.rows("SELECT canonical_url FROM listings")}
    stored = [true for true in same if any(url.endswith(true.url) for url in known)]
    assert stored == (same if stays else [])
    assert (run["reasons"].get("price_not_compared/other_currency", 0) >= len(same)) is stays


@pytest.mark.parametrize("fault", [{"action": "status", "status": 500}, {"action": "captcha"}])
def test_unreadable_page_ends_the_run_and_the_next_run_continues_there(world, fault):
    world.set_market(page_size=20)
    world.bazaar.fault(path=r"page=6&", **fault)
    run, pages = sweep(world, max_details=0)
    assert run["status"] == "failed"
    assert "page 6" in run["outcome"]
    assert checkpoint(world) == 5
    assert max(pages) == 6
    world.bazaar.clear_faults()
    run, pages = sweep(world, max_details=0)
    assert run["status"] == "finished"
    assert pages[0] == 1
    assert checkpoint(world) is None


def test_checkpoint_is_never_ahead_of_the_data(world):
    """At whatever page a run stops, all cards up to its checkpoint are stored."""
    world.set_market(page_size=10)
    world.bazaar.fault("status", path=r"page=9&", status=500)
    sweep(world, max_details=0)
    assert checkpoint(world) == 8
    assert world.database.value("SELECT count(*) FROM listings") == 8 * 10


def test_cycle_that_saw_too_little_is_partial(world):
    world.set_market(page_size=20)
    run, _ = sweep(world, max_details=0)
    assert run["progress"]["cycle"]["complete"]
    # A site that suddenly ends after three pages, with status 200.
    world.bazaar.fault(
        "respond", path=r"page=[4-9]&", status=200, body="<main data-total='150'></main></html>"
    )
    run, pages = sweep(world, max_details=0)
    assert pages == [1, 2, 3, 4]
    assert run["status"] == "finished"
    assert run["partial"]
    alert = world.database.row("SELECT * FROM alerts WHERE resolved_at IS NULL")
    assert (alert.kind, alert.subject) == ("sweep_partial", world.market)
    last_complete = "SELECT sweep_last_complete_seen FROM markets WHERE id = :id"
    assert world.database.value(last_complete, id=world.market) == BIKES
    world.bazaar.clear_faults()
    run, _ = sweep(world, max_details=0)
    assert not run["partial"]
    assert world.database.value("SELECT count(*) FROM alerts WHERE resolved_at IS NULL") == 0


@pytest.mark.parametrize("mode", ["empty", "first", "repeat"])
def test_pages_past_the_end_end_the_cycle(world, mode):
    world.bazaar.behave(beyond_last=mode)
    world.set_market(page_size=10)
    sweep(world, max_details=0, max_pages=12)
    # Half of the market is removed: the checkpoint is now past the end.
    for true in world.on_sale()[:80]:
        world.bazaar.change(true.id, end="404")
    run, pages = sweep(world, max_details=0)
    assert run["status"] == "finished"
    assert len(pages) <= 4
    assert checkpoint(world) is None


def test_product_pages_never_read_come_first_then_the_oldest(world):
    world.crawl("discovery", max_details=0)
    run, _ = sweep(world, max_details=40)
    assert run["counters"]["urls_attempted"] == 40
    world.advance(hours=1)
    run, _ = sweep(world, max_details=1000)
    # All the others; pages read an hour ago are fresh.
    assert run["counters"]["urls_attempted"] == BIKES - 40
    world.advance(hours=1)
    run, _ = sweep(world, max_details=1000)
    failed = world.database.value("SELECT count(*) FROM listings WHERE active AND last_scraped_at IS NULL")
    assert run["counters"].get("urls_attempted", 0) <= failed
    world.advance(hours=23)
    world.bazaar.clear_log()
    run, _ = sweep(world, max_details=30)
    assert run["counters"]["urls_attempted"] == 30


def test_missing_product_page_requests_verification(world):
    world.crawl("discovery", max_details=0)
    true = world.on_sale()[0]
    world.bazaar.fault("status", path=true.url, status=404)
    sweep(world, max_details=1000)
    assert world.listing(true).verification_requested_at is not None
    assert world.listing(true).active


def test_product_page_without_offer_is_not_requested_again_within_a_day(world):
    """Else unreadable pages would dominate every run, and the adapter would seem broken."""
    unread = [true.url for true in world.bazaar.truth("bikes") if true.markup == "js"]
    assert unread
    world.crawl("sweep")
    world.crawl("sweep", max_details=200)
    assert world.methods_used(unread[0])[1:] == []
    world.advance(hours=3)
    world.crawl("sweep", max_details=200)
    assert len(world.methods_used(unread[0])) == 1
    world.advance(hours=22)
    world.crawl("sweep", max_details=200)
    assert len(world.methods_used(unread[0])) == 2


@pytest.mark.parametrize("addon", ["BreaksOnOffers", "DropsOffers"])
def test_product_page_with_quarantined_or_dropped_offer_waits_too(world, crawl, addon):
    """Else such pages would come first in every run."""
    world.crawl("discovery", max_details=0)
    settings = {"ADDONS": json.dumps({f"tests.spiders.broken.{addon}": 1})}
    for _ in range(2):
        world.bazaar.clear_log()
        assert crawl("sweep", market=world.market, max_details=10, settings=settings).returncode == 0
        requested = [entry.path for entry in world.bazaar.log() if entry.path.startswith("/item/")]
        assert len(requested) == 10
    waiting = world.database.value(
        "SELECT count(*) FROM listings WHERE detail_due_at > now() + interval '23 h'"
    )
    assert waiting == 20


def test_all_start_pages_are_one_cycle(world):
    world.set_market(start_pages='["/c/bikes", "/c/toys"]')
    run, _ = sweep(world, max_details=0)
    assert run["progress"]["cycle"]["complete"]
    toys = len([true for true in world.bazaar.truth("toys") if true.state in ("on_sale", "out_of_stock")])
    assert world.database.value("SELECT count(*) FROM listings") == BIKES + toys


def test_time_budget_ends_a_run_and_the_next_run_continues(world):
    world.set_market(page_size=20)
    hurried = {"SWEEP_TIME_BUDGET_MINUTES": 0}
    run = world.crawl("sweep", settings=hurried, max_details=0)
    assert run["status"] == "finished"
    assert checkpoint(world) == 1
    _, pages = sweep(world, max_details=0)
    assert pages == list(range(1, 9))


@pytest.mark.parametrize("to", ["other product", "/c/bikes", "/"])
def test_price_behind_a_redirect_is_not_stored(world, to):
    world.crawl("discovery", max_details=0)
    true, other = world.on_sale()[:2]
    world.bazaar.fault("redirect", path=f"^{true.url}$", to=other.url if to == "other product" else to)
    run, _ = sweep(world, max_details=1000)
    assert run["reasons"]["failure/PAGE_STRUCTURE_CHANGED"] >= 1
    listing = world.listing(true)
    assert listing.price_cents == true.price
    assert listing.last_scraped_at is None
