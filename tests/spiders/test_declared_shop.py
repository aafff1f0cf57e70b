"""A declared shop from the shell to the database: a WooCommerce shop in one small file."""

from __future__ import annotations

from typing import Any

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.spiders.truth import check_history

# Its cards do not show the stock; product pages do.
SHOP = """
domain = "127.0.0.1"
currency = "USD"
pages = "page/{page}/"

[overview]
card = "ul.products li.product"
next = "a.next.page-numbers"
title = "h2"
price = ".price > bdi, .price ins"

[product]
title = "h1.product_title"
price = ".summary p.price > bdi, .summary p.price ins"
availability = ".summary .stock"
"""


# The sample marketplace imitates the shop, so no rate limit is needed.
QUICK = ("sources", "set", "--requests-per-second", "1000", "--min-delay-ms", "0", "--max-concurrent", "16")


@pytest.fixture
def errors() -> list[str]:
    """The standard error output of each command."""
    return []


@pytest.fixture
def scrapy(tmp_path, monkeypatch, request, errors):
    (tmp_path / "guitars.toml").write_text(SHOP, "utf-8")
    monkeypatch.setenv("PRICEWATCH_SHOPS", str(tmp_path))
    crawl: Any = request.getfixturevalue("crawl")

    def scrapy(*words: str) -> str:
        done = crawl.command(*words).end()
        assert done.returncode == 0, done.stderr
        errors.append(done.stderr)
        return str(done.stdout)

    return scrapy


@pytest.mark.parametrize(
    ("right", "wrong", "suspect"),
    [("a.next.page-numbers", "a.weiter", "`next`"), ("page/{page}/", "?seite={page}", "`pages`")],
)
@pytest.mark.proof
def test_first_crawl_of_one_page_of_a_longer_list_warns(
    scrapy, errors, database, tmp_path, right, wrong, suspect
):
    (tmp_path / "guitars.toml").write_text(SHOP.replace(right, wrong), "utf-8")
    with Bazaar.start(seed=5, listings=600, skin="sgammo") as bazaar:
        url = f"{bazaar.url}/product-category/instruments/"
        scrapy("markets", "add", "guitars", url, "--adapter", "guitars", "--source", "guitar-shop")
        scrapy("sources", "approve", "guitar-shop", "--by", "Ada")
        scrapy(*QUICK, "guitar-shop")
        scrapy("crawl", "discovery", "-a", "market=guitars", "-a", "max_details=0")
        summary = errors[-1][errors[-1].index("ATTENTION: ") :].splitlines()[0]
        assert summary.startswith(
            "ATTENTION: 1 page of /product-category/instruments/ was read, but it links to "
        )
        assert summary.endswith(f"; is {suspect} right?")
        (error,) = database.value("SELECT errors FROM runs")
        assert error["error"] == summary.removeprefix("ATTENTION: ")
        # No warning if one page was requested, or after the first crawl.
        scrapy("crawl", "discovery", "-a", "market=guitars", "-a", "max_details=0")
        assert "ATTENTION" not in errors[-1]


def test_declared_shop_is_crawled_from_file_to_market(scrapy, errors, database):
    with Bazaar.start(seed=5, listings=300, skin="sgammo") as bazaar:
        bazaar.advance(days=12)
        first, second, *_ = [true for true in bazaar.truth("instruments") if true.state == "on_sale"]
        bazaar.change(first.id, stock="out")
        bazaar.change(second.id, stock="hidden")
        url = f"{bazaar.url}/product-category/instruments/"
        scrapy("markets", "add", "guitars", url, "--adapter", "guitars", "--source", "guitar-shop")
        scrapy("sources", "approve", "guitar-shop", "--by", "Ada")
        scrapy(*QUICK, "guitar-shop")
        scrapy("crawl", "discovery", "-a", "market=guitars")
        assert "ATTENTION" not in errors[-1]
        assert database.value("SELECT errors FROM runs") == []
        offered = [true for true in bazaar.truth("instruments") if true.state in ("on_sale", "out_of_stock")]
        expected = {
            true.url.rstrip("/"): (
                None if true.mode == "hidden" else true.price,
                {"on_sale": "IN_STOCK"}.get(true.state, "OUT_OF_STOCK"),
            )
            for true in offered
        }
        assert {stock for _, stock in expected.values()} == {"IN_STOCK", "OUT_OF_STOCK"}
        assert (None, "OUT_OF_STOCK") in expected.values()
        assert stored(database) == expected
        # Later cards alone do not change the stock that the product page showed.
        before = database.value("SELECT count(*) FROM price_history")
        scrapy("crawl", "sweep", "-a", "market=guitars", "-a", "max_details=0")
        assert stored(database) == expected
        assert database.value("SELECT count(*) FROM price_history") == before
        assert "instruments" not in scrapy("markets", "show", "guitars")
    check_history(database)


def stored(database: Any) -> dict[str, tuple[int | None, str]]:
    rows = database.rows(
        "SELECT regexp_replace(canonical_url, '^https://[^/]+', ''), price_cents, availability"
        " FROM listings WHERE market_id = 'guitars'"
    )
    return {path: (price, availability) for path, price, availability in rows}
