"""Unusual or missing values on pages of each site, and their outcomes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pricewatch.adapters import get
from pricewatch.adapters.base import Overview
from pricewatch.items import Extracted
from pricewatch.rules.validation import validate_offer
from tests.adapters.site_fixtures import expected, page_body, respond


def outcome(site: str, url: str, body: str) -> str:
    """The price in cents with the high end of a range, or the reason for a failure."""
    result = get(site).extract(respond(url, body.encode()))
    if not isinstance(result, Extracted):
        assert result.details, "the failure has no details"
        return str(result.reason)
    verdict = validate_offer(result.offer)
    if reason := getattr(verdict, "reason", None):
        return str(reason)
    highest = result.offer.price_max_cents
    return f"{result.offer.price_cents}" + (f"-{highest}" if highest else "")


def advert(**values: str) -> str:
    rows = [{"name": name.replace("__", "/"), "values": [text]} for name, text in values.items()]
    details = {"id": "1234567", "description": "Rad", "advertStatus": {"id": "active"}, "attributes": rows}
    data = {"props": {"pageProps": {"advertDetails": {**details, "attributes": {"attribute": rows}}}}}
    script = f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(data)}</script>'
    return f"<html><body>{script}</body></html>"


@pytest.mark.parametrize(
    ("values", "expected_outcome"),
    [
        ({"PRICE_FOR_DISPLAY": "Preis auf Anfrage"}, "PRICE_NOT_FOUND"),
        ({"PRICE_FOR_DISPLAY": "VB"}, "PRICE_NOT_FOUND"),
        ({"PRICE_FOR_DISPLAY": "zu verschenken"}, "PRICE_NOT_FOUND"),
        ({"PRICE_FOR_DISPLAY": "Zu verschenken", "PRICE": "0"}, "PRICE_NOT_FOUND"),
        ({"PRICE_FOR_DISPLAY": "€ 450 - € 600"}, "PRICE_NOT_FOUND"),
        ({"PRICE_FOR_DISPLAY": "€ 450 VB", "PRICE": "450"}, "45000"),
        ({}, "PRICE_NOT_FOUND"),
    ],
)
def test_unusual_willhaben_prices_are_read_or_refused(values: dict[str, str], expected_outcome: str) -> None:
    assert (
        outcome("willhaben", "https://www.willhaben.at/iad/object?adId=1234567", advert(**values))
        == expected_outcome
    )


@pytest.mark.parametrize(
    ("rent", "expected_outcome"),
    [
        ("Call for Rent", "PRICE_NOT_FOUND"),
        ("Contact for Price", "PRICE_NOT_FOUND"),
        ("", "PRICE_NOT_FOUND"),
        ("$1,850 - $2,400", "185000-240000"),
        ("$1,850 – 2,400", "185000-240000"),
        ("$1,850+", "185000"),
        ("$1,850/mo", "185000"),
        ("$2,400 - $1,850", "PRICE_NOT_FOUND"),
        ("$450 per person", "PRICE_NOT_FOUND"),
        ("1.850 €", "PRICE_NOT_FOUND"),
    ],
)
def test_unusual_apartments_rents_are_read_or_refused(rent: str, expected_outcome: str) -> None:
    html = page_body("apartments", "range").decode().replace("$1,850 - $2,400", rent)
    assert outcome("apartments", expected("apartments", "range")["url"], html) == expected_outcome


@pytest.mark.parametrize(
    ("changes", "expected_outcome"),
    [
        ({"price": 9999999}, "PRICE_NOT_FOUND"),
        ({"price": None}, "PRICE_NOT_FOUND"),
        ({"price": "4,400"}, "PRICE_NOT_FOUND"),
        ({"price": 0}, "PRICE_NOT_FOUND"),
        ({"price": 980, "isNoPrice": True}, "PRICE_NOT_FOUND"),
        ({"status": "trading", "price": None}, "OOS_NO_PRICE"),
        ({"status": "something_new"}, "UNKNOWN_AVAILABILITY"),
        # The final price of an auction is not known.
        ({"auction": {"highestBid": 980}}, "PRICE_NOT_FOUND"),
        ({"auction": None}, "980"),
        ({"id": None}, "PAGE_STRUCTURE_CHANGED"),
        ({"id": "m99999999999"}, "PAGE_STRUCTURE_CHANGED"),
        ({"name": ""}, "PAGE_STRUCTURE_CHANGED"),
    ],
)
def test_unusual_mercari_items_are_read_or_refused(changes: dict[str, Any], expected_outcome: str) -> None:
    data = json.loads(page_body("mercari", "on_sale"))
    data["data"] |= changes
    assert outcome("mercari", expected("mercari", "on_sale")["url"], json.dumps(data)) == expected_outcome


@pytest.mark.parametrize(
    ("old", "new", "expected_outcome"),
    [
        ("$13.95", "Call for Price", "PRICE_NOT_FOUND"),
        ("$13.95", "$12.95 - $13.95", "PRICE_NOT_FOUND"),
        ("$13.95", "From $13.95", "PRICE_NOT_FOUND"),
        ("$13.95", "$0.28 per round", "PRICE_NOT_FOUND"),
        ("$13.95", "13,95 €", "PRICE_NOT_FOUND"),
        ("In stock", "Sold out", "1395"),
        ("In stock", "Nicht vorrätig", "1395"),
        ("In stock", "Ask us", "UNKNOWN_AVAILABILITY"),
    ],
)
def test_unusual_sgammo_prices_are_read_or_refused(old: str, new: str, expected_outcome: str) -> None:
    html = page_body("sgammo", "one_price").decode()
    assert old in html
    html = html.replace(old, new)
    assert outcome("sgammo", expected("sgammo", "one_price")["url"], html) == expected_outcome


@pytest.mark.parametrize(
    ("site", "case", "old", "new"),
    [
        ("willhaben", "rentals", "701000001", ""),
        ("apartments", "boston", 'data-listingid="q1w2e3r"', ""),
        ("sgammo", "category", "post-4711 ", ""),
    ],
)
def test_card_without_an_id_is_left_out_or_has_no_product_id(site, case, old, new):
    expectation, html = expected(site, case), page_body(site, case).decode()
    assert old in html
    overview = get(site).read_overview(respond(expectation["url"], html.replace(old, new).encode()))
    assert isinstance(overview, Overview)
    product_ids = {card.product_id for card in overview.cards}
    left_out = sum(overview.unreadable.values())
    assert len(overview.cards) + left_out == len(expectation["cards"])
    assert left_out or None in product_ids


@pytest.mark.parametrize("site", ["willhaben", "apartments", "mercari", "sgammo", "books_toscrape"])
@pytest.mark.parametrize(
    "body",
    [
        "<h1>Wartungsarbeiten</h1><p>Wir sind bald zurück. Ab 9,90 € versandkostenfrei!</p>",
        "<h1>メンテナンス中</h1><p>¥1,000 クーポン配布中</p>",
        "<main><h1>Connexion</h1><p class='price'>12,00 €</p></main>",
        "<h1>Sign in</h1><p class='price'>$5.00 off your first order</p>",
    ],
    ids=["german", "japanese", "french", "english"],
)
def test_other_pages_are_not_products(site: str, body: str) -> None:
    adapter = get(site)
    url, html = f"https://{adapter.domain}/item/m1234567", f"<html><title>?</title><body>{body}</body></html>"
    assert outcome(site, url, html) == "PAGE_STRUCTURE_CHANGED"
    assert not isinstance(adapter.read_overview(respond(url, html.encode())), Overview)
