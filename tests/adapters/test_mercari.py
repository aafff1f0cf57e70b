"""jp.mercari.com: JSON data and rendered pages, and real captures if available."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from pricewatch.adapters.base import MarketQuery, Overview, Presence
from pricewatch.adapters.mercari import MercariAdapter
from pricewatch.items import Extracted
from pricewatch.vocabulary import Availability
from tests.adapters.site_fixtures import CAPTURES, cases, check, respond

SITE = "https://jp.mercari.com"
SEARCH_CAPTURES = sorted((CAPTURES / "mercari").glob("search*.json"))
needs_captures = pytest.mark.skipif(not SEARCH_CAPTURES, reason="no captures of the site available")


@pytest.mark.parametrize("case", cases("mercari"))
def test_saved_page_gives_the_expected_result(case):
    check("mercari", case)


@needs_captures
@pytest.mark.parametrize("path", SEARCH_CAPTURES, ids=lambda path: path.name)
def test_captured_search_gives_all_items_with_prices(path):
    data = json.loads(path.read_text("utf-8"))
    overview = MercariAdapter().read_overview(respond("https://api.mercari.jp/v2/search", path.read_bytes()))
    assert isinstance(overview, Overview)
    assert overview.total == int(data["meta"]["numFound"])
    assert overview.has_next is bool(data["meta"]["nextPageToken"])
    sold = {"ITEM_STATUS_SOLD_OUT": Availability.SOLD, "ITEM_STATUS_ON_SALE": Availability.IN_STOCK}
    assert [(card.product_id, card.price_cents, card.availability, card.url) for card in overview.cards] == [
        (
            item["id"],
            None if item.get("isNoPrice") else int(item["price"]),
            sold[item["status"]],
            f"{SITE}/item/{item['id']}",
        )
        for item in data["items"]
    ]


@needs_captures
def test_captured_item_has_price_and_sale_time():
    body = (CAPTURES / "mercari" / "item-0.json").read_bytes()
    response = respond(f"{SITE}/item/{json.loads(body)['data']['id']}", body)
    result = MercariAdapter().extract(response)
    assert isinstance(result, Extracted)
    sold_at = datetime(2022, 6, 30, 10, 24, 59, tzinfo=UTC)
    offer = result.offer
    assert (offer.price_cents, offer.currency, offer.availability) == (8000, "JPY", Availability.SOLD)
    assert offer.sold_at == MercariAdapter().presence(response).sold_at == sold_at


@needs_captures
def test_captured_missing_item_is_gone():
    body = (CAPTURES / "mercari" / "item_not_found-0.json").read_bytes()
    evidence = MercariAdapter().presence(respond(f"{SITE}/item/m1", body))
    assert (evidence.presence, evidence.marker) == (Presence.GONE, "RecordNotFoundException")


def test_other_errors_leave_presence_unknown():
    body = json.dumps({"result": "error", "errors": [{"code": "InternalServerErrorException"}]}).encode()
    assert MercariAdapter().presence(respond(f"{SITE}/item/m1", body)).presence is Presence.UNKNOWN


def test_placeholder_price_is_ignored():
    body = {"result": "OK", "data": {"id": "m1", "name": "A", "price": 9999999, "status": "on_sale"}}
    result = MercariAdapter().extract(respond(f"{SITE}/item/m1", json.dumps(body).encode()))
    assert str(result.reason) == "PRICE_NOT_FOUND"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("fields", "seller", "path"),
    [
        ({"id": "m1", "sellerId": "77"}, ("77", None, "user"), "/item/m1"),
        ({"id": "m1", "seller": {"id": 77, "name": "はなこ"}}, ("77", "はなこ", "user"), "/item/m1"),
        (
            {"id": "2JHa", "sellerId": "0", "shopName": "店", "itemType": "ITEM_TYPE_BEYOND"},
            ("店", "店", "shop"),
            "/shops/product/2JHa",
        ),
        (
            {"id": "2JHa", "sellerId": "0", "shop": {"id": "s9", "displayName": "店"}},
            ("s9", "店", "shop"),
            "/shops/product/2JHa",
        ),
    ],
)
def test_users_and_shops_have_their_own_ids_and_links(fields, seller, path):
    item = {"name": "A", "price": "500", "status": "ITEM_STATUS_ON_SALE", **fields}
    body = json.dumps({"items": [item], "meta": {}}).encode()
    overview = MercariAdapter().read_overview(respond(f"{SITE}/search", body))
    assert isinstance(overview, Overview)
    (card,) = overview.cards
    assert (card.seller.id, card.seller.name, card.seller.type) == seller  # type: ignore[union-attr]
    assert (card.url, card.price_cents) == (f"{SITE}{path}", 500)


@pytest.mark.parametrize(
    ("meta", "items", "has_next"),
    [
        ({"nextPageToken": "v1:1"}, 1, True),
        ({"nextPageToken": ""}, 1, False),
        # Without a token, the first empty page is the last one.
        ({}, 1, True),
        ({}, 0, False),
    ],
)
def test_last_page_of_a_search(meta, items, has_next):
    body = json.dumps({"items": [{"id": "m1", "name": "A"}] * items, "meta": meta}).encode()
    overview = MercariAdapter().read_overview(respond(f"{SITE}/search", body))
    assert isinstance(overview, Overview)
    assert overview.has_next is has_next


def test_different_item_than_requested_gives_no_price():
    body = {"result": "OK", "data": {"id": "m2", "name": "A", "price": 500, "status": "on_sale"}}
    result = MercariAdapter().extract(respond(f"{SITE}/item/m1", json.dumps(body).encode()))
    assert str(result.reason) == "PAGE_STRUCTURE_CHANGED"  # type: ignore[union-attr]


def test_urls_of_searches_and_pages_are_built():
    adapter = MercariAdapter()
    assert adapter.requires_js
    assert adapter.start_pages({"status": "on_sale"}) == []
    parameters = {
        "keyword": "レコード",
        "category": "694",
        "min_price_cents": 500,
        "max_price_cents": 20000,
        "status": "on_sale",
    }
    (page,) = adapter.start_pages(parameters)
    assert page == (
        "/search?keyword=%E3%83%AC%E3%82%B3%E3%83%BC%E3%83%89&category_id=694&price_min=500&price_max=20000"
        "&status=on_sale"
    )
    assert adapter.overview_url(MarketQuery(SITE, page, 120), 1) == SITE + page
    assert adapter.overview_url(MarketQuery(SITE, page, 120), 2) == f"{SITE}{page}&page_token=v1%3A1"
