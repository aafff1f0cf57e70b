"""The main tasks in a real Chromium: no console error, no policy violation, no request to another host."""

from __future__ import annotations

import json
import re
import zlib
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from pricewatch.bazaar.client import Bazaar
from tests.conftest import Crawl
from tests.databases import Database
from tests.services.held_pages import hold_page
from tests.store import observations
from tests.web.chromium_page import chromium, page

__all__ = ["chromium", "page"]
pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.proof
def test_a_run_is_shown_live_and_filtered(
    page: Page, marketplace: Bazaar, crawl: Crawl, database: Database
) -> None:
    marketplace.fault("hold", path=r"^/item/")
    page.goto("/")
    expect(page.get_by_text("Nothing is running")).to_be_visible()
    settings = {"RUN_HEARTBEAT_SECONDS": 0.5}
    running = crawl.start("discovery", market="bazaar-bikes", max_details=30, settings=settings)
    row = page.locator(".run-row", has_text="discovery")
    expect(row).to_contain_text("running")
    row.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Discovery run")
    pages = page.locator(".metric", has_text="pages/s").locator(".value")
    expect(pages).not_to_have_text("0")
    marketplace.clear_faults()
    assert running.end().returncode == 0
    # The page updates itself when the run ends.
    expect(page.locator(".metric", has_text="Status")).to_contain_text("Finished")
    expect(page.locator("table").filter(has_text="Outcome").locator("tbody tr").first).to_be_visible()
    page.get_by_role("link", name="All discovery runs").click()
    page.get_by_label("Status").get_by_role("link", name="Failed").click()
    expect(page.get_by_text("No discovery runs with status failed")).to_be_visible()
    page.get_by_label("Status").get_by_role("link", name="Finished").click()
    expect(page.locator("tbody tr")).to_have_count(1)


def test_a_listing_shows_its_chart_and_gets_a_watch_rule(page: Page, database: Database) -> None:
    now = datetime.now(UTC)
    for price in (2000, 1500):
        observations.store(database.engine, [observations.card(1, price, now, title="Red <b>bike</b>")])
        now = datetime.now(UTC)
    page.goto("/listings")
    page.keyboard.press("/")
    page.keyboard.type("bike")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Red <b>bike</b>").click()
    chart = page.get_by_role("img", name=re.compile("Price history: 2 rows"))
    expect(chart).to_be_visible()
    expect(chart.locator(".point")).to_have_count(2)
    page.get_by_label("Notify me when").select_option("price_at_or_below")
    page.get_by_label("EUR").fill("12.50")
    page.get_by_role("button", name="Notify me").click()
    expect(page.get_by_role("status")).to_contain_text("The watch rule is set")
    assert database.row("SELECT kind, threshold_cents, currency FROM watch_rules") == (
        "price_at_or_below",
        1250,
        "EUR",
    )
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_label("Notify me when")).to_have_value("price_at_or_below")
    expect(page.get_by_label("EUR")).to_have_value("12.50")
    page.get_by_label("Notify me when").select_option("fell_by")
    page.get_by_label("%").fill("15")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("The watch rule is changed")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    changed = "SELECT kind, threshold_cents, threshold_percent, enabled FROM watch_rules"
    assert database.row(changed) == ("fell_by", None, 15, False)
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_a_url_is_added_with_a_preview(page: Page, marketplace: Bazaar, database: Database) -> None:
    listing = next(
        each for each in marketplace.truth("cameras") if each.state == "on_sale" and each.markup == "plain"
    )
    page.goto("/targets/add")
    page.get_by_label("URL").fill(f"{marketplace.url}{listing.url}")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".verdict.ok")).to_be_visible()
    expect(page.locator("section", has=page.locator("#h-result"))).to_contain_text(listing.title)
    expect(page.locator(".evidence")).to_contain_text("price")
    # Clicking the title in the page fills the focused selector.
    page.get_by_label("Title").focus()
    page.frame_locator("iframe").locator("h1").click()
    assert page.get_by_label("Title").input_value()
    page.get_by_role("button", name="Try selectors").click()
    expect(page.locator(".verdict.ok")).to_be_visible()
    page.get_by_label("Schedule").select_option("0 * * * *")
    page.get_by_label("Notify me when").select_option("fell_by")
    page.get_by_label("%").fill("10")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("is added")
    target = database.row("SELECT * FROM targets")
    assert target.schedule == "0 * * * *"
    assert target.selectors["title"]
    assert database.row("SELECT kind, target_id FROM watch_rules") == ("fell_by", target.id)


def test_a_url_that_must_not_be_fetched_is_refused(page: Page) -> None:
    page.goto("/targets/add")
    page.get_by_label("URL").fill("http://169.254.169.254/latest/meta-data")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("alert")).to_be_visible()


def test_a_csv_file_is_checked_before_it_is_imported(page: Page, database: Database) -> None:
    page.goto("/targets/import")
    lines = (
        "url,priority\nhttps://a.example/1,5\nnonsense,1\nhttps://a.example/1,1\nhttps://b.example/2,high\n"
    )
    page.get_by_label("File").set_input_files(
        {"name": "t.csv", "mimeType": "text/csv", "buffer": lines.encode()}
    )
    page.get_by_role("button", name="Check").click()
    expect(page.locator(".metric", has_text="Would be added").locator(".value")).to_have_text("1")
    expect(page.locator(".metric", has_text="Rejected").locator(".value")).to_have_text("2")
    expect(page.get_by_text("not a web address")).to_be_visible()
    assert database.value("SELECT count(*) FROM targets") == 0
    page.get_by_role("button", name="Import 1").click()
    expect(page.get_by_role("status")).to_contain_text("1 new")
    assert database.value("SELECT count(*) FROM targets") == 1
    # The same page again, with another column: it is changed.
    page.goto("/targets/import")
    page.get_by_label("Or paste").fill("url,currency\nhttps://a.example/1,JPY\n")
    page.get_by_role("button", name="Check").click()
    expect(page.locator(".metric", has_text="Would be updated").locator(".value")).to_have_text("1")
    page.get_by_role("button", name="Import 1").click()
    expect(page.get_by_role("status")).to_contain_text("0 new, 1 updated, 0 unchanged")
    assert database.value("SELECT selectors FROM targets") == {"currency": "JPY"}


@pytest.mark.proof
def test_quarantined_offers_are_reviewed_next_to_their_page(page: Page, database: Database) -> None:
    quarantine(database, 3)
    page.goto("/quarantine")
    page.get_by_role("link", name="Held 3").click()
    frame = page.frame_locator("iframe")
    expect(frame.locator("h1")).to_have_text("A saved page")
    assert page.locator("iframe").get_attribute("sandbox") == ""
    page.get_by_role("button", name="Accept", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Accepted: 1 stored")
    assert database.value("SELECT count(*) FROM price_history") == 1
    page.goto("/quarantine")
    page.get_by_label("All on this page").check()
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("status")).to_contain_text("2 of 2 rejected")
    assert database.value("SELECT count(*) FROM quarantine WHERE status = 'rejected'") == 2


def test_the_price_is_chosen_among_the_numbers_on_the_page(page: Page, database: Database) -> None:
    quarantine_id = hold_page(database)
    page.goto(f"/quarantine/{quarantine_id}")
    frame = page.frame_locator("iframe")
    expect(frame.locator('[data-pricewatch-mark="2"]')).to_have_text("€ 20,00")
    style = frame.locator('[data-pricewatch-mark="2"]').evaluate("one => getComputedStyle(one).outlineStyle")
    assert style == "solid"
    # The Enter key chooses nothing.
    page.get_by_label("and for the whole site").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Choose one of the candidates.")
    page.get_by_role("listitem").filter(has_text="€20.00").get_by_role("button").click()
    expect(page.get_by_role("status")).to_contain_text("20.00 EUR: stored. The target reads its price at")
    assert database.value("SELECT price_cents FROM price_history") == 2000
    assert database.value("SELECT selectors FROM targets") == {"price": "p.second"}


def quarantine(database: Database, count: int) -> None:
    html = (
        "<h1>A saved page</h1><script>document.title='run'</script>"
        "<img src=https://elsewhere.example/x.png style=a>"
    )
    for number in range(1, count + 1):
        offer = {
            "url": f"https://bazaar.example/item/{number}",
            "title": f"Held {number}",
            "price_cents": 500,
        }
        offer |= {"currency": "EUR", "availability": "IN_STOCK", "source": "bazaar"}
        offer |= {"identity_key": f"PID:{number}", "adapter_version": "1", "product_id": str(number)}
        database.do(
            "WITH page AS ("
            "  INSERT INTO quarantine_pages (hash, page, kept_at) VALUES (:identity, :page, now()))"
            " INSERT INTO quarantine (source_id, adapter_id, adapter_version, url, identity_key, reason,"
            " offer, page_hash, first_seen_at, observed_at) VALUES ('bazaar', 'bazaar', '1', :url, :identity,"
            " 'AMBIGUOUS_PRICE', CAST(:offer AS jsonb), :identity, now(), now())",
            url=offer["url"],
            identity=offer["identity_key"],
            offer=json.dumps(offer),
            page=zlib.compress(html.encode()),
        )


def test_an_adapter_is_disabled_and_enabled(page: Page, database: Database) -> None:
    page.goto("/adapters")
    page.get_by_role("link", name="bazaar", exact=True).first.click()
    page.get_by_label("Reason").last.fill("the site moved")
    page.get_by_role("button", name="Disable for every source").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("disabled")
    assert database.value("SELECT enabled FROM adapter_status WHERE adapter_id = 'bazaar'") is False
    page.get_by_label("What was fixed").fill("repaired")
    page.get_by_role("button", name="Enable for every source").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("enabled")
    assert [row.action for row in database.rows("SELECT action FROM audit ORDER BY id")] == [
        "adapter disabled",
        "adapter enabled",
    ]


def test_a_market_is_added_and_scraped_now(page: Page, database: Database) -> None:
    page.goto("/markets")
    page.get_by_role("link", name="Add a market").click()
    page.get_by_label("Source").select_option("bazaar")
    page.get_by_label("Id").fill("cheap-phones")
    page.get_by_label("Name").fill("Cheap phones")
    page.get_by_label("Category").fill("phones")
    page.get_by_label("Max price").fill("1,200")
    page.get_by_label("Currency of the prices").fill("EUR")
    page.get_by_role("button", name="Add market").click()
    expect(page.get_by_role("status")).to_contain_text("cheap-phones is added")
    page.get_by_role("button", name="Scrape Cheap phones now").click()
    expect(page.get_by_role("status")).to_contain_text("queued")
    job = database.row("SELECT spider, arguments FROM jobs")
    assert (job.spider, job.arguments) == ("discovery", {"market": "cheap-phones", "trigger": "MANUAL"})
    market = database.row("SELECT max_price_cents, price_currency FROM markets WHERE id = 'cheap-phones'")
    assert market == (120_000, "EUR")


def test_the_chosen_theme_is_remembered(page: Page) -> None:
    page.emulate_media(color_scheme="light")
    page.goto("/")
    colour: Any = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.get_by_role("button", name="Switch theme").click()
    assert page.evaluate(colour) != light
    page.reload()
    assert page.evaluate(colour) != light


def test_a_typed_password_can_be_shown(page: Page, database: Database) -> None:
    page.goto("/people")
    field = page.locator("input[name=password]").last
    field.fill("a violet bicycle")
    expect(field).to_have_attribute("type", "password")
    page.get_by_role("button", name="Show what is typed").last.click()
    expect(field).to_have_attribute("type", "text")
    page.get_by_role("button", name="Hide what is typed").click()
    expect(field).to_have_attribute("type", "password")
