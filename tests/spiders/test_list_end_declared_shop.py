"""The end of a list of a declared shop: empty pages, pages of another kind, and a repeated first page."""

from __future__ import annotations

from typing import Any

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.conftest import Crawl
from tests.databases import Database

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
    """A declared shop without `container`, whose sweep stopped at page 9 and which now has two pages."""
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
def test_empty_list_is_recognized_without_container(guitars: Any, database: Database) -> None:
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
def test_page_of_another_kind_is_not_an_empty_list(guitars: Any, database: Database, path: str) -> None:
    """A maintenance notice on all pages, or on all pages but the first."""
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
        # One page is readable: the others are past the end.
        assert (ended.returncode, after.sweep_last_pages) == (0, 1)


@pytest.mark.slow
@pytest.mark.proof
def test_repeated_first_page_is_not_counted_twice(guitars: Any, database: Database, tmp_path: Any) -> None:
    """A chunk that starts in the middle has not read the first page that the site repeats."""
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
