"""Optional fields of items of custom spiders, and items with arbitrary values."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from itemadapter import ItemAdapter

from pricewatch.adapters.item_reader import read_offer
from pricewatch.adapters.offer_check import check_offer
from pricewatch.items import Drop, Ok, Quarantine, SellerInfo
from pricewatch.vocabulary import Availability, SellerType
from tests.adapters.items import KETTLE, NOW, URL, accepted


@pytest.mark.parametrize(
    ("value", "availability"),
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
def test_availability_values_are_converted(value: Any, availability: str) -> None:
    assert accepted(availability=value).availability == availability


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
def test_sellers_are_read_from_text_or_objects(seller: Any, expected: SellerInfo | None) -> None:
    assert accepted(seller=seller).seller == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, NOW),
        ("yesterday", NOW),
        (date(2026, 4, 30), NOW),
        (1777550400, NOW),
        ("2026-04-30T10:00:00Z", datetime(2026, 4, 30, 10, tzinfo=UTC)),
        ("2026-04-30 10:00", datetime(2026, 4, 30, 10, tzinfo=UTC)),
        (datetime(2026, 4, 30, 10), datetime(2026, 4, 30, 10, tzinfo=UTC)),  # noqa: DTZ001 - custom spiders may set it
        (
            datetime(2026, 4, 30, 12, tzinfo=timezone(timedelta(hours=2))),
            datetime(2026, 4, 30, 10, tzinfo=UTC),
        ),
    ],
)
def test_observation_time_is_read_as_utc(value: Any, expected: datetime) -> None:
    assert accepted(observed_at=value).observed_at == expected


def test_other_fields_are_converted_and_cleaned() -> None:
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


def test_attributes_are_converted_to_json_types() -> None:
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
    stored = json.loads(json.dumps(offer.attributes, allow_nan=False))
    assert (stored["seen"], stored["price"], stored["rate"]) == ("2026-05-01 12:00:00+00:00", "1.5", None)
    assert stored["('a', 1)"] == ["b'x'"]


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
NAMES = (
    "url", "title", "price", "price_cents", "price_max_cents", "currency", "availability", "shipping_cents",
    "tax_included", "product_id", "sku", "gtin", "mpn", "brand", "seller", "location", "area", "attributes",
    "image", "observed_at", "sold_at", "something_else",
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(NAMES), values), st.sampled_from([{}, KETTLE]))
def test_any_item_is_read_or_dropped(item: dict[str, Any], complete: dict[str, Any]) -> None:
    offer, drop = read_offer(ItemAdapter({**complete, **item}), "shop.example", NOW)
    if drop is None:
        verdict = check_offer(offer, None)
        assert isinstance(verdict, (Ok, Drop, Quarantine))
        if isinstance(verdict, Ok):
            assert verdict.offer.price_cents > 0
            json.dumps(verdict.offer.attributes, allow_nan=False)
