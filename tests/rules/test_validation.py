from __future__ import annotations

from typing import Any

import pytest

from pricewatch.items import Card, Drop, Offer, Ok, Quarantine, SellerInfo
from pricewatch.rules.validation import LONGEST_TITLE, validate_card, validate_offer
from pricewatch.vocabulary import Availability, DropReason, QuarantineReason

URL = "https://shop.com/p/1"


def an_offer(**changes: Any) -> Offer:
    values: dict[str, Any] = {
        "url": URL,
        "title": "Kettle",
        "price_cents": 1999,
        "currency": "EUR",
        "availability": Availability.IN_STOCK,
        "identity_key": "PID:1",
    }
    return Offer(**(values | changes))


def a_card(**changes: Any) -> Card:
    values: dict[str, Any] = {"url": URL, "title": "Kettle", "price_cents": 1999, "currency": "EUR"}
    return Card(**(values | changes))


def reason_of(verdict: object) -> object:
    return verdict.reason if isinstance(verdict, (Drop, Quarantine)) else None


def test_a_good_offer_is_not_changed():
    offer = an_offer()
    assert validate_offer(offer) == Ok(offer)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"url": ""}, DropReason.MISSING_REQUIRED_FIELD),
        ({"title": ""}, DropReason.MISSING_REQUIRED_FIELD),
        ({"title": " \x00\n "}, DropReason.MISSING_REQUIRED_FIELD),
        ({"currency": ""}, DropReason.MISSING_REQUIRED_FIELD),
        ({"url": "javascript:alert(1)"}, DropReason.INVALID_URL),
        ({"url": "https:///p"}, DropReason.INVALID_URL),
        ({"url": "http://[x"}, DropReason.INVALID_URL),
        ({"url": "https://shop.com/a b"}, DropReason.INVALID_URL),
        ({"url": "https://shop.com/a\x00"}, DropReason.INVALID_URL),
        ({"url": "https://shop.com/" + "a" * 2000}, DropReason.INVALID_URL),
        ({"price_cents": 0}, QuarantineReason.ZERO_PRICE_EXTRACTED),
        ({"price_cents": -1}, DropReason.INVALID_PRICE),
        ({"price_cents": 100_000_000}, DropReason.INVALID_PRICE),
        ({"price_cents": True}, DropReason.INVALID_PRICE),
        ({"price_cents": 19.99}, DropReason.INVALID_PRICE),
        ({"price_cents": 1999, "price_max_cents": 1998}, DropReason.INVALID_PRICE),
        ({"currency": "EURO"}, DropReason.INVALID_PRICE),
        ({"currency": "eur"}, DropReason.INVALID_PRICE),
        ({"currency": "XXX"}, DropReason.INVALID_PRICE),
        ({"availability": Availability.UNKNOWN}, DropReason.UNKNOWN_AVAILABILITY),
        ({"identity_key": "PID:" + "x" * 256}, DropReason.MISSING_REQUIRED_FIELD),
    ],
)
def test_invalid_offers_are_dropped_or_quarantined(changes, reason):
    assert reason_of(validate_offer(an_offer(**changes))) is reason


@pytest.mark.parametrize("cents", [1, 99_999_999])
def test_price_range_includes_its_bounds(cents):
    assert isinstance(validate_offer(an_offer(price_cents=cents)), Ok)


def test_quarantined_offer_keeps_all_fields():
    verdict = validate_offer(an_offer(price_cents=0, sku="K1"))
    assert isinstance(verdict, Quarantine)
    assert verdict.offer is not None
    assert verdict.offer.sku == "K1"


def test_texts_are_cleaned_and_truncated():
    seller = SellerInfo("a\x00b", "Shop\u202e")
    attributes = {"calibre\x00": ["9\x00mm", 1, None]}
    verdict = validate_offer(
        an_offer(
            title="  Ket\x00tle \u200b\n" + "x" * 2000,
            brand="\x01",
            sku=" A\t1 ",
            image="https://i/" + "x" * 2000,
            seller=seller,
            attributes=attributes,
        )
    )
    assert isinstance(verdict, Ok)
    offer = verdict.offer
    assert offer.title.startswith("Ket tle x")
    assert len(offer.title) == LONGEST_TITLE
    assert (offer.brand, offer.sku, offer.image) == (None, "A 1", None)
    assert offer.seller == SellerInfo("a b", "Shop")
    assert offer.attributes == {"calibre": ["9 mm", 1, None]}


def test_original_offer_is_not_modified():
    offer = an_offer(title=" Kettle ")
    validate_offer(offer)
    assert offer.title == " Kettle "


def test_invalid_shipping_is_removed():
    verdict = validate_offer(an_offer(shipping_cents=-5))
    assert isinstance(verdict, Ok)
    assert verdict.offer.shipping_cents is None


def test_card_may_have_no_price():
    verdict = validate_card(a_card(price_cents=None, currency="EUR", price_max_cents=5))
    assert isinstance(verdict, Card)
    assert (verdict.price_cents, verdict.price_max_cents, verdict.currency) == (None, None, None)


def test_a_good_card_is_not_changed():
    card = a_card()
    assert validate_card(card) == card


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"title": ""}, DropReason.MISSING_REQUIRED_FIELD),
        ({"url": "mailto:a@b.c"}, DropReason.INVALID_URL),
        ({"currency": None}, DropReason.MISSING_REQUIRED_FIELD),
        ({"currency": "ZZZ"}, DropReason.INVALID_PRICE),
        ({"price_cents": 0}, DropReason.INVALID_PRICE),
        ({"price_cents": 10**9}, DropReason.INVALID_PRICE),
    ],
)
def test_invalid_cards_are_dropped(changes, reason):
    assert reason_of(validate_card(a_card(**changes))) is reason


def test_unrecognized_stock_of_a_card_is_ignored() -> None:
    verdict = validate_card(a_card(availability=Availability.UNKNOWN))
    assert isinstance(verdict, Card)
    assert verdict.availability is None
