"""`scrapy extract --overview`: the cards of saved overview pages."""

from __future__ import annotations

import argparse
import json

import pytest
from scrapy.settings import Settings

from pricewatch.commands.extract import Command
from tests.adapters import site_fixtures
from tests.adapters.site_fixtures import FIXTURES, expected


@pytest.fixture
def run(capsys):
    def run(site: str, case: str, *, as_json: bool = True, **more: str | None) -> tuple[int, str, str]:
        command = Command()
        command.settings = Settings()
        (page,) = (FIXTURES / site / case).glob("page.*")
        options = {"url": expected(site, case)["url"], "manifest": None, "adapter": site, **more}
        command.run(
            [str(page)], argparse.Namespace(**options, why=None, overview=True, json=as_json, expected=False)
        )
        shown = capsys.readouterr()
        return command.exitcode, shown.out, shown.err

    return run


@pytest.mark.parametrize(
    ("adapter", "case", "first"),
    [
        ("willhaben", "rentals", ("701000001", "1695.00", "EUR")),
        ("apartments", "boston", ("q1w2e3r", "1850.00", "USD")),
        ("mercari", "search_data", ("m10000000001", "4400", "JPY")),
        ("sgammo", "category", ("4711", "13.95", "USD")),
    ],
)
def test_json_output_has_one_card_per_line(run, adapter, case, first):
    code, out, err = run(adapter, case)
    assert (code, err) == (0, "")
    cards = [json.loads(line) for line in out.splitlines()]
    assert all(list(card) == ["id", "url", "title", "price", "currency", "availability"] for card in cards)
    assert (cards[0]["id"], cards[0]["price"], cards[0]["currency"]) == first
    rows = expected(adapter, case)["cards"]
    assert [card["id"] for card in cards] == [row["product_id"] for row in rows]
    assert [card["price"] is None for card in cards] == [row["price_cents"] is None for row in rows]


def test_default_adapter_is_the_one_of_the_site(run):
    assert run("willhaben", "rentals", adapter=None) == run("willhaben", "rentals")
    code, out, err = run("willhaben", "rentals", adapter=None, url="https://shop.example/")
    assert (code, out) == (1, "")
    assert "there is no adapter for shop.example; name one with --adapter" in err


def test_url_defaults_to_the_home_page_of_the_adapter(run):
    assert run("mercari", "search_data", url=None) == run("mercari", "search_data")


def test_url_instead_of_a_file_is_refused(capsys):
    command = Command()
    options = {"url": None, "manifest": None, "adapter": "willhaben", "overview": True}
    command.run(
        ["https://www.willhaben.at/iad/"], argparse.Namespace(**options, why=None, json=True, expected=False)
    )
    assert command.exitcode == 2
    assert "is not a saved page" in capsys.readouterr().err


def test_text_output_shows_cards_and_missing_fields(run):
    code, out, _ = run("apartments", "boston", as_json=False)
    assert code == 0
    assert "1850.00 USD" in out
    assert "no price" in out
    assert "has_next: yes" in out
    assert "next URL: https://www.apartments.com/" in out
    rows = expected("apartments", "boston")["cards"]
    lacking = sum(row["price_cents"] is None for row in rows)
    assert f"missing: {lacking} of {len(rows)} cards have no price" in out


SHOP = """
domain = "teashop.example"
currency = "EUR"
pages = "?p={page}"
[overview]
card = "li"
next = "a.next"
title = "h2"
price = "b"
"""
CARDS = """<html><body><ul><li><a href="/a"><h2>Assam</h2></a><b>9,90 €</b></li>
<li><a href="/c"><h2>Chai</h2></a></li><li><h2>Nowhere</h2></li></ul>%s</body></html>"""


@pytest.fixture
def declared(tmp_path, monkeypatch, capsys):
    """Return the output for an overview page of a declared shop."""
    monkeypatch.setenv("PRICEWATCH_SHOPS", str(tmp_path))

    def declared(after: str, shop: str = SHOP) -> str:
        (tmp_path / "teashop.toml").write_text(shop, "utf-8")
        page = tmp_path / "page.html"
        page.write_text(CARDS % after, "utf-8")
        options = {"url": "https://teashop.example/tea", "manifest": None, "adapter": "teashop"}
        command = Command()
        command.settings = Settings()
        command.run(
            [str(page)], argparse.Namespace(**options, why=None, overview=True, json=False, expected=False)
        )
        return str(capsys.readouterr().out)

    return declared


def test_missing_fields_are_reported(declared):
    out = declared('<a class="next" href="?p=2">more</a>')
    first, second, _, *rest = out.splitlines()
    assert [part for part in first.split("  ") if part] == [
        *["-", "9.90 EUR", "no stock", "Assam", "https://teashop.example/a"]
    ]
    assert "no price" in second
    assert [line.strip() for line in rest] == [
        "2 cards; has_next: yes",
        "next URL: https://teashop.example/tea?p=2 (page 2 of a market that starts here)",
        "missing: 1 of 2 cards have no price",
        "missing: stock: no card has it; the product pages must have it",
        "missing: 1 cards are left out: CARD_WITHOUT_LINK_OR_TITLE",
    ]


def test_missing_or_different_next_page_is_reported(declared):
    assert "missing: next page: if this is not the last page, check the selector `next`" in declared("")
    out = declared('<a class="next" href="/tea/page/2/">more</a>')
    assert "the page links to https://teashop.example/tea/page/2/: check `pages`" in out


def test_unrecognised_stock_is_reported(declared):
    shop = SHOP + 'availability = "h2"\n'
    assert "the text of 2 cards is not recognised" in declared("", shop)


def test_page_that_is_not_an_overview_fails_with_a_reason(run):
    code, out, err = run("willhaben", "changed_structure")
    assert (code, out) == (1, "")
    assert "PAGE_STRUCTURE_CHANGED" in err


def test_adapter_without_overview_pages_is_refused(capsys):
    command = Command()
    options = {
        "url": None,
        "manifest": None,
        "adapter": "generic",
        "overview": True,
        "json": False,
        "expected": False,
    }
    command.run(["page.html"], argparse.Namespace(**options, why=None))
    assert command.exitcode == 2
    assert "product pages only" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("adapter", "case"),
    [
        ("willhaben", "rentals"),
        ("apartments", "range"),
        ("mercari", "sold"),
        ("sgammo", "price_missing"),
        ("sgammo", "changed_structure"),
    ],
)
def test_printed_expected_json_passes_the_fixture_test(adapter, case, capsys, tmp_path, monkeypatch):
    known = expected(adapter, case)
    (page,) = (FIXTURES / adapter / case).glob("page.*")
    overview = known["kind"] == "overview"
    options = {"url": known["url"], "manifest": None, "adapter": adapter, "overview": overview}
    command = Command()
    command.settings = Settings()
    command.run([str(page)], argparse.Namespace(**options, why=None, json=False, expected=True))
    folder = tmp_path / adapter / case
    folder.mkdir(parents=True)
    (folder / "expected.json").write_text(capsys.readouterr().out, "utf-8")
    (folder / page.name).write_bytes(page.read_bytes())
    monkeypatch.setattr(site_fixtures, "FIXTURES", tmp_path)
    site_fixtures.check(adapter, case)
