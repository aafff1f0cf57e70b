"""Real cases of misread prices; numbered by case."""

from __future__ import annotations

import pytest

from pricewatch.items import Quarantine
from tests.generic_reader.pages import buy, extract, ld, outcome, page, product

LIST_PRICE = {
    "@type": "UnitPriceSpecification",
    "priceType": "https://schema.org/ListPrice",
    "price": "29.99",
}

WRONG_NUMBER = [
    # 1: thresholds, coupons, warranties
    ("free shipping over", buy("€19.99") + "<p>Free shipping over €50.00</p>", "19.99 EUR IN_STOCK"),
    (
        "free shipping before the price",
        "<main><p>Free delivery over €50</p>" + buy("€19.99") + "</main>",
        "19.99 EUR IN_STOCK",
    ),
    (
        "shipping cost in a price class",
        buy('€19.99 <span class="shipping-price">+ €4.95 shipping</span>'),
        "19.99 EUR IN_STOCK",
    ),
    ("coupon", buy("€19.99") + '<div class="coupon">Save €5.00 with coupon</div>', "19.99 EUR IN_STOCK"),
    ("warranty", buy("€19.99") + '<label class="price">2-year warranty €7.99</label>', "19.99 EUR IN_STOCK"),
    (
        "only the threshold",
        '<h1>Blue Kettle</h1><p class="price">Free shipping over €50</p><button>Add to cart</button>',
        "PRICE_NOT_FOUND",
    ),
    # 2: other conditions, other sellers
    ("open box", buy("€19.99") + '<div class="price">Open-box from €14.99</div>', "19.99 EUR IN_STOCK"),
    ("used", buy("€19.99") + '<div class="price-used">Used €12.00</div>', "19.99 EUR IN_STOCK"),
    (
        "another seller",
        buy("€19.99") + '<div class="other-sellers"><span class="price">€17.00</span></div>',
        "19.99 EUR IN_STOCK",
    ),
    # 3: instalments
    ("per month", buy("6 290 Kč") + '<div class="price">202 Kč / měsíc</div>', "6290.00 CZK IN_STOCK"),
    (
        "four payments",
        buy("$100.00 USD") + "<p class='price'>or 4 payments of $25.00 with Klarna</p>",
        "100.00 USD IN_STOCK",
    ),
    ("three times", buy("€90.00") + "<p class='price'>3 x €30.00</p>", "90.00 EUR IN_STOCK"),
    (
        "instalment first",
        buy('<span class="installment">€10.65 mtl.</span> <span>€119.01</span>'),
        "119.01 EUR IN_STOCK",
    ),
    ("only an instalment", buy("€10.65 / month"), "PRICE_NOT_FOUND"),
    # 4: cents in separate elements
    ("cents in sup", buy("€68<sup>50</sup>"), "68.50 EUR IN_STOCK"),
    (
        "cents by class",
        buy('<span>€</span><span class="int">68</span><span class="cents">50</span>'),
        "68.50 EUR IN_STOCK",
    ),
    ("cents after a comma", buy('<span class="int">68</span><span>,50</span> €'), "68.50 EUR IN_STOCK"),
    ("cents after the sign", buy("68 €<sup>50</sup>"), "68.50 EUR IN_STOCK"),
    ("hundred dollars", buy("$100 USD"), "100.00 USD IN_STOCK"),
    # 5: locales
    ("thousands point", buy("1.226 €"), "1226.00 EUR IN_STOCK"),
    ("both separators", buy("€1,106.18"), "1106.18 EUR IN_STOCK"),
    ("no-break space", buy("1\u00a0649,00 €"), "1649.00 EUR IN_STOCK"),
    ("thin space", buy("1\u2009649,00 €"), "1649.00 EUR IN_STOCK"),
    ("narrow no-break space", buy("1\u202f649,00 €"), "1649.00 EUR IN_STOCK"),
    ("decimal comma", buy("179,95 €"), "179.95 EUR IN_STOCK"),
    ("reais", buy("R$ 2.720,00"), "2720.00 BRL IN_STOCK"),
    ("cents only", buy(",89 €"), "0.89 EUR IN_STOCK"),
    ("dash for cents", buy("€ 206,-"), "206.00 EUR IN_STOCK"),
    (
        "number of offers",
        buy('<a href="/offers/1">New (8) from $93.99</a> <span>$99.00 USD</span>'),
        "99.00 USD IN_STOCK",
    ),
    # 7: currency
    ("a bare dollar sign is ambiguous", buy("$19.99"), "AMBIGUOUS_PRICE"),
    ("no sign at all", buy("19.99"), "PRICE_NOT_FOUND"),
    # 8: list price in structured data
    (
        "list price in metadata",
        ld(product("29.99")) + buy("<del>€29.99</del> <b>€19.99</b>"),
        "19.99 EUR IN_STOCK",
    ),
    (
        "list price, sale by script",
        ld(product("29.99")) + buy("<del>€29.99</del> <b class='price-now'></b>"),
        "AMBIGUOUS_PRICE",
    ),
    (
        "unmarked sale",
        ld(product("29.99")) + buy("<span>€29.99</span> <span>€19.99</span>"),
        "AMBIGUOUS_PRICE",
    ),
    ("metadata disagrees", ld(product("29.99")) + buy("€19.99"), "AMBIGUOUS_PRICE"),
    # 9: other prices in JSON-LD
    (
        "ListPrice first",
        ld(product("", offer={"priceSpecification": [LIST_PRICE, {"price": "19.99"}]})) + buy("€19.99"),
        "19.99 EUR IN_STOCK",
    ),
    ("empty price and a real one", ld(product(["", "19.99"])) + buy("€19.99"), "19.99 EUR IN_STOCK"),
    (
        "a related product's",
        ld(product("19.99", isRelatedTo=product("5.00"))) + buy("€19.99"),
        "19.99 EUR IN_STOCK",
    ),
    (
        "an Offer with lowPrice",
        ld(product(None, offer={"lowPrice": "10.00", "highPrice": "30.00"})) + buy(""),
        "AMBIGUOUS_PRICE",
    ),
    # 22: a parse failure is not zero
    ("zero", ld(product("0.00")) + buy(""), "ZERO_PRICE_EXTRACTED"),
    ("zero, but the page shows one", ld(product("0")) + buy("€19.99"), "AMBIGUOUS_PRICE"),
    ("price on request", ld(product("on request")) + buy("Price on request"), "PRICE_NOT_FOUND"),
]


@pytest.mark.parametrize(
    ("body", "expected"), [case[1:] for case in WRONG_NUMBER], ids=[case[0] for case in WRONG_NUMBER]
)
def test_right_price_or_none_is_read(body, expected):
    assert outcome(page(body)) == expected


def test_same_price_in_two_formats():  # 6
    body = (
        ld(product("2879.2")) + '<meta property="product:price:amount" content="2879.20">' + buy("€2,879.20")
    )
    assert outcome(page(body)) == "2879.20 EUR IN_STOCK"


@pytest.mark.parametrize(
    ("url", "lang", "expected"),
    [
        ("https://shop.com.au/p/blue-kettle", "en", "19.99 AUD IN_STOCK"),
        ("https://shop.ca/p/blue-kettle", "en", "19.99 CAD IN_STOCK"),
        ("https://shop.example/p/blue-kettle", "en-NZ", "19.99 NZD IN_STOCK"),
        ("https://shop.co/p/blue-kettle", "en", "AMBIGUOUS_PRICE"),
        ("https://shop.de/p/blue-kettle", "en", "AMBIGUOUS_PRICE"),
    ],
)
def test_dollar_sign_is_resolved_by_domain_and_language(url, lang, expected):  # 7
    assert outcome(page(buy("$19.99"), lang=lang), url) == expected


def test_contradictory_currency_is_ambiguous():  # 7
    assert outcome(page(ld(product("19.99", "EUR")) + buy("£19.99"))) == "AMBIGUOUS_PRICE"


def test_contradictory_candidates_are_in_the_details():
    result = extract(page(ld(product("29.99")) + buy("€19.99")))
    assert isinstance(result, Quarantine)
    assert {(one["source"], one["amount"]) for one in result.details["candidates"]} == {
        ("json-ld", "29.99"),
        ("page", "19.99"),
    }
    assert "29.99" in result.details["why"]
