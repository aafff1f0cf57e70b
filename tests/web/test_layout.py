"""The layout in a real Chromium: pages fit wide and narrow screens, fields have labels."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.databases import Database
from tests.web.chromium_page import chromium, page
from tests.web.stored import store_one_of_each

__all__ = ["chromium", "page"]
pytestmark = [pytest.mark.browser, pytest.mark.slow]
UNLABELLED = """[...document.querySelectorAll('input:not([type=hidden]), select, textarea, button')]
    .filter(field => !field.labels?.length && !field.ariaLabel && !field.textContent.trim())
    .map(field => field.outerHTML)"""


@pytest.mark.parametrize("width", [360, 1280])
def test_pages_fit_the_screen_and_can_be_used_by_keyboard(page: Page, database: Database, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    for path in ("/", "/listings", "/markets", "/targets", "/adapters/bazaar", "/alerts", "/targets/add"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        page.keyboard.press("Tab")
        if path != "/targets/add":
            expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        assert page.evaluate(UNLABELLED) == [], path


@pytest.mark.proof
def test_pages_with_long_words_fit_on_a_phone(page: Page, database: Database) -> None:
    listing = store_one_of_each(database, "Wortohnezwischenraum" * 20)
    page.set_viewport_size({"width": 390, "height": 844})
    spider = database.row("SELECT * FROM runs WHERE adapter_id LIKE 'spider:%'")
    for path in (
        f"/listings/{listing}",
        "/listings",
        "/",
        "/adapters",
        f"/adapters/{spider.adapter_id}",
        "/admin/scraper",
        f"/runs/{spider.id}",
        "/targets/add",
        "/markets/add?source=apartments",
    ):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        # The menu is one line, even on an almost empty page.
        assert page.locator("header.side").evaluate("e => e.offsetHeight") < 100, path
    assert page.get_by_role("checkbox").evaluate("e => e.offsetWidth") < 30
    page.goto("/adapters")
    assert page.get_by_role("link", name="willhaben").evaluate("e => e.getClientRects().length") == 1
    page.goto(f"/listings/{listing}")
    label = page.locator("svg.price-chart:visible text").first
    assert label.evaluate("e => e.getBoundingClientRect().height") > 8


@pytest.mark.proof
def test_a_page_shows_that_the_server_does_not_respond(page: Page) -> None:
    page.goto("/")
    page.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('away')); }")
    expect(page.locator("body.offline")).to_be_visible()
    notice = page.locator("main").evaluate("e => getComputedStyle(e, '::before').content")
    assert "does not respond" in notice
