"""The daemon shows, replays and previews pages of sites without reading them in its own process."""

from __future__ import annotations

import html
import re
from typing import Any

import httpx
import lxml.html  # type: ignore[import-untyped]
import parsel.selector
import pytest

from pricewatch.generic_reader.adapter import GenericAdapter
from pricewatch.parsing.pages import element_tree, sanitized_html
from pricewatch.web import page_previews
from tests.databases import Database
from tests.reading.slow_adapters import SLOW_XPATH, shorten_deadline
from tests.services.held_pages import BUTTON, URL, hold_page, two_prices
from tests.web.conftest import BROWSER, Browser
from tests.web.test_every_page import visible_text
from tests.web.test_price_choice import saved_page

# The selector compares every element with every other one.
SLOW_PAGE = two_prices(button=BUTTON + "<b>x</b>" * 6000)
SLOW_SELECTOR = "b ~ b"
# The parser compares every attribute with every other one.
SLOW_TO_PARSE = two_prices(button=f"{BUTTON}<b {' '.join(f'a{number}' for number in range(40_000))}>")


@pytest.fixture
def no_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail whenever a page is read in this process; selectors are checked on an empty paragraph."""
    create_root_node = parsel.selector.create_root_node

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a page was read in this process")

    def only_empty(text: str, *args: Any, **kwargs: Any) -> Any:
        return create_root_node(text, *args, **kwargs) if text == "<p></p>" else refuse()

    monkeypatch.setattr(parsel.selector, "create_root_node", only_empty)
    for place, name in (
        (lxml.html, "document_fromstring"),
        (lxml.html, "fromstring"),
        (element_tree, "parse_page"),
        (sanitized_html, "sanitized_page"),
        (GenericAdapter, "extract"),
    ):
        monkeypatch.setattr(place, name, refuse)


@pytest.fixture
def preview(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are fetched in another process already; here, they are given."""
    fetched = {"url": URL, "status": "ok", "adapter_id": "generic", "page": SLOW_PAGE, "price_place": ""}
    monkeypatch.setattr(page_previews, "_run", lambda url, _: {**empty_result(url), **fetched})


def empty_result(url: str) -> dict[str, Any]:
    from pricewatch.runs.target_report import CheckResult

    return CheckResult(url, "ok").as_json()


@pytest.mark.usefixtures("no_reading")
def test_saved_pages_are_shown_chosen_and_replayed(
    client: httpx.Client, browser: Browser, database: Database
) -> None:
    quarantine_id = hold_page(database)
    assert '<p class="second" data-pricewatch-mark="2">€ 20,00</p>' in saved_page(client, quarantine_id)
    replay = client.post(f"/api/quarantine/{quarantine_id}/replay", json={"apply": False})
    assert replay.json()["outcome"] == "still held", replay.text
    browser.post("/quarantine", action="replay", id=quarantine_id)
    assert "Dry run: 1 still held." in visible_text(client, "/quarantine")
    chosen = client.post(
        f"/api/quarantine/{quarantine_id}/choose", json={"number": 2, "availability": "IN_STOCK"}
    )
    assert chosen.json()["selectors"] == {"price": "p.second"}, chosen.text


def test_page_that_takes_too_long_is_not_shown(
    client: httpx.Client, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten_deadline(monkeypatch)
    candidates = [{"number": 1, "amount": "12.50", "currency": "EUR", "path": "p.first", "text": "1"}]
    quarantine_id = hold_page(database, SLOW_TO_PARSE, candidates)
    shown = saved_page(client, quarantine_id)
    assert "This page cannot be displayed: it was not read within 0.3 seconds." in shown
    chosen = client.post(
        f"/api/quarantine/{quarantine_id}/choose", json={"number": 1, "availability": "IN_STOCK"}
    )
    assert chosen.json()["outcome"] == "stored", chosen.text
    assert "not learned: the page was not read within 0.3 seconds" in chosen.json()["details"]


@pytest.mark.usefixtures("no_reading", "preview", "database")
def test_selectors_of_a_preview_are_tried_elsewhere(
    browser: Browser, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = browser.post("/targets/preview", url=URL).text
    assert "Fine shoes" in page
    cached = re.search(r'name="preview" value="([^"]+)"', page)
    assert cached

    def tried(selector: str) -> str:
        fields = {"url": URL, "preview": cached[1], "selector_price": selector, "token": browser.token()}
        answer = client.post("/targets/preview", data=fields, headers=BROWSER).text
        return html.unescape(re.sub(r"<[^>]+>|\s+", " ", re.sub(r'srcdoc="[^"]*"', "", answer)))

    assert "20.00" in tried("p.second")
    shorten_deadline(monkeypatch)
    assert "Read timeout" in tried(SLOW_SELECTOR)
    assert "Read timeout" in tried(SLOW_XPATH)
