"""Items of spiders that are not ours, of every kind that Scrapy knows: which offer each is, or why none."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
import scrapy
from hypothesis import given
from hypothesis import strategies as st
from itemadapter import ItemAdapter

from pricewatch.adapters.item_reader import is_offer, read_offer
from pricewatch.adapters.offer_check import judge
from pricewatch.items import Drop, Offer, Ok, Quarantine, SellerInfo
from pricewatch.vocabulary import Availability, DropReason, QuarantineReason, SellerType

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
URL = "https://shop.example/kettle"
KETTLE = {"url": URL, "title": "Kettle", "price": "12.50", "currency": "EUR"}


class PlainItem(scrapy.Item):
    url = scrapy.Field()
    title = scrapy.Field()
    price = scrapy.Field()
    currency = scrapy.Field()


@dataclass
class DataItem:
    url: str
    title: str
    price: str
    currency: str


@attrs.define
class AttrsItem:
    url: str
    title: str
    price: str
    currency: str


def our_offer(**fields: Any) -> Offer:
    given = {"price_cents": 1250, "availability": Availability.LISTED, **fields}
    given.pop("price")
    return Offer(**given)


def read(**fields: Any) -> tuple[Offer, Drop | None]:
    return read_offer(ItemAdapter({**KETTLE, **fields}), "shop.example", NOW)


def accepted(**fields: Any) -> Offer:
    offer, drop = read(**fields)
    assert drop is None
    return offer


def dropped(**fields: Any) -> tuple[DropReason, str]:
    _, drop = read(**fields)
    assert drop is not None
    return drop.reason, drop.details


@pytest.mark.parametrize("make", [dict, PlainItem, DataItem, AttrsItem, our_offer])
def test_every_kind_of_item_is_the_same_offer(make: Callable[..., Any]) -> None:
    item = ItemAdapter(make(**KETTLE))
    assert is_offer(item)
    offer, drop = read_offer(item, "shop.example", NOW)
    assert drop is None
    assert offer == Offer(
        url=URL,
        title="Kettle",
        price_cents=1250,
        currency="EUR",
        availability=Availability.LISTED,
        source="shop.example",
        fetch_url=URL,
        observed_at=NOW,
        identity_key=offer.identity_key,
    )
    assert offer.identity_key.startswith("URL:")
    assert isinstance(judge(offer, None), Ok)


@pytest.mark.parametrize(
    ("item", "is_one"),
    [
        ({"url": URL, "price": None}, True),
        ({"url": URL, "price_cents": None}, True),
        ({"price": "12.50"}, True),
        ({"url": URL, "title": "About us"}, False),
        ({}, False),
    ],
)
def test_an_item_with_a_price_is_meant_to_be_stored(item: dict[str, Any], is_one: bool) -> None:
    assert is_offer(ItemAdapter(item)) is is_one


@pytest.mark.parametrize(
    ("fields", "money"),
    [
        ({"price": "12.50"}, (1250, "EUR")),
        ({"price": " 12.50 "}, (1250, "EUR")),
        ({"price": 12.5}, (1250, "EUR")),
        ({"price": 12}, (1200, "EUR")),
        ({"price": Decimal("12.50")}, (1250, "EUR")),
        ({"price": "12.5"}, (1250, "EUR")),
        ({"price": "€ 12,50"}, (1250, "EUR")),
        ({"price": "€ 12,50", "currency": None}, (1250, "EUR")),
        ({"price": "1.299,50 €", "currency": ""}, (129950, "EUR")),
        ({"price": "1,299.50"}, (129950, "EUR")),
        ({"price": 1234, "currency": "jpy"}, (1234, "JPY")),
        ({"price": "1.234", "currency": "KWD"}, (1234, "KWD")),
        ({"price": None, "price_cents": 1250}, (1250, "EUR")),
        ({"price": None, "price_cents": "1250"}, (1250, "EUR")),
        # The exact amount is more certain than a text.
        ({"price": "about 12", "price_cents": 1250}, (1250, "EUR")),
    ],
)
def test_prices(fields: dict[str, Any], money: tuple[int, str]) -> None:
    offer = accepted(**fields)
    assert (offer.price_cents, offer.currency) == money
    assert isinstance(judge(offer, None), Ok)


@pytest.mark.parametrize("fields", [{"price": "0"}, {"price": 0}, {"price": "0.00"}, {"price_cents": 0}])
def test_a_price_of_zero_is_held(fields: dict[str, Any]) -> None:
    verdict = judge(accepted(**fields), None)
    assert isinstance(verdict, Quarantine)
    assert verdict.reason is QuarantineReason.ZERO_PRICE_EXTRACTED


@pytest.mark.parametrize(
    ("fields", "reason", "details"),
    [
        ({"price": None}, DropReason.MISSING_REQUIRED_FIELD, "price"),
        ({"price": ""}, DropReason.MISSING_REQUIRED_FIELD, "price"),
        ({"currency": None}, DropReason.MISSING_REQUIRED_FIELD, "currency"),
        ({"currency": ""}, DropReason.MISSING_REQUIRED_FIELD, "currency"),
        ({"price": "€ 12,50", "currency": "USD"}, DropReason.MISSING_REQUIRED_FIELD, "currency"),
        ({"price": "1.234"}, DropReason.INVALID_PRICE, "'1.234': a number that can be read in two ways"),
        ({"price": "ask us"}, DropReason.INVALID_PRICE, "'ask us': no number"),
        ({"price": "from € 5"}, DropReason.INVALID_PRICE, "'from € 5': a from-price"),
        ({"price": "€ 5 - € 9"}, DropReason.INVALID_PRICE, "'€ 5 - € 9': a range"),
        ({"price": "-3"}, DropReason.INVALID_PRICE, "'-3': negative"),
        ({"price": float("nan")}, DropReason.INVALID_PRICE, "'nan': no number"),
        ({"price": True}, DropReason.INVALID_PRICE, "'True': no number"),
        ({"price": "1e999999"}, DropReason.INVALID_PRICE, "'1e999999': out of range"),
        ({"price_cents": 12.5}, DropReason.INVALID_PRICE, "price_cents is '12.5', not a whole number"),
        ({"price_cents": True}, DropReason.INVALID_PRICE, "price_cents is 'True', not a whole number"),
        ({"price_cents": "12.50"}, DropReason.INVALID_PRICE, "price_cents is '12.50', not a whole number"),
        (
            {"shipping_cents": "no"},
            DropReason.INVALID_PRICE,
            "shipping_cents is 'no', not a whole number",
        ),
        ({"url": None}, DropReason.MISSING_REQUIRED_FIELD, "url"),
        ({"title": " "}, DropReason.MISSING_REQUIRED_FIELD, "title"),
        ({"title": True}, DropReason.MISSING_REQUIRED_FIELD, "title"),
        ({"url": "", "title": ""}, DropReason.MISSING_REQUIRED_FIELD, "url, title"),
        ({"title": ["Kettle"]}, DropReason.MISSING_REQUIRED_FIELD, "title is a list, not text"),
        ({"sku": {"id": 1}}, DropReason.MISSING_REQUIRED_FIELD, "sku is a dict, not text"),
    ],
)
def test_why_an_item_is_dropped(fields: dict[str, Any], reason: DropReason, details: str) -> None:
    assert dropped(**fields) == (reason, details)


@pytest.mark.parametrize("url", ["/kettle", "kettle", "ftp://shop.example/kettle", "https://", 5, ["a"]])
def test_an_address_is_a_whole_one(url: Any) -> None:
    assert dropped(url=url)[0] is DropReason.INVALID_URL


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"currency": "EURO"}, DropReason.INVALID_PRICE),
        ({"price_cents": 10**12}, DropReason.INVALID_PRICE),
        ({"price_cents": -5}, DropReason.INVALID_PRICE),
        ({"price_cents": 1250, "price_max_cents": 1000}, DropReason.INVALID_PRICE),
        ({"price_cents": 1250, "currency": None}, DropReason.MISSING_REQUIRED_FIELD),
        ({"availability": "ask the captain"}, DropReason.UNKNOWN_AVAILABILITY),
        ({"availability": True}, DropReason.UNKNOWN_AVAILABILITY),
    ],
)
def test_what_the_general_rules_say(fields: dict[str, Any], reason: DropReason) -> None:
    verdict = judge(accepted(**fields), None)
    assert isinstance(verdict, Drop)
    assert verdict.reason is reason


@pytest.mark.parametrize(
    ("word", "availability"),
    [
        (None, "LISTED"),
        ("", "LISTED"),
        ("LISTED", "LISTED"),
        ("IN_STOCK", "IN_STOCK"),
        (Availability.SOLD, "SOLD"),
        (" sold ", "SOLD"),
        ("InStock", "IN_STOCK"),
        ("https://schema.org/OutOfStock", "OUT_OF_STOCK"),
        ("http://schema.org/PreOrder", "BACKORDER"),
        ("In stock", "IN_STOCK"),
        ("nicht auf Lager", "OUT_OF_STOCK"),
        ("Only 3 left", "IN_STOCK"),
        ("hm", "UNKNOWN"),
    ],
)
def test_words_for_stock(word: Any, availability: str) -> None:
    assert accepted(availability=word).availability == availability


@pytest.mark.parametrize(
    ("seller", "expected"),
    [
        (None, None),
        ("", None),
        (" Ruth ", SellerInfo("Ruth", "Ruth")),
        (SellerInfo("7", "Ruth"), SellerInfo("7", "Ruth")),
        ({"id": 7, "name": "Ruth", "type": "User"}, SellerInfo("7", "Ruth", SellerType.USER)),
        ({"name": "Ruth", "type": "person"}, SellerInfo("Ruth", "Ruth")),
        ({"type": "shop"}, None),
        (SimpleNamespace(id=7), None),
        (7, None),
        ([], None),
    ],
)
def test_sellers(seller: Any, expected: SellerInfo | None) -> None:
    assert accepted(seller=seller).seller == expected


@pytest.mark.parametrize(
    ("given_time", "expected"),
    [
        (None, NOW),
        ("yesterday", NOW),
        (date(2026, 4, 30), NOW),
        (1777550400, NOW),
        ("2026-04-30T10:00:00Z", datetime(2026, 4, 30, 10, tzinfo=UTC)),
        ("2026-04-30 10:00", datetime(2026, 4, 30, 10, tzinfo=UTC)),
        (datetime(2026, 4, 30, 10), datetime(2026, 4, 30, 10, tzinfo=UTC)),  # noqa: DTZ001 - people give such
        (
            datetime(2026, 4, 30, 12, tzinfo=timezone(timedelta(hours=2))),
            datetime(2026, 4, 30, 10, tzinfo=UTC),
        ),
    ],
)
def test_when_it_was_seen(given_time: Any, expected: datetime) -> None:
    assert accepted(observed_at=given_time).observed_at == expected


def test_the_other_fields() -> None:
    offer = accepted(
        product_id=77,
        sku="k-1",
        brand=" Tefal ",
        gtin=4006381333931,
        image="https://shop.example/kettle.png",
        location="Wien",
        area=Decimal("12.5"),
        tax_included=True,
        shipping_cents=490,
        sold_at="2026-04-30T10:00:00Z",
        attributes={"colour": "red", "sizes": (1, 2)},
    )
    assert (offer.identity_key, offer.brand, offer.gtin) == ("PID:77", "Tefal", "4006381333931")
    assert (offer.area, offer.tax_included, offer.shipping_cents) == (12.5, True, 490)
    assert offer.sold_at == datetime(2026, 4, 30, 10, tzinfo=UTC)
    assert offer.attributes == {"colour": "red", "sizes": [1, 2]}
    assert accepted(sku="k-1").identity_key == "SKU:k-1"
    odd = accepted(area=float("inf"), tax_included="yes", attributes=["red"])
    assert (odd.area, odd.tax_included, odd.attributes) == (None, None, {})


def test_attributes_are_what_json_can_hold() -> None:
    endless: dict[str, Any] = {}
    endless["again"] = endless
    offer = accepted(
        attributes={
            "seen": NOW,
            "price": Decimal("1.5"),
            "rate": float("nan"),
            ("a", 1): {b"x"},
            "endless": endless,
        }
    )
    kept = json.loads(json.dumps(offer.attributes, allow_nan=False))
    assert (kept["seen"], kept["price"], kept["rate"]) == ("2026-05-01 12:00:00+00:00", "1.5", None)
    assert kept["('a', 1)"] == ["b'x'"]


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.decimals()
    | st.datetimes(timezones=st.none() | st.just(UTC))
    | st.binary(max_size=10)
    | st.sampled_from(["12.50", "€ 12,50", "EUR", "in stock", URL, "2026-04-30", "1e999999999"])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NAMES = [
    *(
        "url",
        "title",
        "price",
        "price_cents",
        "price_max_cents",
        "currency",
        "availability",
        "shipping_cents",
    ),
    *(
        "tax_included",
        "product_id",
        "sku",
        "gtin",
        "mpn",
        "brand",
        "seller",
        "location",
        "area",
        "attributes",
    ),
    *("image", "observed_at", "sold_at", "something_else"),
]


@given(st.dictionaries(st.sampled_from(NAMES), values), st.sampled_from([{}, KETTLE]))
def test_whatever_an_item_holds_it_is_read_or_dropped(item: dict[str, Any], complete: dict[str, Any]) -> None:
    offer, drop = read_offer(ItemAdapter({**complete, **item}), "shop.example", NOW)
    if drop is None:
        verdict = judge(offer, None)
        assert isinstance(verdict, (Ok, Drop, Quarantine))
        if isinstance(verdict, Ok):
            assert verdict.offer.price_cents > 0
            json.dumps(verdict.offer.attributes, allow_nan=False)
