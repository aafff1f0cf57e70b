"""Habits of real shops: later delivery, prices without tax, shared currency signs, expected currencies."""

# ruff: noqa: E501 - a page reads better in one line

from __future__ import annotations

import pytest

from pricewatch import adapters
from pricewatch.adapters.custom_selectors import CustomSelectorAdapter
from pricewatch.generic_reader.adapter import GenericAdapter
from pricewatch.items import Extracted, Quarantine
from tests.generic_reader.pages import SHOP, buy, extract, ld, outcome, page, product, response

LATER = [
    ("WooCommerce", '<p class="stock available-on-backorder">Available on backorder</p>', "BACKORDER"),
    ("German", "<p>Verfügbar auf Nachbestellung</p>", "BACKORDER"),
    ("German, backlog", "<p>Lieferrückstand</p>", "BACKORDER"),
    ("French", "<p>Disponible sur commande</p>", "BACKORDER"),
    ("Dutch", "<p>Beschikbaar via nabestelling</p>", "BACKORDER"),
    ("Polish", "<p>Dostępne na zamówienie</p>", "BACKORDER"),
    ("pre-order", "<p>Pre-order: ships in May</p>", "BACKORDER"),
    ("two notice", "<p>Back order</p>", "BACKORDER"),
    ("next to in stock", "<p>In stock</p><p>Pre order</p>", "BACKORDER"),
    ("only once the stock is used up", "<p>5 in stock (can be backordered)</p>", "IN_STOCK"),
    ("only once the stock is used up, in German", "<p>5 vorrätig (kann nachbestellt werden)</p>", "IN_STOCK"),
    ("another size", "<select><option>XL - available on backorder</option></select>", "IN_STOCK"),
    (
        "another product, by its class",
        '<div class="related"><h3>Red Kettle</h3><p>Available on backorder</p></div>',
        "IN_STOCK",
    ),
    (
        "another product, by its link",
        '<div><a href="/p/red-pan-9"><img alt="Red Pan"><h3>Red Pan</h3></a><p>Available on backorder</p></div>',
        "IN_STOCK",
    ),
    ("out of stock is a contradiction", "<p>Out of stock</p>", "UNKNOWN"),
]


@pytest.mark.parametrize(("notice", "state"), [case[1:] for case in LATER], ids=[case[0] for case in LATER])
def test_displayed_backorder_overrides_structured_in_stock(notice, state):
    assert outcome(page(ld(product()) + buy("€19.99") + notice)) == f"19.99 EUR {state}"


def test_availability_of_related_products_is_ignored():
    own = buy("€19.99") + '<p class="stock">Available on backorder</p>'
    related = (
        '<ul><li><a href="/p/red-pan-9"><img alt="Red Pan"><h3>Red Pan</h3></a><p>In stock</p></li></ul>'
    )
    assert outcome(page(ld(product()) + own + related)) == "19.99 EUR BACKORDER"


NET = [
    ("WooCommerce's suffix", '<b class="price">126,24 € <small>excl. VAT: <i>105,20 €</i></small></b>'),
    ("in one text", '<b class="price">126,24 € excl. VAT: 105,20 €</b>'),
    ("OpenCart", '<ul><li><h2><b class="price">126,24 €</b></h2></li><li>Ex Tax: 105,20 €</li></ul>'),
    ("German", '<b class="price">126,24 €</b><b class="price">105,20 € ohne MwSt.</b>'),
    ("German, plus", '<b class="price">126,24 €</b><b class="price">105,20 € zzgl. gesetzl. MwSt.</b>'),
    ("netto", '<b class="price">126,24 €</b><p>Netto: 105,20 €</p>'),
    ("French", '<b class="price">105,20 € HT</b><b class="price">126,24 € TTC</b>'),
    ("hors taxes", '<b class="price">126,24 €</b><b class="price">105,20 € hors taxes</b>'),
    ("Slovak", '<b class="price">126,24 €</b><b class="price">105,20 € bez DPH</b>'),
    ("British", '<b class="price">126,24 € inc VAT</b><b class="price">105,20 € ex VAT</b>'),
    ("exclusive of", '<b class="price">126,24 €</b><b class="price">105,20 € exclusive of VAT</b>'),
    ("net of", '<b class="price">126,24 €</b><b class="price">105,20 € net of tax</b>'),
    ("Italian", '<b class="price">126,24 € IVA inclusa</b><b class="price">105,20 € IVA esclusa</b>'),
    ("Spanish", '<b class="price">126,24 €</b><b class="price">105,20 € (IVA no incluido)</b>'),
    ("Portuguese", '<b class="price">126,24 €</b><b class="price">105,20 € s/ IVA</b>'),
]


@pytest.mark.parametrize(
    "structured_price", ["", "126.24", "105.20"], ids=["nothing", "with tax", "without tax"]
)
@pytest.mark.parametrize("tag", [case[1] for case in NET], ids=[case[0] for case in NET])
def test_net_price_does_not_contradict_the_gross_price(tag, structured_price):
    """Structured data may have either price: WooCommerce has the one that the shop entered."""
    body = f"<main><h1>Blue Kettle</h1>{tag}<button>Add to cart</button></main>"
    assert (
        outcome(page((ld(product(structured_price)) if structured_price else "") + body))
        == "126.24 EUR IN_STOCK"
    )


@pytest.mark.parametrize(
    "tag",
    [
        # No tax is that high, so these are not the net and gross price of one product.
        '<b class="price">226,24 €</b><b class="price">105,20 € ex VAT</b>',
        '<b class="price">126,24 €</b><b class="price">119,00 €</b><b class="price">105,20 € ex VAT</b>',
    ],
    ids=["too far apart", "two with tax"],
)
def test_difference_that_cannot_be_tax_is_ambiguous(tag):
    body = f"<main><h1>Blue Kettle</h1>{tag}<button>Add to cart</button></main>"
    assert outcome(page(ld(product("105.20")) + body)) == "AMBIGUOUS_PRICE"


def outcome_in(html: str, currency: str, url: str = SHOP, **selectors: str) -> str:
    adapter = CustomSelectorAdapter(adapters.get("generic"), {**selectors, "currency": currency})
    result = adapter.extract(response(html, url))
    if isinstance(result, Extracted):
        return str(result.offer.price)
    return str(result.reason)


SIGN = '<main><h1>Blue Kettle</h1><div class="price">{}</div><button>Add to cart</button></main>'


@pytest.mark.parametrize(
    ("price", "head", "currency", "expected"),
    [
        ("¥3,980", "", "JPY", "3980 JPY"),
        ("¥3,980", "", "CNY", "3980.00 CNY"),
        ("$39.80", "", "CAD", "39.80 CAD"),
        ("3,980", "", "JPY", "3980 JPY"),
        ("39.80", ld(product("39.80", "")), "EUR", "39.80 EUR"),
        ("¥3,980", ld(product("3980", "¥")), "JPY", "3980 JPY"),
        # The page names a different currency: quarantined.
        ("€39.80", "", "JPY", "AMBIGUOUS_PRICE"),
        ("$39.80", "", "EUR", "AMBIGUOUS_PRICE"),
        ("39.80", ld(product("39.80", "USD")), "EUR", "AMBIGUOUS_PRICE"),
        ("$39.80", ld(product("39.80", "USD")), "CAD", "AMBIGUOUS_PRICE"),
        ("39.80", '<meta property="product:price:currency" content="USD">', "EUR", "AMBIGUOUS_PRICE"),
        # Not a valid amount of the currency.
        ("¥39.80", "", "JPY", "AMBIGUOUS_PRICE"),
    ],
)
def test_expected_currency_applies_without_selectors(price, head, currency, expected):
    html = page(head + SIGN.format(price))
    assert outcome_in(html, currency) == expected
    # The same applies to the currency of a declared shop without a product part.
    result = GenericAdapter(currency).extract(response(html))
    assert isinstance(result, Extracted) == (expected != "AMBIGUOUS_PRICE")


def test_shared_sign_without_expected_currency_is_quarantined():
    assert outcome(page(SIGN.format("¥3,980"))) == "AMBIGUOUS_PRICE"


def test_expected_currency_is_in_the_evidence():
    adapter = CustomSelectorAdapter(adapters.get("generic"), {"currency": "JPY"})
    result = adapter.extract(response(page(SIGN.format("3,980"))))
    assert isinstance(result, Extracted)
    assert "currency: JPY (expected currency)" in result.evidence


def test_expected_currency_overrides_the_domain():
    assert (
        outcome_in(page(SIGN.format("$39.80")), "USD", url="https://shop.com.au/p/blue-kettle-1234")
        == "39.80 USD"
    )


def test_selected_price_in_another_currency_is_quarantined():
    assert outcome_in(page(SIGN.format("€39.80")), "USD", price=".price") == "AMBIGUOUS_PRICE"
    assert (
        outcome_in(page(SIGN.format("126,24 € excl. VAT: 105,20 €")), "EUR", price=".price") == "126.24 EUR"
    )


def test_structured_data_in_two_currencies_is_quarantined():
    head = '<meta property="product:price:amount" content="49.99"><meta property="product:price:currency" content="USD">'
    offers = {"@type": "AggregateOffer", "lowPrice": "40.63", "highPrice": "48.75", "priceCurrency": "EUR"}
    result = extract(page(ld(product() | {"offers": offers}) + SIGN.format("from €40.63"), head))
    assert isinstance(result, Quarantine)
    assert "EUR and USD" in result.details["why"]
