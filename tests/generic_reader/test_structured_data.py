"""Structured data in the formats of shops, and the choice of the page's price."""

# ruff: noqa: E501 - a page reads better in one line

from __future__ import annotations

import pytest

from pricewatch.items import Extracted
from pricewatch.vocabulary import SellerType
from tests.generic_reader.pages import SHOP, buy, extract, ld, outcome, page, product

H1 = "<h1>Blue Kettle</h1>"


def offer(price: object, **more: object) -> dict[str, object]:
    return {"@type": "Offer", "price": price, "priceCurrency": "EUR", "availability": "InStock"} | more


def group(**more: object) -> dict[str, object]:
    variants = [
        {
            "@type": "Product",
            "sku": f"KET-{size}",
            "name": f"Blue Kettle {size}",
            "offers": offer(price, url=f"{SHOP}?size={size}"),
        }
        for size, price in (("S", "19.99"), ("L", "29.99"))
    ]
    return {"@type": "ProductGroup", "name": "Blue Kettle", "hasVariant": variants} | more


def many(*names: str) -> list[dict[str, object]]:
    return [
        product(f"{price}.00", name=name, url=f"/p/{price}") for price, name in enumerate(names, start=10)
    ]


MICRODATA = """
<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Blue Kettle</h1>
<div itemprop="offers" itemscope itemtype="https://schema.org/Offer">{price}
<link itemprop="availability" href="https://schema.org/InStock"></div></div>
"""
CARDS = """
<ul>{}</ul>
""".format(
    "".join(
        f'<li itemscope itemtype="https://schema.org/Product"><a itemprop="url" href="/p/{name}"><span itemprop="name">{name}</span></a>'
        f'<span itemprop="offers" itemscope itemtype="https://schema.org/Offer"><span itemprop="price" content="{price}">{price} €</span>'
        '<meta itemprop="priceCurrency" content="EUR"></span></li>'
        for name, price in (("Red Pot", "5.00"), ("Green Pan", "6.00"))
    )
)

JSON_LD = [
    ("alone", ld(product()) + H1, "19.99 EUR IN_STOCK"),
    ("a number", ld(product(19.99)) + H1, "19.99 EUR IN_STOCK"),
    ("a float's noise", ld(product(19.989999999999998)) + H1, "19.99 EUR IN_STOCK"),
    ("four decimals", ld(product("19.9900")) + H1, "19.99 EUR IN_STOCK"),
    ("written for people", ld(product("1.226,00 €")) + H1, "1226.00 EUR IN_STOCK"),
    ("three decimals can be read in two ways", ld(product("1.226")) + H1, "PRICE_NOT_FOUND"),
    ("three decimals, and the page shows which", ld(product("1.226")) + buy("1.226 €"), "1226.00 EUR IN_STOCK"),
    ("@graph", ld({"@graph": [{"@type": "WebSite"}, {"@type": "BreadcrumbList"}, product()]}) + H1, "19.99 EUR IN_STOCK"),
    ("mainEntity", ld({"@type": "ItemPage", "mainEntity": product()}) + H1, "19.99 EUR IN_STOCK"),
    ("a list", ld([{"@type": "Organization"}, product()]) + H1, "19.99 EUR IN_STOCK"),
    ("type as a list", ld(product() | {"@type": ["Product", "Car"]}) + H1, "19.99 EUR IN_STOCK"),
    ("type as a URL", ld(product() | {"@type": "http://schema.org/Product"}) + H1, "19.99 EUR IN_STOCK"),
    ("an offer of a product", ld(offer("19.99", itemOffered={"@type": "Product", "name": "Blue Kettle"})) + H1, "19.99 EUR IN_STOCK"),
    ("two that agree", ld(product(), product()) + H1, "19.99 EUR IN_STOCK"),
    ("two that disagree", ld(product(), product("9.99")) + H1, "AMBIGUOUS_PRICE"),
    ("of several, the one with this name", ld(many("Red Pot", "Blue Kettle", "Green Pan")) + H1, "11.00 EUR IN_STOCK"),
    ("several others", ld(many("Red Pot", "Green Pan", "White Jug")) + H1 + "<p>Gone to the kitchen and back again</p>", "PRICE_NOT_FOUND"),
    ("one other", ld(product(name="Red Pot", url="/p/red-pot-7")) + H1 + "<p>Gone to the kitchen and back again</p>", "PRICE_NOT_FOUND"),
    ("a list of products", ld({"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "item": product("5.00")}]}) + H1 + "<p>Gone to the kitchen and back</p>", "PRICE_NOT_FOUND"),
    ("an event", ld(product() | {"@type": "Event"}) + H1 + "<p>Doors open at seven, bring a coat</p>", "PRICE_NOT_FOUND"),
    ("aggregate of one price", ld(product(offer={"@type": "AggregateOffer", "price": None, "lowPrice": 19.99, "highPrice": 19.99})) + H1, "19.99 EUR IN_STOCK"),
    ("aggregate of a range", ld(product(offer={"@type": "AggregateOffer", "price": None, "lowPrice": 19.99, "highPrice": 39})) + H1, "AMBIGUOUS_PRICE"),
    ("aggregate of a range, one of it shown", ld(product(offer={"@type": "AggregateOffer", "price": None, "lowPrice": 19.99, "highPrice": 39})) + buy("€24.50"), "24.50 EUR IN_STOCK"),
    ("aggregate with its offers", ld(product(None, offer={"@type": "AggregateOffer", "lowPrice": 1, "offers": [offer("19.99")]})) + H1, "19.99 EUR IN_STOCK"),
    ("two sellers", ld(product(offers=[offer("19.99", seller={"name": "A"}), offer("17.99", seller={"name": "B"})])) + H1, "AMBIGUOUS_PRICE"),
    ("two sellers, one in the buy box", ld(product(offers=[offer("19.99"), offer("17.99")])) + buy("€19.99"), "19.99 EUR IN_STOCK"),
    ("used and new", ld(product(offers=[offer("12.00", itemCondition="UsedCondition"), offer("19.99", itemCondition="NewCondition")])) + H1, "19.99 EUR IN_STOCK"),
    ("variants", ld(group()) + H1, "AMBIGUOUS_PRICE"),
    ("variants, one shown", ld(group()) + buy("€29.99"), "29.99 EUR IN_STOCK"),
    ("SalePrice and ListPrice", ld(product(None, offer={"priceSpecification": [
        {"priceType": "https://schema.org/StrikethroughPrice", "price": 29.99, "priceCurrency": "EUR"},
        {"priceType": "https://schema.org/SalePrice", "price": 19.99, "priceCurrency": "EUR"}]})) + H1, "19.99 EUR IN_STOCK"),
    ("price per litre", ld(product("19.99", offer={"priceSpecification": {"@type": "UnitPriceSpecification", "price": "39.98", "referenceQuantity": {"value": 1, "unitCode": "LTR"}}})) + H1, "19.99 EUR IN_STOCK"),
    ("quantity tiers", ld(product(None, offer={"priceSpecification": [
        {"price": 19.99, "eligibleQuantity": {"minValue": 1}}, {"price": 15.99, "eligibleQuantity": {"minValue": 10}}]})) + H1, "19.99 EUR IN_STOCK"),
    ("what the delivery costs", ld(product(None, offer={"priceSpecification": [{"@type": "DeliveryChargeSpecification", "price": 4.9}, {"price": 19.99}]})) + H1, "19.99 EUR IN_STOCK"),
    ("nothing but what the delivery costs", ld(product(None, offer={"priceSpecification": {"@type": "DeliveryChargeSpecification", "price": 4.9}})) + H1, "PRICE_NOT_FOUND"),
    ("a price of each month", ld(product(None, offer={"priceSpecification": {"price": 19.99, "unitCode": "MON"}})) + H1, "PRICE_NOT_FOUND"),
    ("a price that is that of each month", ld(product("19.99", offer={"priceSpecification": {"price": 19.99, "unitText": "MONTH"}})) + H1, "PRICE_NOT_FOUND"),
    ("members' price", ld(product(None, offer={"priceSpecification": [{"price": 19.99}, {"price": 17.99, "validForMemberTier": {"name": "gold"}}]})) + H1, "19.99 EUR IN_STOCK"),
    ("no currency in it, but on the page", ld(product(currency="")) + buy("€19.99"), "19.99 EUR IN_STOCK"),
    ("no currency anywhere", ld(product(currency="")) + H1, "AMBIGUOUS_PRICE"),
    ("yen", ld(product("1980", "JPY")) + H1, "1980 JPY IN_STOCK"),
    ("dinars", ld(product("1.250", "KWD")) + H1, "1.250 KWD IN_STOCK"),
    ("half a yen", ld(product("19.5", "JPY")) + H1, "PRICE_NOT_FOUND"),
    ("too much", ld(product("99999999.99")) + H1, "PRICE_NOT_FOUND"),
]  # fmt: skip

OTHER_SYNTAXES = [
    ("microdata with content", MICRODATA.format(price='<meta itemprop="priceCurrency" content="EUR"><span itemprop="price" content="19.99">19,99</span>'), "19.99 EUR IN_STOCK"),
    ("microdata as text", MICRODATA.format(price='<span itemprop="price">1.226,00 €</span>'), "1226.00 EUR IN_STOCK"),
    ("microdata next to cards", MICRODATA.format(price='<span itemprop="price" content="19.99">19,99 €</span><meta itemprop="priceCurrency" content="EUR">') + CARDS, "19.99 EUR IN_STOCK"),
    ("microdata of cards only", H1 + "<p>Nothing to see here but other things that you may like</p>" + CARDS, "PRICE_NOT_FOUND"),
    ("microdata by reference", ('<div itemscope itemtype="http://schema.org/Product" itemref="p"><h1 itemprop="name">Blue Kettle</h1></div>'
     '<div id="p"><div itemprop="offers" itemscope><meta itemprop="price" content="19.99"><meta itemprop="priceCurrency" content="EUR"><link itemprop="availability" href="InStock"></div></div>'), "19.99 EUR IN_STOCK"),
    ("RDFa", ('<div vocab="http://schema.org/" typeof="Product"><h1 property="name">Blue Kettle</h1><div property="offers" typeof="Offer">'
     '<span property="price" content="19.99">19,99</span><span property="priceCurrency" content="EUR"></span><link property="availability" href="http://schema.org/InStock"></div></div>'), "19.99 EUR IN_STOCK"),
    ("product meta", '<meta property="product:price:amount" content="19.99"><meta property="product:price:currency" content="EUR"><meta property="product:availability" content="in stock">' + H1, "19.99 EUR IN_STOCK"),
    ("OpenGraph price", '<meta property="og:price:amount" content="19,99"><meta property="og:price:currency" content="EUR"><meta property="og:availability" content="instock">' + H1, "19.99 EUR IN_STOCK"),
    ("sale price in meta", '<meta property="product:price:amount" content="29.99"><meta property="product:sale_price:amount" content="19.99"><meta property="product:price:currency" content="EUR"><meta property="product:availability" content="oos">' + H1, "19.99 EUR OUT_OF_STOCK"),
    ("meta against JSON-LD", ld(product("29.99")) + '<meta property="product:price:amount" content="19.99"><meta property="product:price:currency" content="EUR">' + H1, "AMBIGUOUS_PRICE"),
    ("state of the page", H1 + '<script id="__NEXT_DATA__" type="application/json">{"props":{"product":{"name":"Blue Kettle","price":{"value":19.99,"currency":"EUR"}},"related":[{"name":"Red Pot","price":{"value":5,"currency":"EUR"}}]}}</script><button>Add to cart</button>', "19.99 EUR IN_STOCK"),
    ("dataLayer", H1 + '<script>window.dataLayer = window.dataLayer || []; dataLayer.push({"event":"view_item","ecommerce":{"currency":"EUR","items":[{"item_name":"Blue Kettle","price":"19.99"}]}});</script><button>Add to cart</button>', "19.99 EUR IN_STOCK"),
    ("a state that may be in cents", H1 + '<script type="application/json">{"name":"Blue Kettle","price":1999,"currency":"EUR"}</script><button>Add to cart</button>', "PRICE_NOT_FOUND"),
    ("a state that says it is discounted, before or after", H1 + '<script>dataLayer.push({"currency":"EUR","items":[{"item_name":"Blue Kettle","price":29.99,"discount":10}]});</script><button>Add to cart</button>', "PRICE_NOT_FOUND"),
    ("a state of another product", H1 + '<script type="application/json">{"name":"Red Pot","price":19.99,"currency":"EUR"}</script><button>Add to cart</button>', "PRICE_NOT_FOUND"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "expected"), [case[1:] for case in JSON_LD], ids=[case[0] for case in JSON_LD]
)
def test_json_ld_is_read(body, expected):
    assert outcome(page(body)) == expected


@pytest.mark.parametrize(
    ("body", "expected"), [case[1:] for case in OTHER_SYNTAXES], ids=[case[0] for case in OTHER_SYNTAXES]
)
def test_microdata_rdfa_meta_tags_and_state_are_read(body, expected):
    assert outcome(page(body)) == expected


def test_url_selects_the_variant():
    html = page(ld(group()) + H1)
    assert outcome(html, f"{SHOP}?size=L") == "29.99 EUR IN_STOCK"
    assert outcome(html, "https://shop.example/p/KET-S") == "19.99 EUR IN_STOCK"


def test_all_fields_of_an_offer_are_read():
    data = product(
        sku="KET-1",
        mpn="M-7",
        gtin13="4006381333931",
        brand={"@type": "Brand", "name": "Kettle &amp; Sons"},
        image=["/img/kettle.jpg", "/img/2.jpg"],
        productID="P-99",
        offer={
            "seller": {"@type": "Organization", "name": "Example Shop"},
            "shippingDetails": {
                "shippingRate": {"@type": "MonetaryAmount", "value": "4.95", "currency": "EUR"}
            },
            "priceSpecification": {"price": "19.99", "valueAddedTaxIncluded": True},
        },
    )
    result = extract(
        page(ld(data) + buy("€19.99"), f'<link rel="canonical" href="{SHOP}?utm_source=x&b=2&a=1">')
    )
    assert isinstance(result, Extracted)
    offer = result.offer
    assert (offer.title, offer.sku, offer.mpn, offer.gtin, offer.product_id) == (
        "Blue Kettle",
        "KET-1",
        "M-7",
        "4006381333931",
        "P-99",
    )
    assert (offer.brand, offer.image) == ("Kettle & Sons", "https://shop.example/img/kettle.jpg")
    assert (offer.url, offer.identity_key) == (f"{SHOP}?a=1&b=2", "PID:P-99")
    assert (offer.shipping_cents, offer.tax_included) == (495, True)
    assert offer.seller is not None
    assert (offer.seller.name, offer.seller.type) == ("Example Shop", SellerType.SHOP)
    assert offer.adapter_version
    assert any(line.startswith("price: ") for line in result.evidence)
    assert any(line.startswith("title: ") for line in result.evidence)


@pytest.mark.parametrize(
    "link",
    [
        "https://shop.example/",
        "https://shop.example/kettles",
        "https://other.example/p/blue-kettle-1234",
        "javascript:void(0)",
        "http://[",
    ],
)
def test_canonical_link_to_another_page_is_ignored(link):
    result = extract(page(ld(product()) + buy("€19.99"), f'<link rel="canonical" href="{link}">'))
    assert isinstance(result, Extracted)
    assert result.offer.url == SHOP


@pytest.mark.parametrize("displayed", ["<b>€29.99</b>", "<p>1.999,00 €</p>"])
def test_unlabelled_price_can_contradict_structured_data(displayed):
    """For example, structured data may be in cents or outdated."""
    assert outcome(page(ld(product()) + f"<main><h1>Blue Kettle</h1>{displayed}</main>")) == "AMBIGUOUS_PRICE"


def test_two_displayed_offers_are_ambiguous():
    two = product(offers=[{"@type": "Offer", "price": price, "priceCurrency": "EUR"} for price in (10, 20)])
    for displayed in ("<span>€10.00</span><span>€20.00</span>", "<span>€20.00</span><span>€10.00</span>"):
        assert outcome(page(ld(two) + f"<main><h1>Blue Kettle</h1>{displayed}</main>")) == "AMBIGUOUS_PRICE"
    assert outcome(page(ld(two) + buy("€20.00"))).startswith("20.00 EUR")


def test_price_for_a_hundred_units_is_not_used():
    hundred = product(offer={"eligibleQuantity": {"@type": "QuantitativeValue", "minValue": 100}})
    assert outcome(page(ld(hundred) + "<h1>Blue Kettle</h1>")) == "PRICE_NOT_FOUND"


def test_bid_is_not_a_price():
    assert outcome(page(ld(product()) + buy("Current bid: €19.99"))) == "AMBIGUOUS_PRICE"
