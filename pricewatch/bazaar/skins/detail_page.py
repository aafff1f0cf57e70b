"""The page of one listing, in four kinds of markup: JSON-LD, microdata, plain and JavaScript."""

import json
from html import escape
from typing import Any

from pricewatch.bazaar import amounts, presentation
from pricewatch.bazaar.marketplace_clock import MarketplaceClock
from pricewatch.bazaar.product_details import ProductDetails
from pricewatch.bazaar.sample_listing import ON_SALE, SOLD, ListingView, SampleListing
from pricewatch.bazaar.skins import layout, schema_org

STOCK_LINES = {
    presentation.BACKORDER: "Available on backorder",
    presentation.PREORDER: "Pre-order now",
    presentation.UNKNOWN_STOCK: "Ask in the shop",
}


def detail(view: ListingView, extra: ProductDetails, clock: MarketplaceClock) -> bytes:
    """Return the page of a listing that is on sale, out of stock or sold."""
    listing = view.listing
    head = f'<link rel="canonical" href="{view.path}">'
    if listing.markup == "js":
        return layout.page("Loading", _shell(view), head)
    if listing.markup == "jsonld":
        head += schema_org.jsonld(view, extra)
    micro = listing.markup == "microdata"
    scope = f' itemscope itemtype="{schema_org.SCHEMA}Product"' if micro else ""
    offer = f' itemprop="offers" itemscope itemtype="{schema_org.SCHEMA}Offer"' if micro else ""
    body = (
        f'{layout.BANNER}<main class="item" data-id="{view.id}" data-category="{listing.category.name}"'
        f' data-status="{view.stock}"{scope}>'
        f'<h1 class="item-title"{_prop("name", micro)}>{escape(view.title)}</h1>'
        f"{schema_org.microdata_product(view, extra) if micro else ''}"
        f'<div class="gallery"><img src="/static/img/{view.id}.png"{_prop("image", micro)} alt=""></div>\n'
        f'<section class="buy-box"{offer}>{schema_org.microdata_offer(view) if micro else ""}'
        f"{_buy_box(view, extra, clock)}</section>\n"
        f'<section class="description"{_prop("description", micro)}>'
        f"{''.join(f'<p>{escape(text)}</p>' for text in extra.paragraphs)}</section>\n"
        f"{_attributes(extra)}{_seller(view)}"
        f'<p class="listed">Listed on <time class="listed-at" datetime="{clock.iso(view.shown_since)}">'
        f"{clock.date(view.shown_since):%d.%m.%Y}</time>, no. {view.id}</p></main>\n"
        f"{_related(listing)}"
    )
    return layout.page(view.title, body, head)


def gone(view: ListingView, clock: MarketplaceClock) -> bytes:
    """Return the page of a listing that is gone; it shows the price of another listing."""
    other = view.listing.related[0] if view.listing.related else None
    advert = "" if other is None else f'<aside class="promo">Still available: {_related_link(other)}</aside>'
    body = (
        f'<main class="item-gone"><h1>This listing is no longer available</h1>'
        f"<p>It was removed on {clock.date(view.since):%d.%m.%Y}.</p>{advert}</main>\n"
        f"{_related(view.listing)}"
    )
    return layout.page("No longer available", body)


def api(view: ListingView, extra: ProductDetails, clock: MarketplaceClock) -> bytes:
    """Return the JSON from which the script of a JavaScript page builds it."""
    listing = view.listing
    record: dict[str, Any] = {
        "id": view.id,
        "category": listing.category.name,
        "status": view.stock,
        "title": view.title,
        "price_text": _displayed_price(view),
        "old_price_text": _old_price(view, extra),
        "state_text": _state_text(view),
        "sold_at": clock.iso(view.since) if view.state == SOLD else None,
        "description": extra.paragraphs,
        "attributes": extra.attributes,
        "seller": {"id": listing.seller.id, "name": listing.seller.name, "type": listing.seller.type},
        "location": f"{listing.seller.postcode} {listing.seller.city}",
        "listed_at": clock.iso(view.shown_since),
        "related": [
            {"title": other.titles[0][1], "price_text": amounts.displayed(other.prices[0][1], other.currency)}
            for other in listing.related
        ],
        "jsonld": schema_org.product(view, extra),
    }
    return json.dumps(record, ensure_ascii=False).encode()


def _shell(view: ListingView) -> str:
    return (
        f'<div id="app" data-api="/api/listing/{view.id}"></div>'
        "<noscript>Please turn JavaScript on to see this listing.</noscript>"
        '<script src="/static/app.js"></script>'
    )


def _prop(name: str, micro: bool) -> str:
    return f' itemprop="{name}"' if micro else ""


def _old_price(view: ListingView, extra: ProductDetails) -> str | None:
    """Return the crossed-out price: the highest so far, or the recommended price."""
    old = view.was or extra.list_price
    rental = view.listing.area is not None
    hidden = rental or view.price_hidden or view.presentation.page_price == presentation.LOGIN
    return None if hidden or old <= view.price else amounts.displayed(old, view.currency)


def _displayed_price(view: ListingView) -> str | None:
    hidden = view.price_hidden or view.presentation.page_price == presentation.LOGIN
    return None if hidden else amounts.displayed(view.price, view.currency)


def _state_text(view: ListingView) -> str:
    if view.state == SOLD:
        return "SOLD on"
    if view.state != ON_SALE:
        return "Out of stock"
    if view.stock in STOCK_LINES:
        return STOCK_LINES[view.stock]
    return "In stock" if view.listing.seller.type == "shop" else "Available"


def _buy_box(view: ListingView, extra: ProductDetails, clock: MarketplaceClock) -> str:
    currency = view.currency
    rental = view.listing.area is not None
    parts: list[str] = []
    if view.presentation.page_price == presentation.LOGIN:
        parts.append(
            '<p class="item-price"><a class="login" href="/private/">Log in to see the price</a></p>'
        )
    elif not view.price_hidden:
        old = _old_price(view, extra)
        crossed = "" if old is None else f'<s class="old-price">{old}</s> '
        unit = ' <span class="unit">rent per month</span>' if rental else ""
        now = amounts.displayed(view.price, currency)
        parts.append(
            f'<p class="item-price">{crossed}<strong class="price">{now}</strong>{unit}{_net(view)}</p>'
        )
        if view.presentation.page_price == presentation.AMBIGUOUS:
            other = amounts.displayed(presentation.conflicting_price(view.price), currency)
            parts.append(f'<p class="item-price"><strong class="price">{other}</strong></p>')
    date = ""
    if view.state == SOLD:
        day = f"{clock.date(view.since):%d.%m.%Y}"
        date = f' <time class="sold-at" datetime="{clock.iso(view.since)}">{day}</time>'
    parts.append(f'<p class="item-state" data-state="{view.stock}">{_state_text(view)}{date}</p>')
    if view.state == ON_SALE and view.stock != presentation.UNKNOWN_STOCK:
        parts.append(
            '<button class="buy">Contact</button>' if rental else '<button class="buy">Buy now</button>'
        )
    if view.state == ON_SALE and not rental and view.presentation.page_price != presentation.LOGIN:
        parts.append(f'<p class="shipping">plus {amounts.displayed(extra.shipping, currency)} shipping</p>')
        if view.price >= 100 * amounts.MINOR_UNITS[currency]:
            monthly = amounts.displayed(view.price // 12 + 1, currency)
            parts.append(f'<p class="instalments">or 12 monthly instalments of {monthly}</p>')
    return "".join(parts)


def _net(view: ListingView) -> str:
    if view.presentation.page_price != presentation.WITH_NET:
        return ""
    net = amounts.displayed(presentation.net_price(view.price), view.currency)
    return f' <small class="net-price">excl. VAT: {net}</small>'


def _attributes(extra: ProductDetails) -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in extra.attributes)
    for name, value in (("SKU", extra.sku), ("MPN", extra.mpn), ("GTIN", extra.gtin)):
        rows += "" if value is None else f'<dt>{name}</dt><dd class="{name.lower()}">{value}</dd>'
    return f'<dl class="attributes">{rows}</dl>\n'


def _seller(view: ListingView) -> str:
    seller = view.listing.seller
    return (
        f'<section class="seller-box">Sold by <a class="seller" href="/seller/{seller.id}"'
        f' data-seller-id="{seller.id}" data-seller-type="{seller.type}">{escape(seller.name)}</a>'
        f' <span class="city">{seller.postcode} {seller.city}</span></section>\n'
    )


def _related_link(other: SampleListing) -> str:
    """Return a link with the first title and price of another listing, which never change."""
    amount = amounts.displayed(other.prices[0][1], other.currency)
    title = escape(other.titles[0][1])
    return f'<a href="{other.path}">{title}</a> <span class="related-price">{amount}</span>'


def _related(listing: SampleListing) -> str:
    rows = "".join(f'<li class="related-item">{_related_link(other)}</li>' for other in listing.related)
    return (
        f'<section class="related"><h2>Others also looked at</h2><ul>{rows}</ul></section>\n' if rows else ""
    )
