"""The end of a list: what a shop answers beyond it, a market that shrank, and cards that nobody wants."""

from __future__ import annotations

from typing import Any

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.conftest import Crawl
from tests.databases import Database
from tests.spiders.conftest import World
from tests.spiders.test_sweep import BIKES, checkpoint, sweep

# A page of ten bikes each; five of fifteen pages are left.
LEFT = 50
BEYOND = r"^/c/bikes\?page=(?:[6-9]|1\d)&"
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
def beyond(world: World) -> World:
    """A sweep has read 14 of 15 pages; then the market shrank to five."""
    world.set_market(page_size=10)
    sweep(world, max_details=0, max_pages=14)
    assert checkpoint(world) == 14
    shrink(world)
    return world


def market(world: World) -> Any:
    return world.database.row("SELECT * FROM markets WHERE id = :id", id=world.market)


@pytest.mark.parametrize("habit", [*HABITS, "first", "repeat"])
def test_a_checkpoint_beyond_the_end_learns_the_new_end_and_wraps(beyond: World, habit: str) -> None:
    if habit in HABITS:
        beyond.bazaar.fault(path=BEYOND, **HABITS[habit])
    else:
        beyond.bazaar.behave(beyond_last=habit)
    beyond.advance(hours=3)
    run, pages = sweep(beyond, max_details=0)
    assert run["status"] == "finished", run["outcome"]
    assert run["progress"]["list_ends"] == "page 5 (was 14)"
    assert run["reasons"]["sweep/list_shrunk"] == 1
    assert pages[0] == 9
    assert {1, 5} <= set(pages)
    assert len(pages) <= 8
    after = market(beyond)
    assert (after.sweep_page, after.sweep_start_page, after.sweep_last_pages) == (None, None, 5)
    # What nobody has seen since the shrinking is not of this cycle; what was counted before, is.
    assert after.sweep_last_complete_seen == 140
    # What was read on the way is stored; page 9 showed what page 5 does, where the last page is repeated.
    stored = "SELECT page FROM run_pages WHERE outcome = 'ok' AND cards > 0 AND run_id = :id"
    last = 9 if habit == "repeat" else 5
    assert {1, last} <= {page for (page,) in beyond.database.rows(stored, id=run["id"])}
    # The next one begins anew, and finds the end where it is.
    _, pages = sweep(beyond, max_details=0)
    assert pages[:5] == [1, 2, 3, 4, 5]
    assert market(beyond).sweep_last_pages == 5


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
def test_trouble_beyond_the_end_is_not_the_end(beyond: World, fault: dict[str, Any]) -> None:
    beyond.bazaar.fault(path=BEYOND, **fault)
    run, _ = sweep(beyond, max_details=0)
    assert run["status"] == "failed"
    assert "page 9" in run["outcome"]
    assert checkpoint(beyond) == 14


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        (r"page=1&", {"action": "captcha"}),
        (r"page=1&", {"action": "status", "status": 404}),
        (r"page=1&", {"action": "respond", "body": NOTHING}),
        (r"page=5&", {"action": "status", "status": 500}),
    ],
)
def test_a_list_that_cannot_be_read_has_no_end(beyond: World, path: str, fault: dict[str, Any]) -> None:
    """Page 1 and the last good page have to read well in the same run."""
    beyond.bazaar.fault(path=BEYOND, **HABITS["404"])
    beyond.bazaar.fault(path=path, **fault)
    run, _ = sweep(beyond, max_details=0)
    assert run["status"] == "failed"
    assert f"page {path[5]} of /c/bikes could not be read" in run["outcome"]
    assert checkpoint(beyond) == 14
    beyond.bazaar.clear_faults()
    beyond.bazaar.fault(path=BEYOND, **HABITS["404"])
    run, _ = sweep(beyond, max_details=0)
    assert run["status"] == "finished"
    assert checkpoint(beyond) is None


@pytest.mark.parametrize("habit", HABITS)
def test_discovery_takes_what_is_beyond_the_end_for_the_end(world: World, habit: str) -> None:
    """Fifteen pages are linked, five are there."""
    world.set_market(page_size=10)
    world.bazaar.fault(path=BEYOND, **HABITS[habit])
    run = world.crawl("discovery", max_details=0)
    assert run["status"] == "finished", run["outcome"]
    assert world.database.value("SELECT count(*) FROM listings") == 50
    assert market(world).first_read_at is not None
    outcome = world.database.value("SELECT outcome FROM run_pages WHERE page = 6")
    assert outcome == ("repeated" if "redirect" in habit else "empty")


@pytest.mark.parametrize("spider", ["discovery", "sweep"])
def test_a_page_of_cards_that_nobody_wants_is_not_the_end(world: World, spider: str) -> None:
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
    wanted = {true.id for true in offered if true.price >= lowest and true.mode != "hidden"}
    stored = {
        key for (key,) in world.database.rows("SELECT identity_key FROM listings WHERE price_cents > 0")
    }
    assert stored == {f"PID:{number}" for number in wanted}
    if spider == "sweep":
        assert run["progress"]["cycle"] == {"seen": BIKES, "last_complete": None, "complete": True}


@pytest.mark.parametrize("spider", ["discovery", "sweep"])
def test_a_start_page_without_anything_that_is_wanted_is_fine(world: World, spider: str) -> None:
    world.set_market(price_currency="EUR", min_price_cents=99_999_999)
    world.database.do('UPDATE markets SET exclude_keywords = \'["e", "a", "i", "o", "u"]\'')
    run = world.crawl(spider, max_details=0)
    assert run["status"] == "finished", run["outcome"]
    assert not run["partial"]
    assert run["reasons"]["outside_market"] == BIKES
    assert world.database.value("SELECT count(*) FROM listings") == 0


def test_a_changed_filter_does_not_look_like_a_smaller_market(world: World) -> None:
    sweep(world, max_details=0)
    prices = sorted(true.price for true in world.on_sale())
    world.set_market(price_currency="EUR", min_price_cents=prices[-10])
    run, _ = sweep(world, max_details=0)
    assert run["progress"]["cycle"] == {"seen": BIKES, "last_complete": BIKES, "complete": True}
    assert not run["partial"]


def test_a_market_that_shrank_is_believed_after_two_cycles_that_agree(world: World) -> None:
    sweep(world, max_details=0)
    shrink(world)
    run, _ = sweep(world, max_details=0)
    assert run["partial"]
    assert market(world).sweep_last_partial_seen == LEFT
    assert market(world).sweep_last_complete_seen == BIKES
    alert = world.database.row("SELECT * FROM alerts WHERE resolved_at IS NULL")
    assert (alert.kind, alert.subject) == ("sweep_partial", world.market)
    # One that saw something else agrees with nothing.
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


def test_a_sweep_that_fails_is_not_mended_by_a_good_discovery(world: World) -> None:
    world.set_market(page_size=10)
    sweep(world, max_details=0, max_pages=12)
    world.bazaar.fault("captcha", path=r"page=(?:[7-9]|1\d)&")
    for _ in range(3):
        run, _ = sweep(world, max_details=0)
        assert run["status"] == "failed"
        # Five pages without anything new: it does not come that far.
        assert world.crawl("discovery", max_details=0, max_pages=5)["status"] == "finished"
    after = market(world)
    assert (after.sweep_failures, after.discovery_failures) == (3, 0)
    (alert,) = world.database.rows("SELECT subject FROM alerts WHERE resolved_at IS NULL")
    assert alert.subject == f"{world.market} sweep"
    world.bazaar.clear_faults()
    sweep(world, max_details=0)
    assert market(world).sweep_failures == 0
    assert world.database.value("SELECT count(*) FROM alerts WHERE resolved_at IS NULL") == 0


SHOP = """
domain = "127.0.0.1"
currency = "USD"
pages = "page/{page}/"

[overview]
card = "ul.products li.product"
next = "a.next.page-numbers"
title = "h2"
price = ".price > bdi, .price ins"
"""
NO_PRODUCTS = (
    "<html><head><title>Instruments</title></head><body><h1>Instruments</h1>"
    "<p class='woocommerce-info'>No products were found matching your selection.</p></body></html>"
)


@pytest.fixture
def guitars(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, database: Database
) -> Any:
    """A declared shop without `container`, whose sweep stopped at page 9 of what are two pages now."""
    (tmp_path / "guitars.toml").write_text(SHOP, "utf-8")
    monkeypatch.setenv("PRICEWATCH_SHOPS", str(tmp_path))
    crawl: Crawl = request.getfixturevalue("crawl")
    with Bazaar.start(seed=5, listings=300, skin="sgammo") as bazaar:
        bazaar.advance(days=12)
        path = "/product-category/instruments/"
        for words in (
            ("markets", "add", "guitars", f"{bazaar.url}{path}", "--adapter", "guitars", "--source", "shop"),
            ("sources", "approve", "shop", "--by", "Ada"),
        ):
            assert crawl.command(*words).end().returncode == 0
        database.do("UPDATE sources SET requests_per_second = 1000, min_delay_ms = 0 WHERE id = 'shop'")
        offered = [true for true in bazaar.truth("instruments") if true.state in ("on_sale", "out_of_stock")]
        bazaar.behave(max_rows=-(-len(offered) // 2))
        database.do(
            "UPDATE markets SET sweep_start_page = start_pages->>0, sweep_page = 9, sweep_cycle_seen = 200,"
            " sweep_cycle_started_at = now() WHERE id = 'guitars'"
        )
        yield bazaar, lambda **more: crawl("sweep", market="guitars", max_details=0, **more)


@pytest.mark.slow
def test_an_empty_list_needs_no_container(guitars: Any, database: Database) -> None:
    bazaar, run_sweep = guitars
    bazaar.fault("respond", path=r"/page/(?:[3-9]|\d\d)/", body=NO_PRODUCTS)
    ended = run_sweep()
    assert ended.returncode == 0, ended.stderr
    assert "the list now ends at page 2 (was 9)" in ended.stderr
    after = database.row("SELECT * FROM markets WHERE id = 'guitars'")
    assert (after.sweep_page, after.sweep_last_pages) == (None, 2)
    assert database.value("SELECT count(*) FROM listings WHERE market_id = 'guitars'") > 10


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/product-category/", r"/page/\d"])
def test_a_page_that_says_something_else_is_not_an_empty_list(
    guitars: Any, database: Database, path: str
) -> None:
    """Maintenance, for all pages; or a site that shows only its first page, in another layout."""
    bazaar, run_sweep = guitars
    bazaar.fault(
        "respond", path=path, body=NO_PRODUCTS.replace("No products", "We are soon back. No products")
    )
    ended = run_sweep()
    after = database.row("SELECT * FROM markets WHERE id = 'guitars'")
    if path == "/product-category/":
        assert ended.returncode == 1
        assert "page 1 of /product-category/instruments/ could not be read" in ended.stderr
        assert after.sweep_page == 9
    else:
        # One page reads well: what is not there is beyond the end.
        assert (ended.returncode, after.sweep_last_pages) == (0, 1)


@pytest.mark.slow
def test_a_first_page_that_is_shown_again_is_not_counted_twice(
    guitars: Any, database: Database, tmp_path: Any
) -> None:
    """A chunk that begins in the middle does not know the first page when it is shown again."""
    bazaar, run_sweep = guitars
    shop = SHOP.replace('next = "a.next.page-numbers"', 'container = "ul.products"')
    (tmp_path / "guitars.toml").write_text(shop, "utf-8")
    offered = [true for true in bazaar.truth("instruments") if true.state in ("on_sale", "out_of_stock")]
    bazaar.behave(beyond_last="first", max_rows=-(-len(offered) // 4))
    database.do("UPDATE markets SET sweep_page = NULL WHERE id = 'guitars'")
    assert run_sweep(max_pages=3).returncode == 0
    ended = run_sweep(settings={"SWEEP_OVERLAP_PAGES": 1})
    assert ended.returncode == 0, ended.stderr
    read = "SELECT page FROM run_pages WHERE run_id = :id AND outcome = 'ok' ORDER BY id"
    assert [page for (page,) in database.rows(read, id=database.last_run("sweep").id)] == [2, 3, 4, 5, 1]
    after = database.row("SELECT * FROM markets WHERE id = 'guitars'")
    assert (after.sweep_last_pages, after.sweep_last_complete_seen) == (4, len(offered))
