"""Choosing the price of a quarantined page in the web interface and by the API."""

from __future__ import annotations

import html
import re
from typing import Any

import httpx
import pytest

from pricewatch import adapters
from pricewatch.adapters.custom_selectors import CustomSelectorAdapter
from pricewatch.items import Extracted
from pricewatch.money import Money
from tests.databases import Database
from tests.services.held_pages import CANDIDATES, candidate, hold_page, response_of, two_prices
from tests.services.test_quarantine_review import rows, status
from tests.web.conftest import BROWSER, PASSWORD, Browser, client_of
from tests.web.test_every_page import visible_text

EVIL = "<script>alert(1)</script>"


def saved_page(client: httpx.Client, quarantine_id: int) -> str:
    """The document in the frame."""
    found = re.search(r'srcdoc="([^"]*)"', client.get(f"/quarantine/{quarantine_id}").text)
    assert found
    return html.unescape(found[1])


def test_candidates_are_numbered_on_the_page_and_beside_it(client: httpx.Client, database: Database) -> None:
    repeated = candidate(4, "20.00", source="json-ld", path="", role="regular")
    quarantine_id = hold_page(database, candidates=[*CANDIDATES, repeated])
    page = saved_page(client, quarantine_id)
    assert '<p class="first" data-pricewatch-mark="1">€ 12,50</p>' in page
    assert '<p class="second" data-pricewatch-mark="2">€ 20,00</p>' in page
    assert '<p class="bare" data-pricewatch-mark="3">17.00</p>' in page
    text = visible_text(client, f"/quarantine/{quarantine_id}")
    assert "1 €12.50 Current, from page € 12.50 This is the price" in text
    assert "2 €20.00 Current, regular, from page, json-ld € 20.00 This is the price" in text
    assert "3 17.00 no currency Current, from page 17.00 This is the price" in text
    shown = client.get(f"/quarantine/{quarantine_id}").text
    assert re.search(r'<option value="IN_STOCK" selected>', shown)
    assert "sandbox srcdoc=" in shown
    assert '<input type="hidden" name="expected_2" value="20.00 EUR">' in shown


def test_one_click_stores_the_price_and_teaches_the_target(browser: Browser, database: Database) -> None:
    quarantine_id = hold_page(database)
    answer = browser.post(
        f"/quarantine/{quarantine_id}/choose",
        number=2,
        expected_2="20.00 EUR",
        availability="IN_STOCK",
        for_site="on",
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/quarantine")
    message = visible_text(browser.client, "/quarantine")
    assert "20.00 EUR: stored. The target reads its price at p.second from now on;" in message
    assert rows(database) == [(2000, "REVIEW", 2)]
    assert status(database, quarantine_id) == "accepted"
    assert database.value("SELECT price_place FROM sources WHERE id = 'shop.example'") == "p.second"
    audit = database.row("SELECT * FROM audit")
    assert (audit.person, audit.action, audit.details["candidate"]) == ("local", "price chosen", 2)
    adapter = CustomSelectorAdapter(adapters.get("generic"), database.value("SELECT selectors FROM targets"))
    read = adapter.extract(response_of(two_prices("30,00", "31,00")))
    assert isinstance(read, Extracted)
    assert read.offer.price == Money(3100, "EUR")
    browser.post(f"/quarantine/{quarantine_id}/choose", number=1)
    assert "not waiting. It was already accepted by local." in visible_text(browser.client, "/quarantine")
    assert rows(database) == [(2000, "REVIEW", 2)]
    # The page of a settled row has no buttons.
    assert "This is the price" not in browser.client.get(f"/quarantine/{quarantine_id}").text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"number": 9}, "There is no candidate 9. Known: 1, 2, 3."),
        ({}, "Choose one of the candidates."),
        ({"number": 1, "availability": "UNKNOWN"}, "'UNKNOWN' is not an availability to choose."),
        ({"number": 1, "expected_1": "9.00 EUR"}, "candidate 1 is now 12.50 EUR: look again."),
        ({"number": 3}, "The page does not name the currency of 17.00: choose the currency."),
        ({"number": 3, "currency": EVIL}, "is not a currency code"),
    ],
)
def test_wrong_choices_lead_back_with_a_message(
    browser: Browser, database: Database, fields: dict[str, Any], message: str
) -> None:
    quarantine_id = hold_page(database)
    answer = browser.post(f"/quarantine/{quarantine_id}/choose", **fields)
    assert answer.headers["location"] == f"/quarantine/{quarantine_id}"
    page = browser.client.get(f"/quarantine/{quarantine_id}").text
    assert message in html.unescape(page)
    assert EVIL not in page
    assert (status(database, quarantine_id), rows(database)) == ("pending", [])
    assert database.value("SELECT count(*) FROM audit") == 0


def test_hostile_texts_of_candidates_are_escaped(client: httpx.Client, database: Database) -> None:
    texts = {"text": EVIL, "role": EVIL, "source": EVIL, "where": EVIL, "path": f"p.first{EVIL}"}
    evil = [candidate(1, "12.50", **texts), candidate(2, "20.00", text=EVIL)]
    page = two_prices(second=f"20,00 {EVIL}<b onclick=alert(1)>x</b>")
    quarantine_id = hold_page(database, page, evil, title=EVIL, why=EVIL)
    answer = client.get(f"/quarantine/{quarantine_id}")
    assert EVIL not in answer.text
    assert html.escape(EVIL) in answer.text
    assert not re.search(r"<script|onclick", saved_page(client, quarantine_id))
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    chosen = client.post(f"/api/quarantine/{quarantine_id}/choose", json={"number": 1}).json()
    assert chosen["outcome"] == "stored"
    assert database.value("SELECT selectors FROM targets") == {}
    assert EVIL not in client.get(f"/quarantine/{quarantine_id}").text


def test_price_is_chosen_by_the_api(client: httpx.Client, database: Database) -> None:
    quarantine_id = hold_page(database)
    path = f"/api/quarantine/{quarantine_id}/choose"
    for body, code in (
        ({"number": 9}, 400),
        ({"number": 3}, 400),
        ({"number": 1, "expected": "9.00 EUR"}, 400),
        ({"number": 0}, 422),
        ({"number": 1, "availability": "UNKNOWN"}, 422),
        ({"number": 3, "currency": "XYZ"}, 422),
        ({}, 422),
    ):
        assert client.post(path, json=body).status_code == code, body
    assert client.post("/api/quarantine/99/choose", json={"number": 1}).status_code == 404
    assert status(database, quarantine_id) == "pending"
    body = {
        "number": 3,
        "expected": "17.00",
        "currency": "CHF",
        "availability": "OUT_OF_STOCK",
        "for_site": True,
    }
    assert client.post(path, json=body).json() == {
        "id": quarantine_id,
        "outcome": "stored",
        "details": "the target reads its price at p.bare from now on; "
        "the whole site is read with p.bare as the place of the price",
        "selectors": {"price": "p.bare", "currency": "CHF"},
        "site_selector": "p.bare",
    }
    listing = database.row("SELECT price_cents, currency, availability FROM listings")
    assert tuple(listing) == (1700, "CHF", "OUT_OF_STOCK")
    again = client.post(path, json=body).json()
    assert (again["outcome"], again["selectors"]) == ("not waiting", {})


def test_choosing_needs_a_login_and_a_token(database: Database) -> None:
    quarantine_id = hold_page(database)
    page, api = f"/quarantine/{quarantine_id}/choose", f"/api/quarantine/{quarantine_id}/choose"
    with client_of(PASSWORD) as stranger:
        assert stranger.post(page, data={"number": 1}, headers=BROWSER).status_code in (303, 401, 403)
        assert stranger.post(api, json={"number": 1}).status_code == 401
    with client_of() as client:
        assert client.post(page, data={"number": 1}, headers=BROWSER).status_code == 403
        assert client.post(api, json={"number": 1}, headers=BROWSER).status_code == 403
    assert status(database, quarantine_id) == "pending"
