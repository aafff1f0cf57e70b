"""`scrapy parse`: pages read by an adapter or a spider."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pricewatch.bazaar.client import Bazaar, TruthListing
from tests.commands.conftest import Run
from tests.conftest import Crawl, chromium_path
from tests.databases import Database
from tests.forked import Outcome

SHOP = """
domain = "127.0.0.1"
currency = "EUR"
javascript = true
pages = "?page={page}"

[overview]
card = ".card"
next = "a.next"
url = "a::attr(href)"
title = "a"
price = ".amount"

[product]
title = "h1"
price = "#price"
availability = "#stock"
"""
SCRIPTED = """<html><body><h1>Blue kettle</h1><p>A kettle of one and a half litres.</p><div id="here"></div>
<script>document.getElementById("here").innerHTML =
'<p id="price">19,99 €</p><p id="stock">In stock</p>'</script></body></html>"""


class Parse:
    """Run the command, and assert that nothing was stored."""

    def __init__(self, marketplace: Bazaar, database: Database, crawl: Crawl) -> None:
        self.bazaar, self.database, self.crawl = marketplace, database, crawl

    def __call__(self, path: str, *words: str, **environment: str) -> Outcome:
        outcome = self.crawl.command("parse", *words, self.bazaar.url + path, **environment).end()
        for table in ("runs", "listings", "price_history", "quarantine", "targets"):
            assert self.database.value(f"SELECT count(*) FROM {table}") == 0
        return outcome

    def json(self, path: str, *words: str) -> Any:
        outcome = self(path, "--json", *words)
        assert outcome.stderr == ""
        return json.loads(outcome.stdout)

    def listing(self) -> TruthListing:
        """Return a listing that is on sale and whose page needs no browser."""
        on_sale = (one for one in self.bazaar.truth("bikes") if one.state == "on_sale")
        return next(one for one in on_sale if one.markup != "js")


@pytest.fixture
def parse(marketplace: Bazaar, database: Database, crawl: Crawl) -> Parse:
    return Parse(marketplace, database, crawl)


def test_product_page_shows_offer_verdict_and_evidence(parse: Parse) -> None:
    true = parse.listing()
    outcome = parse(true.url)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    lines = outcome.stdout.splitlines()
    assert lines[:2] == [parse.bazaar.url + true.url, "  would be stored"]
    assert lines[2].split() == ["adapter", "bazaar", "1.1.0"]
    assert f"  title         {true.title}" in lines
    assert any(line.startswith(f"    price: {true.price} {true.currency}") for line in lines)
    report = parse.json(true.url)
    assert (report["kind"], report["adapter"], report["status"]) == ("offer", "bazaar", "ok")
    assert report["offer"]["price_cents"] == true.price
    assert report["offer"]["identity_key"]
    assert report["evidence"]


def test_adapter_option_chooses_the_adapter(parse: Parse) -> None:
    true = parse.listing()
    report = parse.json(true.url, "--adapter", "generic")
    assert (report["adapter"], report["offer"]["price_cents"]) == ("generic", true.price)


def test_unknown_site_is_read_by_the_generic_adapter(parse: Parse) -> None:
    true = parse.listing()
    parse.database.do("UPDATE sources SET base_url = 'http://127.0.0.1:1' WHERE id = 'bazaar'")
    netloc = parse.bazaar.url.removeprefix("http://")
    outcome = parse(true.url, "--json", ALLOWED_PRIVATE_HOSTS=netloc)
    assert json.loads(outcome.stdout)["adapter"] == "generic"
    assert parse.database.value("SELECT count(*) FROM sources WHERE domain = '127.0.0.1'") == 1


@pytest.mark.proof
def test_overview_page_shows_cards(parse: Parse) -> None:
    # A start page of a market, and a later page.
    for path in ("/c/bikes", "/c/bikes?page=2"):
        outcome = parse(path)
        assert (outcome.returncode, outcome.stderr) == (0, "")
        assert outcome.stdout.splitlines()[1] == "  overview page, adapter bazaar 1.1.0"
        assert "has_next: " in outcome.stdout
    report = parse.json("/c/bikes")
    assert report["kind"] == "cards"
    shown = {one.title for one in parse.bazaar.truth("bikes")}
    assert len(report["cards"]) > 10
    assert {card["title"] for card in report["cards"]} <= shown
    assert report["has_next"]


def test_start_page_is_not_read_as_a_product(parse: Parse) -> None:
    """Even if the page looks like a product page."""
    true = parse.listing()
    parse.database.do(
        "UPDATE markets SET start_pages = CAST(:pages AS jsonb) WHERE id = 'bazaar-bikes'",
        pages=json.dumps([true.url]),
    )
    assert "nothing to store: PAGE_STRUCTURE_CHANGED (no <main data-total>)" in parse(true.url).stdout
    assert parse.json(true.url, "--offer")["offer"]["price_cents"] == true.price


def test_offer_and_cards_options_force_the_kind_of_page(parse: Parse) -> None:
    true = parse.listing()
    for path, option in ((true.url, "--cards"), ("/c/bikes", "--offer")):
        outcome = parse(path, option)
        assert outcome.returncode == 1
        assert "nothing to store: PAGE_STRUCTURE_CHANGED" in outcome.stdout


def test_ambiguous_price_would_be_quarantined(parse: Parse) -> None:
    page = """<title>Blue kettle</title><h1>Blue kettle</h1><p>In stock</p><button>Add to cart</button>
    <script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product",
    "name": "Blue kettle", "offers": {"@type": "Offer", "price": "19.99", "priceCurrency": "EUR",
    "availability": "https://schema.org/InStock"}}</script><p class="price">€ 29.99</p>"""
    parse.bazaar.fault("respond", "^/kettle", body=page)
    report = parse.json("/kettle", "--adapter", "generic")
    assert report["status"] == "quarantine"
    outcome = parse("/kettle", "--adapter", "generic")
    assert outcome.returncode == 0
    assert "  would be quarantined: " in outcome.stdout


def test_price_jump_would_be_quarantined(marketplace: Bazaar, database: Database, crawl: Crawl) -> None:
    true = Parse(marketplace, database, crawl).listing()
    url = marketplace.url + true.url
    assert crawl("targets", url=url, store="yes").returncode == 0
    marketplace.change(true.id, price=true.price * 10)
    runs = database.value("SELECT count(*) FROM runs")
    outcome = crawl.command("parse", url).end()
    assert "would be quarantined: VALIDATION_FAILED (the price jumped from" in outcome.stdout
    assert "  stored so far " in outcome.stdout
    assert database.value("SELECT count(*) FROM runs") == runs


def test_exception_in_adapter_is_logged_with_traceback(parse: Parse) -> None:
    breaks = ("-s", 'ADDONS={"tests.spiders.broken.BreaksOnProducts": 1}')
    outcome = parse(parse.listing().url, *breaks)
    assert outcome.returncode == 1
    assert "nothing to store: PAGE_STRUCTURE_CHANGED (ValueError: broken)" in outcome.stdout
    assert "Traceback" in outcome.stderr


def test_redirect_to_another_page_is_not_the_product(parse: Parse) -> None:
    true = parse.listing()
    parse.bazaar.fault("redirect", f"^{true.url}", to="/c/toys")
    outcome = parse(true.url, "--offer")
    assert f"led to another page, {parse.bazaar.url}/c/toys" in outcome.stdout


@pytest.mark.parametrize(
    ("path", "reason", "why"),
    [
        ("/private/page", "robots", "forbidden by robots.txt"),
        ("/item/none", "not_fetched", "the site answered with status 404"),
    ],
)
@pytest.mark.proof
def test_reason_is_shown_if_the_page_is_not_fetched(parse: Parse, path: str, reason: str, why: str) -> None:
    outcome = parse(path)
    assert (outcome.returncode, outcome.stdout) == (1, "")
    assert outcome.stderr == f"pricewatch: {parse.bazaar.url}{path} was not fetched: {why}.\n"
    report = parse.json(path)
    assert (report["status"], report["reason"], report["details"]) == ("failed", reason, why)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Give one URL. Example: https://shop.example/item/1"),
        (["shop.example"], "'shop.example' is not a web address"),
        (["--adapter", "x", "https://shop.example"], "There is no adapter 'x'. Known: apartments, bazaar,"),
        (["--cards", "https://shop.example"], "The adapter 'generic' reads product pages only"),
        (
            ["-c", "parse", "https://shop.example"],
            "No spider has https://shop.example in its allowed_domains",
        ),
        (["--spider", "x", "https://shop.example"], "There is no spider 'x'. Known spiders: discovery,"),
        (["--spider", "sweep", "https://shop.example"], "The sweep spider needs -a market=…"),
        (["--json", "-v", "https://shop.example"], "--json is an option for adapters; do not combine it"),
    ],
)
def test_bad_input_is_one_line(crawl: Crawl, words: list[str], message: str) -> None:
    outcome = crawl.command("parse", *words).end()
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(f"pricewatch: {message}")
    assert outcome.stderr.count("\n") == 1


def test_help_shows_options_of_adapters_and_spiders(crawl: Crawl) -> None:
    shown = " ".join(crawl.command("parse", "--help").end().stdout.split())
    assert "--adapter NAME" in shown
    assert "--callback CALLBACK" in shown
    assert "Nothing is stored" in shown


@pytest.mark.parametrize("words", [["--spider", "plain"], ["-c", "parse"], []])
def test_spider_reads_a_page_as_in_scrapy(
    marketplace: Bazaar, database: Database, plain_project: Run, words: list[str]
) -> None:
    shown = plain_project("parse", "--nolog", "--nocolour", *words, f"{marketplace.url}/c/bikes")
    assert shown.returncode == 0, shown.stderr
    assert "# Scraped Items" in shown.stdout
    assert shown.stdout.count("'title': ") == 3
    assert database.value("SELECT count(*) FROM runs") == 0


@pytest.mark.proof
def test_json_option_chooses_the_adapter_over_a_matching_spider(
    marketplace: Bazaar, plain_project: Run
) -> None:
    shown = plain_project("parse", "--json", f"{marketplace.url}/c/bikes")
    assert json.loads(shown.stdout)["adapter"] == "bazaar"


def test_reason_is_shown_if_a_spider_gets_no_page(marketplace: Bazaar, plain_project: Run) -> None:
    shown = plain_project("parse", "--nolog", "--spider", "plain", f"{marketplace.url}/private/page")
    assert shown.returncode == 1
    assert shown.stderr == (
        f"pricewatch: {marketplace.url}/private/page was not fetched: forbidden by robots.txt.\n"
    )


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.proof
def test_javascript_site_is_rendered_in_a_browser(parse: Parse, tmp_path: Path) -> None:
    (tmp_path / "kettles.toml").write_text(SHOP)
    parse.bazaar.fault("respond", "^/kettle", body=SCRIPTED)
    shops = {"PRICEWATCH_SHOPS": str(tmp_path), "CHROMIUM_PATH": chromium_path()}
    outcome = parse("/kettle", "--adapter", "kettles", "--json", **shops)
    assert outcome.returncode == 0, outcome
    report = json.loads(outcome.stdout)
    assert (report["status"], report["offer"]["price_cents"]) == ("ok", 1999)
