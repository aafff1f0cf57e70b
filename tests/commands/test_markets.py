"""`scrapy markets add`, `show` and `list`."""

from __future__ import annotations

import argparse

import pytest

from pricewatch.commands.markets import PRICES, SEARCH, Command

SHOP = """
domain = "toscrape.com"
currency = "GBP"
pages = "page-{page}.html"
overview = {card = "article", next = "li.next a", title = "h3"}
"""
FREQUENCY = ("tier", "every", "max_pages", "max_listings")
BOOKS = "https://books.toscrape.com/catalogue/category/books/travel_2/index.html"


@pytest.fixture
def run(database, capsys, tmp_path, monkeypatch):
    (tmp_path / "books.toml").write_text(SHOP, "utf-8")
    monkeypatch.setenv("PRICEWATCH_SHOPS", str(tmp_path))

    def run(action: str, **changes: object) -> tuple[int, str, str]:
        defaults = dict.fromkeys(("adapter", "source", "name", *FREQUENCY, *SEARCH, *PRICES))
        options = {**defaults, "action": action, **changes}
        command = Command()
        command.run([], argparse.Namespace(**options))
        shown = capsys.readouterr()
        return command.exitcode, shown.out, shown.err

    return run


def test_market_of_a_declared_shop_is_added(run, database):
    code, out, err = run("add", id="travel-books", urls=[BOOKS])
    assert (code, out) == (0, "Added market travel-books of source toscrape.com, adapter books.\n")
    assert "scrapy sources approve toscrape.com --by NAME" in err
    market = database.row("SELECT * FROM markets WHERE id = 'travel-books'")
    assert market.start_pages == ["/catalogue/category/books/travel_2/index.html"]
    source = database.row("SELECT * FROM sources WHERE id = 'toscrape.com'")
    assert (source.base_url, source.tos_approved_by, source.visibility) == (
        "https://books.toscrape.com",
        None,
        "INELIGIBLE",
    )
    assert run("add", id="more-books", urls=[BOOKS])[0] == 0
    assert "travel-books" in run("list", enabled=False, json=False)[1]
    assert run("show", id="travel-books", limit=5, json=True) == (0, "", "")
    assert "There is no market 'atlantis'" in run("show", id="atlantis", limit=5, json=False)[2]


def test_show_prints_the_fetched_url(run, database):
    """The canonical URL always has https, but a site may only answer by http."""
    run("add", id="copy", urls=["http://127.0.0.1:8000/iad/x"], adapter="willhaben", source="copy")
    database.do(
        "INSERT INTO listings (source_id, market_id, identity_key, url, canonical_url, title, availability,"
        " first_seen_at, last_seen_at)"
        " VALUES ('copy', 'copy', 'URL:1', 'http://127.0.0.1:8000/a',"
        " 'https://127.0.0.1:8000/a', 'A', 'IN_STOCK', now(), now())"
    )
    database.do("INSERT INTO market_listings SELECT 'copy', id, now() FROM listings")
    shown = run("show", id="copy", limit=5, json=False)[1]
    assert "http://127.0.0.1:8000/a" in shown
    assert "https://" not in shown
    assert '"url": "http://127.0.0.1:8000/a"' in run("show", id="copy", limit=5, json=True)[1]


def test_market_is_added_by_search(run, database):
    code, out, _ = run(
        "add", id="nikon", urls=["https://jp.mercari.com"], keyword="nikon", max_price="50,000"
    )
    assert (code, out) == (0, "Added market nikon of source mercari.com, adapter mercari.\n")
    market = database.row("SELECT * FROM markets WHERE id = 'nikon'")
    assert (market.start_pages, market.keyword, market.max_price_cents) == ([], "nikon", 50000)
    assert market.price_currency == "JPY"


def test_named_source_may_be_at_another_address_than_the_site(run, database):
    """A copy of a site may run on another machine: the named source stores its address and adapter."""
    url = "http://127.0.0.1:8000/iad/x"
    code, _, _ = run("add", id="copy", urls=[url], adapter="willhaben", source="willhaben-copy")
    assert code == 0
    row = database.row("SELECT * FROM sources WHERE id = 'willhaben-copy'")
    assert (row.adapter_id, row.base_url, row.domain) == ("willhaben", "http://127.0.0.1:8000", "127.0.0.1")


REFUSALS: list[tuple[dict[str, object], str]] = [
    ({"id": "Not good", "urls": [BOOKS]}, "is not a valid market id"),
    ({"id": "boston-ma", "urls": [BOOKS]}, "There is already a market"),
    ({"id": "x", "urls": ["ftp://shop.example/"]}, "is not a web address"),
    ({"id": "x", "urls": [BOOKS, "https://jp.mercari.com/search?keyword=x"]}, "belongs to one site"),
    ({"id": "x", "urls": ["https://shop.example/tea"]}, "newadapter NAME shop.example --declarative"),
    ({"id": "x", "urls": ["https://jp.mercari.com"]}, "has no start page"),
    ({"id": "x", "urls": [BOOKS], "adapter": "atlantis"}, "There is no adapter 'atlantis'"),
    (
        {"id": "x", "urls": ["https://www.apartments.com/x"], "adapter": "sgammo"},
        "uses the adapter",
    ),
    ({"id": "x", "urls": ["https://apartments.com/x"], "source": "apartments"}, "not https://apartments.com"),
]


def test_bad_input_is_one_line_and_stores_nothing(run, database):
    before = database.row("SELECT (SELECT count(*) FROM markets), (SELECT count(*) FROM sources)")
    for options, message in REFUSALS:
        code, out, err = run("add", **options)
        assert (code, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1
    assert database.row("SELECT (SELECT count(*) FROM markets), (SELECT count(*) FROM sources)") == before
