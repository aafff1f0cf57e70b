"""Items of custom spiders, of all types that Scrapy supports: the offer, or the reason to drop it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import attrs
import pytest
import scrapy
from itemadapter import ItemAdapter

from pricewatch.adapters.item_reader import is_offer, read_offer
from pricewatch.adapters.offer_check import check_offer
from pricewatch.items import Drop, Offer, Ok, Quarantine
from pricewatch.vocabulary import Availability, DropReason, QuarantineReason
from tests.adapters.items import KETTLE, NOW, URL, accepted, dropped


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


def offer_item(**fields: Any) -> Offer:
    values = {"price_cents": 1250, "availability": Availability.LISTED, **fields}
    values.pop("price")
    return Offer(**values)


@pytest.mark.parametrize("make", [dict, PlainItem, DataItem, AttrsItem, offer_item])
def test_all_item_types_give_the_same_offer(make: Callable[..., Any]) -> None:
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
    assert isinstance(check_offer(offer, None), Ok)


@pytest.mark.parametrize(
    ("item", "is_expected"),
    [
        ({"url": URL, "price": None}, True),
        ({"url": URL, "price_cents": None}, True),
        ({"price": "12.50"}, True),
        ({"url": URL, "title": "About us"}, False),
        ({}, False),
    ],
)
def test_item_with_a_price_field_is_an_offer(item: dict[str, Any], is_expected: bool) -> None:
    assert is_offer(ItemAdapter(item)) is is_expected


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
        # The amount in cents takes precedence.
        ({"price": "about 12", "price_cents": 1250}, (1250, "EUR")),
    ],
)
def test_prices_are_read_in_all_formats(fields: dict[str, Any], money: tuple[int, str]) -> None:
    offer = accepted(**fields)
    assert (offer.price_cents, offer.currency) == money
    assert isinstance(check_offer(offer, None), Ok)


@pytest.mark.parametrize("fields", [{"price": "0"}, {"price": 0}, {"price": "0.00"}, {"price_cents": 0}])
def test_zero_price_is_quarantined(fields: dict[str, Any]) -> None:
    verdict = check_offer(accepted(**fields), None)
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
        ({"price": "1 " * 30_000}, DropReason.INVALID_PRICE, "60000 characters; the limit is 200"),
        ({"price": "1e999999999"}, DropReason.INVALID_PRICE, "'1e999999999': out of range"),
        ({"price": 10**5000}, DropReason.MISSING_REQUIRED_FIELD, "a number is too large"),
        ({"sku": 10**5000}, DropReason.MISSING_REQUIRED_FIELD, "a number is too large"),
        ({"url": 10**5000}, DropReason.MISSING_REQUIRED_FIELD, "a number is too large"),
        ({"price": "ask us"}, DropReason.INVALID_PRICE, "'ask us': no number"),
        ({"price": "from € 5"}, DropReason.INVALID_PRICE, "'from € 5': a from-price"),
        ({"price": "€ 5 - € 9"}, DropReason.INVALID_PRICE, "'€ 5 - € 9': a range"),
        ({"price": "-3"}, DropReason.INVALID_PRICE, "'-3': negative"),
        ({"price": float("nan")}, DropReason.INVALID_PRICE, "'nan': no number"),
        ({"price": True}, DropReason.INVALID_PRICE, "'True': no number"),
        ({"price": "1e999999"}, DropReason.INVALID_PRICE, "'1e999999': out of range"),
        ({"price_cents": 12.5}, DropReason.INVALID_PRICE, "price_cents is '12.5', not an integer"),
        ({"price_cents": True}, DropReason.INVALID_PRICE, "price_cents is 'True', not an integer"),
        ({"price_cents": "12.50"}, DropReason.INVALID_PRICE, "price_cents is '12.50', not an integer"),
        (
            {"shipping_cents": "no"},
            DropReason.INVALID_PRICE,
            "shipping_cents is 'no', not an integer",
        ),
        ({"url": None}, DropReason.MISSING_REQUIRED_FIELD, "url"),
        ({"title": " "}, DropReason.MISSING_REQUIRED_FIELD, "title"),
        ({"title": True}, DropReason.MISSING_REQUIRED_FIELD, "title"),
        ({"url": "", "title": ""}, DropReason.MISSING_REQUIRED_FIELD, "url, title"),
        ({"title": ["Kettle"]}, DropReason.MISSING_REQUIRED_FIELD, "title is a list, not text"),
        ({"sku": {"id": 1}}, DropReason.MISSING_REQUIRED_FIELD, "sku is a dict, not text"),
    ],
)
def test_reasons_to_drop_an_item(fields: dict[str, Any], reason: DropReason, details: str) -> None:
    assert dropped(**fields) == (reason, details)


@pytest.mark.parametrize("url", ["/kettle", "kettle", "ftp://shop.example/kettle", "https://", 5, ["a"]])
def test_url_must_be_absolute(url: Any) -> None:
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
def test_general_rules_apply_to_items(fields: dict[str, Any], reason: DropReason) -> None:
    verdict = check_offer(accepted(**fields), None)
    assert isinstance(verdict, Drop)
    assert verdict.reason is reason
