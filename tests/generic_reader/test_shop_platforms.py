"""Minimal pages with the structure of common shop systems."""

# ruff: noqa: E501 - a page reads better in one line

from __future__ import annotations

import pytest

from tests.generic_reader.pages import ld, outcome, page, product

SHOPIFY = """
<main><div class="product__info-wrapper"><h1>Blue Kettle</h1><div class="price price--large {state}">
<div class="price__container"><div class="price__regular"><span class="visually-hidden">Regular price</span>
<span class="price-item price-item--regular">{now}</span></div><div class="price__sale">
<span class="visually-hidden">Regular price</span><span><s class="price-item price-item--regular">{was}</s></span>
<span class="visually-hidden">Sale price</span><span class="price-item price-item--sale">{now}</span></div>
<small class="unit-price hidden"><span>Unit price</span><span>/ per</span></small></div></div>
<div class="product__tax">Tax included. <a href="/policies/shipping-policy">Shipping</a> calculated at checkout.</div>
<form action="/cart/add"><button type="submit" name="add" class="product-form__submit">Add to cart</button></form></div>
<section class="product-recommendations"><h2>You may also like</h2><ul><li><a href="/products/red-kettle">
<img alt="Red Kettle"><h3>Red Kettle</h3></a><span class="price-item">$9.99</span></li></ul></section></main>
"""

WOOCOMMERCE = """
<div class="product"><div class="summary entry-summary"><h1 class="product_title entry-title">Blue Kettle</h1>
<p class="price">{price}</p><p class="stock {stock}">{words}</p><form class="cart">{button}</form></div>
<section class="related products"><h2>Related products</h2><ul class="products"><li class="product">
<a href="https://shop.example/product/red-kettle/"><h2>Red Kettle</h2><span class="price">
<span class="woocommerce-Price-amount amount"><bdi>9,00&nbsp;<span>&euro;</span></bdi></span></span></a></li></ul></section></div>
"""


def woo(amount: str) -> str:
    sign = '<span class="woocommerce-Price-currencySymbol">&euro;</span>'
    return f'<span class="woocommerce-Price-amount amount"><bdi>{amount}&nbsp;{sign}</bdi></span>'


MAGENTO = """
<div class="product-info-main"><div class="page-title-wrapper"><h1 class="page-title"><span itemprop="name">Blue Kettle</span></h1></div>
<div class="product-info-price"><div class="price-box price-final_price">{price}</div>
<div class="stock available" title="Availability"><span>In stock</span></div></div>
<form id="product_addtocart_form"><button type="submit" title="Add to Cart" class="action primary tocart"><span>Add to Cart</span>
</button></form></div><div class="block upsell"><ol class="products"><li class="item"><a href="/red-kettle.html">Red Kettle</a>
<span class="price">€9.00</span></li></ol></div>
"""

SHOPWARE = """
<div class="product-detail-headline"><h1 class="product-detail-name" itemprop="name">Blue Kettle</h1></div>
<div class="product-detail-buy"><meta itemprop="priceCurrency" content="EUR"><meta itemprop="price" content="199">
<div class="product-detail-price-container"><p class="product-detail-price with-list-price">199,00&nbsp;€*</p>
<span class="product-detail-list-price-wrapper"><span class="list-price-price">249,00&nbsp;€*</span>
<span class="list-price-percentage">(20.08% gespart)</span></span></div>
<div class="product-detail-price-unit">Inhalt: 0.5 Liter (398,00&nbsp;€* / 1 Liter)</div>
<p class="product-detail-tax"><a href="/versand">Preise inkl. MwSt. zzgl. Versandkosten</a></p>
<p class="delivery-information">Sofort verfügbar, Lieferzeit 1-3 Tage</p>
<button class="btn btn-primary btn-block btn-buy" title="In den Warenkorb">In den Warenkorb</button></div>
"""

AMAZON_LIKE = """
<div id="centerCol"><div id="title_feature_div"><h1 id="title"><span id="productTitle"> Blue Kettle, 1.7 l </span></h1></div>
<div id="averageReviews">4.5 out of 5 <a href="#r">1,234 ratings</a></div>
<div id="corePrice_feature_div"><span class="a-price aok-align-center"><span class="a-offscreen">$24.99</span>
<span aria-hidden="true"><span class="a-price-symbol">$</span><span class="a-price-whole">24<span class="a-price-decimal">.</span></span>
<span class="a-price-fraction">99</span></span></span></div>
<div class="a-section"><span>List Price: </span><span class="a-price a-text-price" data-a-strike="true">
<span class="a-offscreen">$39.99</span><span aria-hidden="true">$39.99</span></span></div>
<div id="olp"><a href="/gp/offer-listing/B00">New (8) from $23.99</a></div>
<div id="couponText">Apply $5 coupon</div></div>
<div id="rightCol"><div id="availability"><span>In Stock</span></div>
<input id="add-to-cart-button" title="Add to Shopping Cart" type="submit" value="Add to Cart"></div>
"""

PRESTASHOP = """
<section><h1 class="h1">Blue Kettle</h1><div class="product-prices"><div class="product-discount">
<span class="regular-price">30,00&nbsp;€</span></div><div class="product-price h5 has-discount">
<div class="current-price"><span content="24">24,00&nbsp;€</span><span class="discount discount-percentage">Économisez 20%</span></div>
</div><div class="tax-shipping-delivery-label">TTC</div></div>
<span id="product-availability">En stock</span>
<button class="btn btn-primary add-to-cart" type="submit">Ajouter au panier</button></section>
"""

# Badges that styles hide, and a regular part that holds the old price while there is a sale.
SHOPIFY_WITH_BADGES = """
<main><h1>Blue Kettle</h1><div id="price-template"><div class="price price--large price--on-sale price--show-badge">
<div class="price__regular"><span class="visually-hidden">Regular price</span><span class="price-item price-item--regular">{regular}</span></div>
<div class="price__sale"><span class="visually-hidden">Regular price</span><span><s class="price-item price-item--regular">£24.00</s></span>
<span class="visually-hidden">Sale price</span><span class="price-item price-item--sale price-item--last">£18.00</span></div>
<span class="badge price__badge-sale">Sale</span><span class="badge price__badge-sold-out">Sold out</span></div></div>
<form action="/cart/add"><button type="submit" name="add">Add to cart</button></form></main>
"""

MAGENTO_TAXED = (
    '<span class="price-container price-final_price tax weee" itemprop="offers" itemscope itemtype="http://schema.org/Offer">'
    '{label}<span class="price-wrapper" data-price-amount="29"><span class="price">$29.00</span></span>'
    '<meta itemprop="price" content="29"><meta itemprop="priceCurrency" content="USD"></span>'
)

BIGCOMMERCE = """
<section class="productView-details"><h1 class="productView-title">Blue Kettle</h1><div class="productView-price">
<div class="price-section price-section--withoutTax"><span class="price price--withoutTax price--main">{price}</span></div></div>
<input id="form-action-addToCart" type="submit" value="Add to Cart"></section>
"""

OPENCART = """
<div class="col-sm-4"><h1>Blue Kettle</h1><ul class="list-unstyled"><li>Availability: In Stock</li></ul>
<ul class="list-unstyled">{prices}</ul><button id="button-cart" class="btn">Add to Cart</button></div>
"""

UNAVAILABLE = """
<h1>Blue Kettle</h1><div id="outOfStock">Currently unavailable.</div><div id="sims"><h2>Similar item to consider</h2>
<div class="a-row"><a href="/dp/B0XX">Red Kettle of iron</a> <span class="a-price">$14.99</span></div></div>
"""

CASES = [
    ("shopify with badges", page(SHOPIFY_WITH_BADGES.format(regular="£18.00")), "18.00 GBP IN_STOCK"),
    (
        "shopify with badges and structured data",
        page(SHOPIFY_WITH_BADGES.format(regular="£18.00"), ld(product("18.00", "GBP"))),
        "18.00 GBP IN_STOCK",
    ),
    (
        "shopify with the old price in the regular part",
        page(SHOPIFY_WITH_BADGES.format(regular="£24.00")),
        "18.00 GBP IN_STOCK",
    ),
    (
        "woocommerce on sale, repeated as text",
        page(
            WOOCOMMERCE.format(
                price=f"<del>{woo('29,99')}</del> <span>Ursprünglicher Preis war: 29,99 €</span>"
                f"<ins>{woo('19,99')}</ins><span>Aktueller Preis ist: 19,99 €.</span>",
                stock="in-stock",
                words="In stock",
                button="<button>Add to cart</button>",
            )
        ),
        "19.99 EUR IN_STOCK",
    ),
    (
        "magento, as low as",
        page(MAGENTO.format(price=MAGENTO_TAXED.format(label='<span class="price-label">As low as</span>'))),
        "AMBIGUOUS_PRICE",
    ),
    ("magento, taxed", page(MAGENTO.format(price=MAGENTO_TAXED.format(label=""))), "29.00 USD IN_STOCK"),
    (
        "bigcommerce, a range that its meta tag has the low end of",
        page(
            BIGCOMMERCE.format(price="$79.95 - $129.95"),
            '<meta property="product:price:amount" content="79.95"><meta property="product:price:currency" content="USD">',
        ),
        "AMBIGUOUS_PRICE",
    ),
    (
        "opencart",
        page(
            OPENCART.format(prices="<li><h2>£98.00</h2></li><li>Ex Tax: £80.00</li><li>Points: 200</li>"),
            lang="en-gb",
        ),
        "98.00 GBP IN_STOCK",
    ),
    (
        "opencart special with discounts by quantity",
        page(
            OPENCART.format(
                prices='<li><span style="text-decoration: line-through;">£122.00</span></li><li><h2>£98.00</h2></li>'
                "<li>Ex Tax: £80.00</li><li>10 or more £88.00</li><li>20 or more £77.00</li>"
            ),
            lang="en-gb",
        ),
        "98.00 GBP IN_STOCK",
    ),
    ("unavailable, with another's price", page(UNAVAILABLE, lang="en-us"), "OOS_NO_PRICE"),
    (
        "shopify",
        page(SHOPIFY.format(state="", now="$19.99 USD", was=""), ld(product("19.99", "USD"))),
        "19.99 USD IN_STOCK",
    ),
    (
        "shopify on sale",
        page(
            SHOPIFY.format(state="price--on-sale", now="$19.99 USD", was="$29.99 USD"),
            ld(product("19.99", "USD")),
        ),
        "19.99 USD IN_STOCK",
    ),
    (
        "shopify on sale without structured data",
        page(SHOPIFY.format(state="price--on-sale", now="$19.99 USD", was="$29.99 USD")),
        "19.99 USD IN_STOCK",
    ),
    (
        "woocommerce",
        page(
            WOOCOMMERCE.format(
                price=woo("19,99"),
                stock="in-stock",
                words="12 in stock",
                button="<button>Add to cart</button>",
            )
        ),
        "19.99 EUR IN_STOCK",
    ),
    (
        "woocommerce on sale",
        page(
            WOOCOMMERCE.format(
                price=f"<del>{woo('29,99')}</del> <ins>{woo('19,99')}</ins>",
                stock="in-stock",
                words="In stock",
                button="<button>Add to cart</button>",
            ),
            ld(product("19.99")),
        ),
        "19.99 EUR IN_STOCK",
    ),
    (
        "woocommerce variable product",
        page(
            WOOCOMMERCE.format(
                price=f"{woo('10,00')} &ndash; {woo('20,00')}",
                stock="in-stock",
                words="",
                button="<button>Add to cart</button>",
            ),
            ld(
                product(
                    offer={
                        "@type": "AggregateOffer",
                        "price": None,
                        "lowPrice": "10.00",
                        "highPrice": "20.00",
                        "offerCount": 3,
                    }
                )
            ),
        ),
        "AMBIGUOUS_PRICE",
    ),
    (
        "woocommerce out of stock",
        page(
            WOOCOMMERCE.format(price=woo("19,99"), stock="out-of-stock", words="Out of stock", button=""),
            ld(product("19.99")),
        ),
        "19.99 EUR OUT_OF_STOCK",
    ),
    (
        "woocommerce out of stock without a price: not the related product's",
        page(WOOCOMMERCE.format(price="", stock="out-of-stock", words="Out of stock", button="")),
        "OOS_NO_PRICE",
    ),
    (
        "magento",
        page(
            MAGENTO.format(
                price='<span class="price-wrapper" data-price-amount="29.99"><span class="price">€29.99</span></span>'
                '<meta itemprop="price" content="29.99"><meta itemprop="priceCurrency" content="EUR">'
            )
        ),
        "29.99 EUR IN_STOCK",
    ),
    (
        "magento special price",
        page(
            MAGENTO.format(
                price='<span class="special-price"><span class="price-label">Special Price</span><span class="price">€19.99</span>'
                '</span><span class="old-price"><span class="price-label">Regular Price</span><span class="price">€29.99</span></span>'
            )
        ),
        "19.99 EUR IN_STOCK",
    ),
    (
        "magento with and without tax",
        page(
            MAGENTO.format(
                price='<span class="price-including-tax"><span class="price">€119.00</span></span>'
                '<span class="price-excluding-tax" data-label="Excl. Tax"><span class="price">€100.00</span></span>'
            )
        ),
        "119.00 EUR IN_STOCK",
    ),
    ("shopware", page(SHOPWARE, lang="de"), "199.00 EUR IN_STOCK"),
    ("amazon-like", page(AMAZON_LIKE, title="Blue Kettle, 1.7 l : Shop", lang="en-us"), "24.99 USD IN_STOCK"),
    ("prestashop", page(PRESTASHOP, lang="fr"), "24.00 EUR IN_STOCK"),
]


@pytest.mark.parametrize(("html", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_price_is_read_on_common_shop_platforms(html, expected):
    assert outcome(html) == expected
