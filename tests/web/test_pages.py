"""All pages, with an empty database and with hostile text from sites."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from tests.databases import Database
from tests.store import observations
from tests.web.conftest import Browser
from tests.web.stored import store_one_of_each
from tests.web.test_every_page import visible_text

PAGES = [
    *("/", "/listings", "/products", "/watch", "/markets", "/markets/add", "/targets", "/targets/add"),
    *("/targets/import", "/quarantine", "/alerts", "/adapters", "/adapters/bazaar", "/proxies", "/audit"),
    *("/runbooks", "/fragments/running", "/markets/add?source=apartments", "/admin/scraper"),
    *(f"/admin/scraper/{kind}" for kind in ("discovery", "sweep", "verification", "targets")),
]
EVIL = "<script>alert(1)</script>"


@pytest.fixture
def stored(database: Database) -> int:
    """One of everything, with HTML in every text; the ID of the listing."""
    return store_one_of_each(database, EVIL)


def test_pages_render_with_an_empty_database(client: httpx.Client) -> None:
    for page in PAGES:
        answer = client.get(page)
        assert answer.status_code == 200, page
        assert not re.search(r"\bNone\b(?!:|\.| yet)", answer.text), page


def test_html_from_sites_is_escaped_on_every_page(client: httpx.Client, stored: int) -> None:
    run = "/runs/1"
    for page in [
        *PAGES,
        f"/listings/{stored}",
        run,
        "/fragments/runs/1",
        "/quarantine/1",
        "/quarantine?status=all",
    ]:
        text = client.get(page).text
        assert EVIL not in text, page
    for page in (f"/listings/{stored}", "/listings", run, "/quarantine/1", "/quarantine", "/alerts", "/"):
        assert html.escape(EVIL) in client.get(page).text, page


def test_a_javascript_url_is_not_a_link(client: httpx.Client, stored: int, database: Database) -> None:
    database.do("UPDATE listings SET url = 'javascript:alert(1)'")
    assert 'href="javascript:' not in client.get(f"/listings/{stored}").text


def test_pages_have_no_inline_code_and_no_external_resources(client: httpx.Client, stored: int) -> None:
    for page in [*PAGES, f"/listings/{stored}", "/runs/1"]:
        text = client.get(page).text
        assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", text), page
        assert not re.search(r'(?:src|<link[^>]*href)="(?:https?:)?//', text), page


@pytest.mark.parametrize(
    "path",
    ["/listings/999999", "/runs/999999", "/quarantine/99", "/products/99", "/adapters/x", "/admin/scraper/x"],
)
def test_unknown_addresses_are_not_found(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "Back to the overview" in answer.text


@pytest.mark.parametrize(
    "path", ["/listings/x", "/listings?before=x", f"/listings/{10**30}", "/listings?lowest=abc"]
)
def test_bad_parameters_are_client_errors(client: httpx.Client, path: str) -> None:
    assert 400 <= client.get(path).status_code < 500


def test_a_change_is_recorded_in_the_audit_log(browser: Browser, database: Database) -> None:
    browser.post("/markets/bazaar-bikes", enabled="no")
    row = database.row("SELECT * FROM audit")
    assert (row.person, row.action, row.subject) == ("local", "market changed", "bazaar-bikes")
    assert row.details == {"enabled": False}


def test_a_smaller_market_is_accepted(browser: Browser, database: Database) -> None:
    database.do(
        "UPDATE markets SET sweep_last_complete_seen = 150, sweep_last_partial_seen = 60, sweep_failures = 3"
        " WHERE id = 'bazaar-bikes'"
    )
    page = visible_text(browser.client, "/markets")
    assert "the last sweep saw 60 cards instead of 150" in page
    assert "sweep circuit open" in page
    assert browser.post("/markets/bazaar-bikes/believe").status_code == 303
    assert database.value("SELECT sweep_last_complete_seen FROM markets WHERE id = 'bazaar-bikes'") == 60
    assert "the last sweep saw" not in browser.client.get("/markets").text
    assert database.value("SELECT action FROM audit") == "smaller market believed"


def test_a_rare_price_is_found_over_several_pages(
    client: httpx.Client, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pricewatch.store.views.admin_listings.WINDOW", 10)
    rows = [observations.card(number, 9000 if number == 3 else 100) for number in range(35)]
    observations.store(database.engine, rows)
    page, count = "/listings?lowest=80&currency=EUR", 0
    while (found := client.get(page)) and "Thing 3<" not in found.text:
        following = re.search(r'rel="next" href="([^"]+)"', found.text)
        assert following
        page, count = html.unescape(following[1]), count + 1
    assert count >= 1


def test_listings_show_and_filter_by_the_age_of_the_price(client: httpx.Client, database: Database) -> None:
    now = datetime.now(UTC)
    read = [observations.card(number, 1000, now - timedelta(days=3)) for number in (1, 2)]
    observations.store(database.engine, read)
    seen = [observations.card(1, None, now, availability=None), observations.card(2, 1000, now)]
    new = observations.card(3, 1000, now, availability=None)
    observations.store(database.engine, [*seen, new], run_id=2)
    database.do("INSERT INTO products (key, title) VALUES ('x', 'Thing')")
    database.do("UPDATE listings SET product_id = (SELECT id FROM products)")
    stale = database.value("SELECT id FROM listings WHERE identity_key = 'PID:1'")
    product = database.value("SELECT id FROM products")
    for path in (f"/listings/{stale}", "/listings", f"/products/{product}"):
        text = client.get(path).text
        assert "price seen 3 days ago" in text, path
        assert re.search(r">read <time [^>]*>3 d", text) or re.search(r"read\s+<time [^>]*>3 d", text), path
    assert "0 of 100 that the price is current" in client.get(f"/listings/{stale}").text
    found = client.get("/listings?price_age=48").text
    assert ("Thing 1<" in found, "Thing 2<" in found, "Thing 3<" in found) == (True, False, False)
    found = client.get("/listings?stock=LISTED").text
    assert ("Thing 1<" in found, "Thing 3<" in found) == (False, True)
    assert ">Listed</span>" in found


def test_a_search_continues_on_the_next_page(client: httpx.Client, database: Database) -> None:
    rows = [observations.card(number, title=f"bike {number}") for number in range(120)]
    observations.store(database.engine, rows)
    first = client.get("/listings?q=bike")
    older = re.search(r'rel="next" href="([^"]+)"', first.text)
    assert older
    second = client.get(html.unescape(older[1]))
    titles = [re.findall(r">(bike \d+)<", page.text) for page in (first, second)]
    assert [len(page) for page in titles] == [50, 50]
    assert not set(titles[0]) & set(titles[1])
    assert "No listings match these filters" in client.get("/listings?q=unicycle").text
    assert client.get("/listings?market=bazaar-bikes&state=on").text.count('class="title"') == 50


def test_a_listing_shows_its_strikes_and_verification_attempts(
    client: httpx.Client, stored: int, database: Database
) -> None:
    database.do("UPDATE listings SET strikes = 1 WHERE id = :id", id=stored)
    database.do(
        "INSERT INTO verification_attempts (run_id, listing_id, method, http_status, final_url, outcome,"
        " strike) SELECT min(id), :id, 'GET', 404, 'https://shop.example/gone', 'not_found', true FROM runs",
        id=stored,
    )
    database.do("UPDATE targets SET missing_since = now(), listing_id = :id", id=stored)
    shown = client.get(f"/listings/{stored}").text
    assert "Strikes 1 Page read" in visible_text(client, f"/listings/{stored}")
    assert "https://shop.example/gone" in shown
    assert ">strike</span>" in shown
    assert "page not found since" in shown
    assert "not found since" in client.get("/targets").text
