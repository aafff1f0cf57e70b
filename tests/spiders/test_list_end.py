"""The end of a list: responses past the end, a market that shrank, and pages of filtered cards."""

from __future__ import annotations

from typing import Any

import pytest

from tests.spiders.conftest import World
from tests.spiders.test_sweep import BIKES, checkpoint, sweep

# Ten bikes per page; five of fifteen pages are left.
LEFT = 50
PAST_END = r"^/c/bikes\?page=(?:[6-9]|1\d)&"
NOTHING = "<html><body><main data-total='50'></main></body></html>"
HABITS: dict[str, dict[str, Any]] = {
    "404": {"action": "status", "status": 404},
    "410": {"action": "status", "status": 410},
    "empty": {"action": "respond", "body": NOTHING},
    "redirect to page 1": {"action": "redirect", "to": "/c/bikes?page=1&rows=10"},
    "redirect to the category": {"action": "redirect", "to": "/c/bikes"},
    "redirect to the last page": {"action": "redirect", "to": "/c/bikes?page=5&rows=10"},
}


def shrink(world: World, left: int = LEFT) -> None:
    for true in world.bazaar.truth("bikes"):
        if true.state in ("on_sale", "out_of_stock"):
            left -= 1
            if left < 0:
                world.bazaar.change(true.id, end="404")


@pytest.fixture
def past_end(world: World) -> World:
    """A sweep has read 14 of 15 pages; then the market shrank to five."""
    world.set_market(page_size=10)
    sweep(world, max_details=0, max_pages=14)
    assert checkpoint(world) == 14
    shrink(world)
    return world


def market(world: World) -> Any:
    return world.database.row("SELECT * FROM markets WHERE id = :id", id=world.market)


@pytest.mark.parametrize("habit", [*HABITS, "first", "repeat"])
def test_checkpoint_past_the_end_finds_the_new_end_and_wraps(past_end: World, habit: str) -> None:
    if habit in HABITS:
        past_end.bazaar.fault(path=PAST_END, **HABITS[habit])
    else:
        past_end.bazaar.behave(beyond_last=habit)
    past_end.advance(hours=3)
    run, pages = sweep(past_end, max_details=0)
    assert run["status"] == "finished", run["outcome"]
    assert run["progress"]["list_ends"] == "page 5 (was 14)"
    assert run["reasons"]["sweep/list_shrunk"] == 1
    assert pages[0] == 9
    assert {1, 5} <= set(pages)
    assert len(pages) <= 8
    after = market(past_end)
    assert (after.sweep_page, after.sweep_start_page, after.sweep_last_pages) == (None, None, 5)
    # Cards past the new end do not count for this cycle; cards counted before do.
    assert after.sweep_last_complete_seen == 140
    # Pages read in the search are stored; where the last page is repeated, page 9 equals page 5.
    stored = "SELECT page FROM run_pages WHERE outcome = 'ok' AND cards > 0 AND run_id = :id"
    last = 9 if habit == "repeat" else 5
    assert {1, last} <= {page for (page,) in past_end.database.rows(stored, id=run["id"])}
    # The next sweep starts a new cycle and finds the same end.
    _, pages = sweep(past_end, max_details=0)
    assert pages[:5] == [1, 2, 3, 4, 5]
    assert market(past_end).sweep_last_pages == 5


@pytest.mark.parametrize(
    "fault",
    [
        {"action": "status", "status": 500},
        {"action": "status", "status": 403},
        {"action": "rate_limit", "retry_after": 0},
        {"action": "captcha"},
        {"action": "reset"},
        {"action": "empty"},
        {"action": "blank"},
        {"action": "soft_404"},
        {"action": "redirect", "to": "/c/toys"},
    ],
    ids=lambda fault: str(fault.get("status", fault["action"])),
)
def test_trouble_past_the_end_is_not_the_end(past_end: World, fault: dict[str, Any]) -> None:
    past_end.bazaar.fault(path=PAST_END, **fault)
    run, _ = sweep(past_end, max_details=0)
    assert run["status"] == "failed"
    assert "page 9" in run["outcome"]
    assert checkpoint(past_end) == 14


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        (r"page=1&", {"action": "captcha"}),
        (r"page=1&", {"action": "status", "status": 404}),
        (r"page=1&", {"action": "respond", "body": NOTHING}),
        (r"page=5&", {"action": "status", "status": 500}),
    ],
)
def test_unreadable_list_has_no_end(past_end: World, path: str, fault: dict[str, Any]) -> None:
    """Page 1 and the last good page must be readable in the same run."""
    past_end.bazaar.fault(path=PAST_END, **HABITS["404"])
    past_end.bazaar.fault(path=path, **fault)
    run, _ = sweep(past_end, max_details=0)
    assert run["status"] == "failed"
    assert f"page {path[5]} of /c/bikes could not be read" in run["outcome"]
    assert checkpoint(past_end) == 14
    past_end.bazaar.clear_faults()
    past_end.bazaar.fault(path=PAST_END, **HABITS["404"])
    run, _ = sweep(past_end, max_details=0)
    assert run["status"] == "finished"
    assert checkpoint(past_end) is None


@pytest.mark.parametrize("habit", HABITS)
def test_discovery_ends_at_a_response_past_the_end(world: World, habit: str) -> None:
    """Fifteen pages are linked, but only five exist."""
    world.set_market(page_size=10)
    world.bazaar.fault(path=PAST_END, **HABITS[habit])
    run = world.crawl("discovery", max_details=0)
    assert run["status"] == "finished", run["outcome"]
    assert world.database.value("SELECT count(*) FROM listings") == 50
    assert market(world).first_read_at is not None
    outcome = world.database.value("SELECT outcome FROM run_pages WHERE page = 6")
    assert outcome == ("repeated" if "redirect" in habit else "empty")


@pytest.mark.parametrize("spider", ["discovery", "sweep"])
def test_page_of_filtered_cards_is_not_the_end(world: World, spider: str) -> None:
    prices = sorted(true.price for true in world.on_sale())
    lowest = prices[-25]
    world.set_market(page_size=3, price_currency="EUR", min_price_cents=lowest)
    run = world.crawl(spider, max_details=0, max_pages=60)
    assert run["status"] == "finished", run["outcome"]
    assert market(world).min_price_cents == lowest
    read = "SELECT count(*), count(*) FILTER (WHERE cards = 0) FROM run_pages WHERE outcome = 'ok'"
    pages, without = world.database.row(read)
    assert pages == 50
    assert without > 10
    offered = [true for true in world.bazaar.truth("bikes") if true.state in ("on_sale", "out_of_stock")]
    expected = {true.id for true in offered if true.price >= lowest and true.mode != "hidden"}
    stored = {
        key for (key,) in world.database.rows("SELECT identity_key FROM listings WHERE price_cents > 0")
    }
    assert stored == {f"PID:{number}" for number in expected}
    if spider == "sweep":
        assert run["progress"]["cycle"] == {"seen": BIKES, "last_complete": None, "complete": True}


@pytest.mark.parametrize("spider", ["discovery", "sweep"])
def test_start_page_with_only_filtered_cards_is_accepted(world: World, spider: str) -> None:
    world.set_market(price_currency="EUR", min_price_cents=99_999_999)
    world.database.do('UPDATE markets SET exclude_keywords = \'["e", "a", "i", "o", "u"]\'')
    run = world.crawl(spider, max_details=0)
    assert run["status"] == "finished", run["outcome"]
    assert not run["partial"]
    assert run["reasons"]["outside_market"] == BIKES
    assert world.database.value("SELECT count(*) FROM listings") == 0


def test_changed_filter_is_not_a_smaller_market(world: World) -> None:
    sweep(world, max_details=0)
    prices = sorted(true.price for true in world.on_sale())
    world.set_market(price_currency="EUR", min_price_cents=prices[-10])
    run, _ = sweep(world, max_details=0)
    assert run["progress"]["cycle"] == {"seen": BIKES, "last_complete": BIKES, "complete": True}
    assert not run["partial"]


def test_smaller_market_is_accepted_after_two_cycles_that_agree(world: World) -> None:
    sweep(world, max_details=0)
    shrink(world)
    run, _ = sweep(world, max_details=0)
    assert run["partial"]
    assert market(world).sweep_last_partial_seen == LEFT
    assert market(world).sweep_last_complete_seen == BIKES
    alert = world.database.row("SELECT * FROM alerts WHERE resolved_at IS NULL")
    assert (alert.kind, alert.subject) == ("sweep_partial", world.market)
    # A cycle with another size does not agree.
    shrink(world, left=30)
    run, _ = sweep(world, max_details=0)
    assert run["partial"]
    shrink(world, left=28)
    run, _ = sweep(world, max_details=0)
    assert not run["partial"]
    assert run["progress"]["market_shrank"] == f"two cycles agree: 28 cards now, {BIKES} before"
    assert run["reasons"]["sweep/cycle_shrunk"] == 1
    assert (market(world).sweep_last_complete_seen, market(world).sweep_last_partial_seen) == (28, None)
    assert world.database.value("SELECT count(*) FROM alerts WHERE resolved_at IS NULL") == 0


def test_failed_sweep_is_not_reset_by_a_successful_discovery(world: World) -> None:
    world.set_market(page_size=10)
    sweep(world, max_details=0, max_pages=12)
    world.bazaar.fault("captcha", path=r"page=(?:[7-9]|1\d)&")
    for _ in range(3):
        run, _ = sweep(world, max_details=0)
        assert run["status"] == "failed"
        # Discovery stops after five pages without new listings, before the failing page.
        assert world.crawl("discovery", max_details=0, max_pages=5)["status"] == "finished"
    after = market(world)
    assert (after.sweep_failures, after.discovery_failures) == (3, 0)
    (alert,) = world.database.rows("SELECT subject FROM alerts WHERE resolved_at IS NULL")
    assert alert.subject == f"{world.market} sweep"
    world.bazaar.clear_faults()
    sweep(world, max_details=0)
    assert market(world).sweep_failures == 0
    assert world.database.value("SELECT count(*) FROM alerts WHERE resolved_at IS NULL") == 0
