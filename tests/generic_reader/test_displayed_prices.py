"""Pages without structured data, and pages with misleading prices."""

# ruff: noqa: E501 - a page reads better in one line

from __future__ import annotations

import pytest

from tests.generic_reader.pages import SHOP, buy, ld, outcome, page, product

TAG = '<span class="price">{}</span>'

TAGS = [
    ("was and now", "Was £30.00, now £20.00", "20.00 GBP"),
    ("now and was", "£20.00 (was £30.00)", "20.00 GBP"),
    ("statt and nur", "statt 29,99 € nur 19,99 €", "19.99 EUR"),
    ("regular, cut short", "Reg. £30.00 Sale £20.00", "20.00 GBP"),
    ("UVP", "UVP 29,99 € <b>19,99 €</b>", "19.99 EUR"),
    ("recommended price after", "<b>£20.00</b> <span>RRP £30.00</span>", "20.00 GBP"),
    ("you save", "Our price: £20.00 You save: £10.00 (33%)", "20.00 GBP"),
    ("percent before the price", "UVP 29,99 € -33% 19,99 €", "19.99 EUR"),
    ("save in percent", "<del>£30.00</del> Save 33% £20.00", "20.00 GBP"),
    ("percent off", "33% off <b>£20.00</b>", "20.00 GBP"),
    ("from one to another, in Dutch", "Van €30,00 voor €20,00", "20.00 EUR"),
    ("MRP", "MRP ₹999 ₹499 (50% off)", "499.00 INR"),
    ("a slash and a dash", "₹ 1,299/-", "1299.00 INR"),
    ("a footnote", "€19,99<sup>12</sup>", "19.99 EUR"),
    ("small text next to it", "€19 <small>12 months warranty</small>", "19.00 EUR"),
    ("small cents with a sign", "19<small>99 €</small>", "19.99 EUR"),
    ("crossed out by style", '<span style="text-decoration: line-through">£30.00</span> £20.00', "20.00 GBP"),
    ("crossed out by class", '<span class="price--strike">£30.00</span> £20.00', "20.00 GBP"),
    (
        "old and new by class",
        '<span class="oldPrice">£30.00</span><span class="newPrice">£20.00</span>',
        "20.00 GBP",
    ),
    ("per litre", "19,99 € (39,98 €/l)", "19.99 EUR"),
    ("per litre in its own element", '19,99 € <span class="unit-price">39,98 € pro 1 l</span>', "19.99 EUR"),
    ("with tax and without", "€119.00 incl. VAT (€100.00 excl. VAT)", "119.00 EUR"),
    (
        "without tax and with",
        "£100.00 <small>ex VAT</small> <span>£120.00</span> <small>inc VAT</small>",
        "120.00 GBP",
    ),
    ("without tax, a label for the next", "£120.00 Ex Tax: £100.00", "120.00 GBP"),
    ("a levy that is in it", "499,00 € <small>dont 8,00 € d'éco-participation</small>", "499.00 EUR"),
    ("per fluid ounce", "€23.99 <span>(€1.20 / Fl Oz)</span>", "23.99 EUR"),
    ("discounts by quantity", "€5.00 <ul><li>10 or more €4.50</li></ul>", "5.00 EUR"),
    ("thousands and cents of their own", "<span>€</span><span>1.299</span><sup>99</sup>", "1299.99 EUR"),
    ("plus shipping", "Preis: 19,99 € inkl. MwSt., zzgl. 4,90 € Versand", "19.99 EUR"),
    ("or by the month", "€119.01 oder ab 10,65 € mtl.", "119.01 EUR"),
    ("lowest of 30 days", "<b>99,00 zł</b> <small>Najniższa cena z 30 dni: 89,00 zł</small>", "99.00 PLN"),
    ("each", "€19.99 each", "19.99 EUR"),
    ("hidden copy", '<span aria-hidden="true">€19.99</span><span class="sr-only">€19.99</span>', "19.99 EUR"),
    ("sign of its own", "<span>€</span><span>19,99</span>", "19.99 EUR"),
    ("code after", "19.99 EUR", "19.99 EUR"),
    (
        "read aloud",
        '<span class="sr-only">299 reais com 90 centavos</span><span aria-hidden="true">R$<b>299</b>,<b class="cents">90</b></span>',
        "299.90 BRL",
    ),
    ("three letters before", "EUR 1.234,50", "1234.50 EUR"),
    ("rupees", "₹ 1,23,456.00", "123456.00 INR"),
    ("rupees without paise", "₹1,23,456", "123456.00 INR"),
    ("won", "12,000원", "12000 KRW"),
    ("yen, shipping apart", "1,980円 <span>送料別</span>", "1980 JPY"),
    ("yen with tax", "1,980円(税込)", "1980 JPY"),
    ("Taiwan dollars", "NT$1,200", "1200.00 TWD"),
    ("tenge", "44 890 тг.", "44890.00 KZT"),
    ("francs", "CHF 1'299.–", "1299.00 CHF"),
    ("hidden old price", '<span class="hidden">€9.00</span>€19.99', "19.99 EUR"),
    ("not displayed", '<span style="display:none">€9.00</span>€19.99', "19.99 EUR"),
    ("from", "ab 19,99 €", None),
    ("from, behind", "19,99 € +", None),
    ("the least that one may pay", "Minimum price: €5.00", None),
    ("a suggestion", "Suggested price: €20.00", None),
    ("offers over", "Offers over £450,000", None),
    ("starting bid", "£200 <small>starting bid</small>", None),
    ("bids after it", "£45.00 <a>[ 7 bids ]</a>", None),
    ("square metres without a slash", "£24.99 m²", None),
    ("up front", "£30.00 <span>upfront cost</span>", None),
    ("missing for free shipping", "Only €30.01 away from free shipping", None),
    ("lakhs of another currency", "€1,23,456", None),
    ("a range", "€10.00 – €20.00", None),
    ("a range in words", "€10.00 to €20.00", None),
    ("three for a price", "3 for €10.00", None),
    ("cents that may be something else", "<span>€</span><span>49</span><span>99</span>", None),
    ("two without a word", "<b>€10.00</b> <b>€20.00</b>", None),
    ("saving only", "Save €10.00", None),
    ("free", "Free", None),
    ("negative", "-€5.00", None),
    ("points", "Earn 199 points (€1.99)", None),
    ("millions", "€1.5m", None),
]


@pytest.mark.parametrize(("tag", "expected"), [case[1:] for case in TAGS], ids=[case[0] for case in TAGS])
def test_price_tags_are_read(tag, expected):
    result = outcome(page(buy(tag)))
    if expected:
        assert result == f"{expected} IN_STOCK"
    else:
        assert result in ("PRICE_NOT_FOUND", "AMBIGUOUS_PRICE")


@pytest.mark.parametrize(
    ("tag", "lang", "url", "expected"),
    [
        ("1 299 kr", "sv", SHOP, "1299.00 SEK"),
        ("1.299,00 kr.", "en", "https://butik.dk/p/blue-kettle", "1299.00 DKK"),
        ("12 990 Ft", "hu", SHOP, "12990.00 HUF"),
        ("Rs 23,450", "en", "https://shop.com.pk/item/blue-kettle", "23450.00 PKR"),
        ("173<sup>34</sup> <span>Lei</span>", "ro", "https://magazin.ro/blue-kettle", "173.34 RON"),
        ("¥1,980", "ja", SHOP, "1980 JPY"),
        ("¥199.00", "zh-CN", SHOP, "199.00 CNY"),
        ("R 1 299.00", "en-ZA", SHOP, "1299.00 ZAR"),
        ("$3.340", "es-CL", SHOP, "3340 CLP"),
        ("1.250 د.ك", "ar", "https://shop.com.kw/blue-kettle", "1.250 KWD"),
        ("KD 1.250", "en", SHOP, None),
        ("100 km", "en", SHOP, None),
        ("6 ft", "en", SHOP, None),
    ],
)
def test_shared_currency_marks_are_resolved_by_the_page(tag, lang, url, expected):
    result = outcome(page(buy(tag), lang=lang), url)
    if expected:
        assert result == f"{expected} IN_STOCK"
    else:
        assert result in ("PRICE_NOT_FOUND", "AMBIGUOUS_PRICE")


SUBSCRIPTION = '<div class="subscribe"><del class="price">€29.99</del> <span class="price">€26.99</span> every month</div>'
CARD = (
    '<div class="item"><a href="/p/{name}"><img alt="{name} pot of iron"></a><h3><a href="/p/{name}">{name} pot of iron</a></h3>'
    '<div class="price">€{price}</div><button>Add to cart</button></div>'
)
CARDS = "".join(CARD.format(name=name, price=price) for name, price in (("red", "5.00"), ("tan", "6.00")))
BODIES = [
    ("subscription next to the price", ld(product("29.99")) + buy("€29.99") + SUBSCRIPTION, "29.99 EUR IN_STOCK"),
    ("cards without links around the price", buy("€19.99") + f'<div class="grid">{CARDS}</div>', "19.99 EUR IN_STOCK"),
    ("only cards", f'<h1>Blue Kettle</h1><div class="grid">{CARDS}</div>', "PRICE_NOT_FOUND"),
    ("cards of one path", "<h1>Blue Kettle</h1>" + CARDS.replace("/p/", "index.php?product_id="), "PRICE_NOT_FOUND"),
    ("from, outside the tag", '<h1>Blue Kettle</h1><p>From <span class="price">€19.99</span></p><button>Add to cart</button>', "PRICE_NOT_FOUND"),
    ("per month, outside the tag", '<h1>Blue Kettle</h1><p><span class="price">€19.99</span> / month</p><button>Add to cart</button>', "PRICE_NOT_FOUND"),
    ("warranty, outside the tag", ld(product()) + '<h1>Blue Kettle</h1><button>Add to cart</button><label>2 year warranty <b class="price">€7.99</b></label>', "19.99 EUR IN_STOCK"),
    ("a label outside the tag", '<h1>Blue Kettle</h1><dl><dt>Price</dt><dd class="price">€19.99</dd></dl><button>Add to cart</button>', "19.99 EUR IN_STOCK"),
    ("bundle", buy("€19.99") + '<div class="bundle"><b class="price">€35.00</b></div>', "19.99 EUR IN_STOCK"),
    ("options that cost more", buy("€19.99") + '<ul class="options"><li>L <b class="price">€24.99</b></li></ul>', "19.99 EUR IN_STOCK"),
    ("quantity tiers", buy("€19.99") + '<table class="tier-prices"><tr><td>10+</td><td class="price">€17.99</td></tr></table>', "19.99 EUR IN_STOCK"),
    ("recently viewed", buy("€19.99") + '<div class="recently-viewed"><b class="price">€1.00</b></div>', "19.99 EUR IN_STOCK"),
    ("mini cart before", '<div class="mini-cart"><b class="price">€99.00</b></div>' + buy("€19.99"), "19.99 EUR IN_STOCK"),
    ("under a heading of others", buy("€19.99") + '<div><div><h2>You may also like</h2></div><p>Red pot <b class="price">€5.00</b></p></div>', "19.99 EUR IN_STOCK"),
    ("crossed out by a utility class", '<h1>Blue Kettle</h1><p><span class="text-gray-400 line-through">€30</span> <span class="text-red-600">€20</span></p><button>Add to cart</button>', "20.00 EUR IN_STOCK"),
    ("a price in structured data that one has to ask for", ld(product("1.00")) + buy("Preis auf Anfrage"), "AMBIGUOUS_PRICE"),
    ("log in for the price, and another's", buy("Log in to see price") + '<div class="i"><b class="price">€28.00</b></div>', "AMBIGUOUS_PRICE"),
    ("instead of the usual", ld(product("20.00")) + "<h1>Blue Kettle</h1><p>Today only: <b>€15.00</b> instead of our usual €20.00!</p>", "15.00 EUR IN_STOCK"),
    ("the nearest tag contradicts, another is farther", ld(product("20.00")) + '<h1>Blue Kettle</h1><div class="a">€15.00</div><div class="b">€3.00 store credit</div>', "AMBIGUOUS_PRICE"),
    ("sold out, and something else is not", '<h1>Blue Kettle</h1><p>Out of stock</p><div><a href="/p/red">Red Pot</a> €28.00</div><button>Notify me</button>', "OOS_NO_PRICE"),
    ("sold out, with its price", '<h1>Blue Kettle</h1><p class="price">€28.00</p><p>Out of stock</p><button>Notify me</button>', "28.00 EUR OUT_OF_STOCK"),
    ("one card that a search found", '<h1>Search: kettle</h1><div class="item"><a href="/p/a"><img alt="Iron Pot A"><span class="name">Iron Pot A</span></a><b class="price">€18.00</b><button>Add to cart</button></div>', "PRICE_NOT_FOUND"),
    ("price before the title", '<main><div class="price">€19.99</div><h1>Blue Kettle</h1><button>Add to cart</button></main>', "19.99 EUR IN_STOCK"),
    ("a logo as heading", '<header><h1>Shop</h1></header><h2 class="product-name">Blue Kettle</h2><b class="price">€19.99</b><button>Buy now</button>', "19.99 EUR IN_STOCK"),
    ("a name without a heading, longer than the document's", '<div class="top"><div class="sku-name">Blue Kettle 2 litres, enamel</div><div class="price">€19.99</div><button>Add to cart</button></div>', "19.99 EUR IN_STOCK"),
    ("several headings", "<h1>Our newsletter</h1><p>Save €5.00</p>" + buy("€19.99"), "19.99 EUR IN_STOCK"),
    ("a price in a sentence", "<h1>Blue Kettle</h1><p>It beats kettles that cost €100.00 and more, say our customers</p><button>Add to cart</button>", "PRICE_NOT_FOUND"),
    ("a blog", "<h1>Blue Kettle</h1><p>A history</p><p>€19.99</p><p>and a story that goes on for a while</p>", "PRICE_NOT_FOUND"),
    ("price filled in by a script", '<h1>Blue Kettle</h1><span class="price" data-price="19.99"></span><p>Ships with love from Graz</p><button>Add to cart</button>', "PRICE_NOT_FOUND"),
    ("sign from a style sheet", ld(product()) + '<h1>Blue Kettle</h1><span class="price">19.99</span><button>Add to cart</button>', "19.99 EUR IN_STOCK"),
    ("sold by the metre", ld(product("12.50", "GBP")) + buy("£12.50 per metre"), "12.50 GBP IN_STOCK"),
    ("from in structured data's place", ld(product("19.99")) + buy("from €19.99"), "AMBIGUOUS_PRICE"),
    ("instalment in structured data", ld(product("10.65")) + buy("€119.01 or €10.65 / month"), "AMBIGUOUS_PRICE"),
    ("a month that costs more than the price", buy("€1.00") + "<p>mit Vertrag 39,99 € mtl.</p>", "AMBIGUOUS_PRICE"),
    ("a month that costs more than the price of structured data", ld(product("1.00")) + buy("39,99 € mtl."), "AMBIGUOUS_PRICE"),
    ("the asking of structured data", ld(product("450000", "GBP")) + buy("Offers in excess of £450,000"), "AMBIGUOUS_PRICE"),
    ("an old price beside a range", '<main><h1>Blue Kettle</h1><div class="a">€60.00</div><div class="b">€29.90 - €45.50</div><span>-50%</span><button>Add to cart</button></main>', "AMBIGUOUS_PRICE"),
    ("a unit price by its name only", '<main><h1>Blue Kettle</h1><div id="unitPrice">€32.78</div><button>Add to cart</button></main>', "32.78 EUR IN_STOCK"),
    ("with tax by a misleading name, data without tax", ld(product("37.81")) + '<main><h1>Blue Kettle</h1><div class="box"><p id="productUnitPrice">44,99 € inkl. MwSt.</p><p class="price">37,81 € exkl. MwSt.</p></div><button>Add to cart</button></main>', "44.99 EUR IN_STOCK"),
    ("a sign for the point, and another amount", "<main><h1>Blue Kettle</h1><div class='price'>299€99 <small>dont 8,00 € d'éco-participation</small></div><button>Add to cart</button></main>", "299.99 EUR IN_STOCK"),
    ("data states the lower of two in one tag", ld(product("39.99")) + buy("<span>€52.99</span> <span>€39.99</span>"), "39.99 EUR IN_STOCK"),
    ("a price named after a promotion", '<main><h1>Blue Kettle</h1><span class="promo-price">€24.99</span><button>Add to cart</button></main>', "24.99 EUR IN_STOCK"),
    ("an option that is sold out", buy("€19.99") + '<ul><li role="option">XS <span>Sold out</span></li><li role="option">S</li></ul>', "19.99 EUR IN_STOCK"),
    ("offers in a list of lists", ld(product("", offers=[[{"@type": "Offer", "price": "12.34", "priceCurrency": "EUR"}]])) + buy("€19.99"), "AMBIGUOUS_PRICE"),
    ("cents in structured data", ld(product("1999")) + buy("€19.99"), "AMBIGUOUS_PRICE"),
    ("net in structured data", ld(product("100.00")) + buy("€119.00"), "AMBIGUOUS_PRICE"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "expected"), [case[1:] for case in BODIES], ids=[case[0] for case in BODIES]
)
def test_misleading_pages_give_the_right_price_or_none(body, expected):
    assert outcome(page(body)) == expected


@pytest.mark.parametrize(
    ("button", "expected"),
    [
        ("<button>In den Warenkorb</button>", "IN_STOCK"),
        ("<button>Ajouter au panier</button>", "IN_STOCK"),
        ("<button>Thêm vào giỏ hàng</button>", "IN_STOCK"),
        ("<button>หยิบใส่ตะกร้า</button>", "IN_STOCK"),
        ("<a class='btn' href='/cart/add/1'>Купить</a>", "IN_STOCK"),
        ("<button class='add-to-cart'>Naroči zdaj</button>", "IN_STOCK"),
        ("<input type='submit' value='カートに入れる'>", "IN_STOCK"),
        ("<button disabled>Add to cart</button>", "UNKNOWN"),
        ("<button>Contact the seller</button>", "IN_STOCK"),
        ("<button>Contact us</button>", "UNKNOWN"),
        ("<button>Notify me when available</button>", "OUT_OF_STOCK"),
        ("<p>Ausverkauft</p>", "OUT_OF_STOCK"),
        ("<p>Rupture de stock</p>", "OUT_OF_STOCK"),
        ("<p>Нет в наличии</p>", "OUT_OF_STOCK"),
        ("<p>En stock</p>", "IN_STOCK"),
        ("<p>Vorbestellbar</p>", "BACKORDER"),
    ],
)
def test_displayed_availability_is_read(button, expected):
    head = '<meta property="og:type" content="product">'
    assert (
        outcome(page(f'<h1>Blue Kettle</h1><div class="price">€19.99</div>{button}', head))
        == f"19.99 EUR {expected}"
    )


def test_sold_out_product_keeps_its_price():
    sold_out = buy("€19.99", button="x").replace("<button>x", "<button disabled>Sold out")
    assert outcome(page(sold_out)) == "19.99 EUR OUT_OF_STOCK"


def test_zero_price_is_quarantined():
    assert outcome(page(buy("0,00 €"))) == "ZERO_PRICE_EXTRACTED"
    assert (
        outcome(page(buy("0,00 €", button="x").replace("<button>x", "<button disabled>Sold out")))
        == "OOS_NO_PRICE"
    )
