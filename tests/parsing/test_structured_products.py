"""Products and offers from decoded structured data."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricewatch.parsing.pages.element_tree import parse_html
from pricewatch.parsing.prices.price_roles import Role
from pricewatch.parsing.structured_data.microdata import read_microdata
from pricewatch.parsing.structured_data.structured_products import products_in
from pricewatch.vocabulary import Availability


def prices(data: object) -> list[tuple[str, str]]:
    return [
        (str(offer.price.amount), str(offer.role))
        for product in products_in(data, "json-ld")
        for offer in product.offers
        if offer.price.amount is not None
    ]


@pytest.mark.parametrize(
    ("offers", "expected"),
    [
        ({"price": "19.99"}, [("19.99", "current")]),
        ([{"price": 19.99}, {"price": "29.99"}], [("19.99", "current"), ("29.99", "current")]),
        ({"lowPrice": 10, "highPrice": 20}, [("1E+1", "range")]),
        ({"lowPrice": 10, "highPrice": 10}, [("1E+1", "current")]),
        ({"lowPrice": 10}, [("1E+1", "from")]),
        ({"lowPrice": 10, "offerCount": 1}, [("1E+1", "current")]),
        ({"price": "", "lowPrice": "12.50", "highPrice": "12.50"}, [("12.5", "current")]),
        ({"lowPrice": 1, "highPrice": 9, "offers": [{"price": "4.50"}]}, [("4.5", "current")]),
        (
            {"price": "19.99", "priceSpecification": {"priceType": "ListPrice", "price": 29.99}},
            [("19.99", "current"), ("29.99", "list")],
        ),
        ({"priceSpecification": {"price": 4, "referenceQuantity": {"unitCode": "KGM"}}}, [("4", "per unit")]),
        (
            {
                "priceSpecification": {
                    "price": 81,
                    "referenceQuantity": {"value": 4.5, "unitCode": "LTR", "valueReference": {"value": 1}},
                }
            },
            [("81", "current")],
        ),
        ({"priceSpecification": {"price": 9, "billingDuration": 24}}, [("9", "instalment")]),
        ({"priceSpecification": {"price": 9, "eligibleQuantity": {"minValue": 10}}}, [("9", "variant")]),
        ({}, []),
        ("19.99", []),
        (None, []),
    ],
)
def test_offers_are_read(offers, expected):
    data = {"@type": "Product", "offers": offers}
    assert [(Decimal(amount), role) for amount, role in prices(data)] == [
        (Decimal(amount), role) for amount, role in expected
    ]


@pytest.mark.parametrize(
    ("data", "names"),
    [
        ({"@type": "Product", "name": "a"}, ["a"]),
        ([{"@type": "Product", "name": "a"}, {"@type": "Product", "name": "b"}], ["a", "b"]),
        ({"@graph": [{"@type": "WebPage"}, {"@type": ["Thing", "Product"], "name": "a"}]}, ["a"]),
        ({"@type": "WebPage", "mainEntity": {"@type": "Product", "name": "a"}}, ["a"]),
        ({"@type": "Product", "name": "a", "isSimilarTo": {"@type": "Product", "name": "b"}}, ["a"]),
        ({"@type": "ItemList", "itemListElement": [{"item": {"@type": "Product", "name": "a"}}]}, []),
        ({"@type": "Event", "name": "a", "offers": {"price": 1}}, []),
        ({"@type": "Organization", "name": "a", "makesOffer": {"@type": "Offer", "price": 1}}, []),
        ({"@type": "https://schema.org/Book", "name": "a"}, ["a"]),
        ({"@type": "Offer", "price": 1, "itemOffered": {"name": "a"}}, ["a"]),
    ],
)
def test_products_are_read(data, names):
    assert [product.name for product in products_in(data, "json-ld")] == names


def test_variants_are_offers_of_the_group():
    variants = [
        {"@type": "Product", "sku": sku, "offers": {"price": price}} for sku, price in (("S", 1), ("L", 2))
    ]
    (group,) = products_in({"@type": "ProductGroup", "name": "a", "hasVariant": variants}, "json-ld")
    assert [(offer.sku, offer.price.amount) for offer in group.offers] == [
        ("S", Decimal(1)),
        ("L", Decimal(2)),
    ]


def test_microdata_has_the_structure_of_json_ld():
    root = parse_html(
        b"""<div itemscope itemtype="http://schema.org/Product">
        <span itemprop="name">Kettle</span>
        <div itemprop="offers" itemscope itemtype="http://schema.org/Offer">
        <b itemprop="price">19,99 &euro;</b>
        <link itemprop="availability" href="http://schema.org/InStock">
        <meta itemprop="sku" content="K1"></div>
        <div itemprop="isRelatedTo" itemscope itemtype="http://schema.org/Product">
        <span itemprop="name">Pot</span></div></div>"""
    )
    (product,) = products_in(read_microdata(root), "microdata")
    (offer,) = product.offers
    assert (product.name, offer.price.amount, offer.price.currency) == ("Kettle", Decimal("19.99"), "EUR")
    assert (offer.availability, offer.sku, offer.role) == (Availability.IN_STOCK, "K1", Role.CURRENT)


def test_microdata_without_a_scope_is_an_orphan():
    root = parse_html(b'<div><span itemprop="price" content="19.99"></span></div>')
    (product,) = products_in(read_microdata(root), "microdata")
    assert product.is_orphan
    assert [offer.price.amount for offer in product.offers] == [Decimal("19.99")]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["Product", "Offer", "19.99", "EUR", "", "InStock"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "@type",
                    "offers",
                    "price",
                    "name",
                    "hasVariant",
                    "priceSpecification",
                    "lowPrice",
                    "highPrice",
                    "url",
                    "seller",
                    "brand",
                    "availability",
                    "shippingDetails",
                    "@graph",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(JSON)
def test_no_structured_data_raises(data):
    products_in(data, "json-ld")
    products_in({"@type": "Product", "offers": data}, "json-ld")
