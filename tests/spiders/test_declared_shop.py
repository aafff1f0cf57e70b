"""A shop that is only declared, from the shell to the database: a WooCommerce shop in one small file."""

from __future__ import annotations

from typing import Any

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.spiders.truth import check_history

# Its cards say nothing of stock: that is left to the products' own pages.
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


# The sample marketplace in another shop's clothes: it need not be spared either.
QUICK = ("sources", "set", "--requests-per-second", "1000", "--min-delay-ms", "0", "--max-concurrent", "16")


@pytest.fixture
def said() -> list[str]:
    """What commands wrote on standard error, one by one."""
    return []


@pytest.fixture
def scrapy(tmp_path, monkeypatch, request, said):
    (tmp_path / "guitars.toml").write_text(SHOP, "utf-8")
    monkeypatch.setenv("PRICEWATCH_SHOPS", str(tmp_path))
    crawl: Any = request.getfixturevalue("crawl")

    def scrapy(*words: str) -> str:
        done = crawl.command(*words).end()
        assert done.returncode == 0, done.stderr
        said.append(done.stderr)
        return str(done.stdout)

    return scrapy


@pytest.mark.parametrize(
    ("right", "wrong", "doubted"),
    [("a.next.page-numbers", "a.weiter", "`next`"), ("page/{page}/", "?seite={page}", "`pages`")],
)
def test_a_first_crawl_of_one_page_of_a_longer_list_says_so(
    scrapy, said, database, tmp_path, right, wrong, doubted
):
    (tmp_path / "guitars.toml").write_text(SHOP.replace(right, wrong), "utf-8")
    with Bazaar.start(seed=5, listings=600, skin="sgammo") as bazaar:
        url = f"{bazaar.url}/product-category/instruments/"
        scrapy("markets", "add", "guitars", url, "--adapter", "guitars", "--source", "guitar-shop")
        scrapy("sources", "approve", "guitar-shop", "--by", "Ada")
        scrapy(*QUICK, "guitar-shop")
        scrapy("crawl", "discovery", "-a", "market=guitars", "-a", "max_details=0")
        summary = said[-1][said[-1].index("LOOK: ") :].splitlines()[0]
        assert summary.startswith("LOOK: 1 page of /product-category/instruments/ was read, but it links to ")
        assert summary.endswith(f"; is {doubted} right?")
        (error,) = database.value("SELECT errors FROM runs")
        assert error["error"] == summary.removeprefix("LOOK: ")
        # A person who wants one page gets no sermon, and later crawls are not first ones.
        scrapy("crawl", "discovery", "-a", "market=guitars", "-a", "max_details=0")
        assert "LOOK" not in said[-1]


def test_from_a_file_to_a_watched_market(scrapy, said, database):
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
        assert "LOOK" not in said[-1]
        assert database.value("SELECT errors FROM runs") == []
        offered = [true for true in bazaar.truth("instruments") if true.state in ("on_sale", "out_of_stock")]
        wanted = {
            true.url.rstrip("/"): (
                None if true.mode == "hidden" else true.price,
                {"on_sale": "IN_STOCK"}.get(true.state, "OUT_OF_STOCK"),
            )
            for true in offered
        }
        assert {stock for _, stock in wanted.values()} == {"IN_STOCK", "OUT_OF_STOCK"}
        assert (None, "OUT_OF_STOCK") in wanted.values()
        assert stored(database) == wanted
        # Later looks at the cards alone do not put back into stock what its own page called out of stock.
        before = database.value("SELECT count(*) FROM price_history")
        scrapy("crawl", "sweep", "-a", "market=guitars", "-a", "max_details=0")
        assert stored(database) == wanted
        assert database.value("SELECT count(*) FROM price_history") == before
        assert "instruments" not in scrapy("markets", "show", "guitars")
    check_history(database)


def stored(database: Any) -> dict[str, tuple[int | None, str]]:
    rows = database.rows(
        "SELECT regexp_replace(canonical_url, '^https://[^/]+', ''), price_cents, availability"
        " FROM listings WHERE market_id = 'guitars'"
    )
    return {path: (price, availability) for path, price, availability in rows}
