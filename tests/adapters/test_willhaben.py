"""willhaben.at, on handwritten pages with its structure, and on real captures if available."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal

import pytest

from pricewatch.adapters.base import MarketQuery, Overview
from pricewatch.adapters.willhaben import WillhabenAdapter
from pricewatch.parsing.prices.price import to_cents
from tests.adapters.site_fixtures import CAPTURES, cases, check, respond

SITE = "https://www.willhaben.at"
SAVED = sorted((CAPTURES / "willhaben").glob("*.truth.json"))


@pytest.mark.parametrize("case", cases("willhaben"))
def test_saved_page_gives_the_expected_result(case):
    check("willhaben", case)


@pytest.mark.skipif(not SAVED, reason="no captures of the site available")
@pytest.mark.parametrize("truth", SAVED, ids=lambda path: path.name)
def test_captured_page_gives_all_listings_with_prices(truth):
    expectation = json.loads(truth.read_text("utf-8"))
    page = gzip.decompress(truth.with_name(truth.name.replace(".truth.json", ".html.gz")).read_bytes())
    overview = WillhabenAdapter().read_overview(respond(expectation["url"], page))
    assert isinstance(overview, Overview)
    assert overview.total == expectation["rows_found"]
    assert [(card.product_id, card.title, card.price_cents, card.url) for card in overview.cards] == [
        (row["id"], row["title"], to_cents(Decimal(row["price"]), "EUR"), row["url"])
        for row in expectation["listings"]
    ]


def advert(**attributes: str | list[str]) -> bytes:
    rows = [
        {"name": name.replace("__", "/"), "values": value if isinstance(value, list) else [value]}
        for name, value in attributes.items()
    ]
    details = {
        "id": "1",
        "description": "A",
        "advertStatus": {"id": "active"},
        "attributes": {"attribute": rows},
    }
    data = json.dumps({"props": {"pageProps": {"advertDetails": details}}})
    return f'<html><script id="__NEXT_DATA__" type="application/json">{data}</script></html>'.encode()


@pytest.mark.parametrize(
    ("attributes", "cents"),
    [
        ({"PRICE": "1695"}, 169500),
        ({"RENT__PER_MONTH_LETTINGS": "863.47"}, 86347),
        ({"PRICE_FOR_DISPLAY": "€ 1.695,50"}, 169550),
        ({"PRICE_FOR_DISPLAY": "€ 250 VB"}, 25000),
        ({"PRICE": "250", "PRICE_FOR_DISPLAY": "€ 250 VHB"}, 25000),
        ({"RENT__PER_MONTH_LETTINGS": "1200.0", "PRICE_FOR_DISPLAY": "€ 1.200 pro Monat"}, 120000),
        ({"PRICE": "1044.799988", "PRICE_FOR_DISPLAY": "€ 1.044,80"}, 104480),
        # One field is rounded; the displayed price decides between two fields.
        ({"PRICE": "863", "RENT__PER_MONTH_LETTINGS": "863.47"}, 86347),
        ({"PRICE": "1200", "RENT__PER_MONTH_LETTINGS": "1000.0", "PRICE_FOR_DISPLAY": "€ 1.200"}, 120000),
        # The fields contradict each other.
        ({"PRICE": "1200", "RENT__PER_MONTH_LETTINGS": "1000.0"}, None),
        ({"PRICE": "120", "PRICE_FOR_DISPLAY": "€ 450"}, None),
        ({"PRICE": ["120", "450"]}, None),
        # There is no single price.
        ({"PRICE": "0", "PRICE_FOR_DISPLAY": "Zu verschenken"}, None),
        ({"PRICE": "99", "PRICE_FOR_DISPLAY": "Preis auf Anfrage"}, None),
        ({"PRICE_FOR_DISPLAY": "ab € 800"}, None),
        ({"PRICE": "800", "PRICE_FOR_DISPLAY": "ab € 800"}, None),
        ({"PRICE": "800", "PRICE_FOR_DISPLAY": "€ 800 – € 1.200"}, None),
        ({"PRICE": "1.695"}, None),
        ({"PRICE": "-5"}, None),
        ({"PRICE": "1e999999"}, None),
        ({}, None),
    ],
)
def test_price_from_fields_and_displayed_text(attributes, cents):
    result = WillhabenAdapter().extract(respond(f"{SITE}/iad/object?adId=1", advert(**attributes)))
    offer = getattr(result, "offer", None)
    assert (offer.price_cents if offer else None) == cents
    assert offer or str(result.reason) == "PRICE_NOT_FOUND"  # type: ignore[union-attr]


def test_urls_of_searches_and_pages_are_built():
    adapter = WillhabenAdapter()
    assert adapter.start_pages({}) == []
    assert adapter.start_pages({"category": "immobilien/mietwohnungen/wien", "max_price_cents": 120000}) == [
        "/iad/immobilien/mietwohnungen/wien?PRICE_TO=1200"
    ]
    (page,) = adapter.start_pages({"keyword": "gtx 1070"})
    url = adapter.overview_url(MarketQuery(SITE, page, 90), 3)
    assert url == f"{SITE}/iad/kaufen-und-verkaufen/marktplatz?keyword=gtx+1070&page=3&rows=90"
    next_page = adapter.overview_url(MarketQuery("http://127.0.0.1:8000", "/iad/x?page=1&rows=30", 90), 2)
    assert next_page == "http://127.0.0.1:8000/iad/x?page=2&rows=90"
