"""The page of one listing, in four kinds of markup: JSON-LD, microdata, plain and JavaScript."""

import json
from html import escape
from typing import Any

from pricewatch.bazaar import amounts
from pricewatch.bazaar.marketplace_clock import MarketplaceClock
from pricewatch.bazaar.product_details import ProductDetails
from pricewatch.bazaar.sample_listing import ListingView, SampleListing
from pricewatch.bazaar.skins import hashed_names, layout, schema_org
from pricewatch.bazaar.skins.buy_box import buy_box


def detail(view: ListingView, extra: ProductDetails, clock: MarketplaceClock) -> bytes:
    """Return the page of a listing that is on sale, out of stock or sold."""
    listing = view.listing
    head = f'<link rel="canonical" href="{view.path}">'
    if view.markup == "js":
        return layout.page("Loading", _shell(view), head)
    if view.markup == "jsonld":
        head += schema_org.jsonld(view, extra)
    micro = view.markup == "microdata"
    scope = f' itemscope itemtype="{schema_org.SCHEMA}Product"' if micro else ""
    body = (
        f'{layout.BANNER}<main class="item" data-id="{view.id}" data-category="{listing.category.name}"'
        f' data-status="{view.stock}"{scope}>'
        f'<h1 class="item-title"{_prop("name", micro)}>{escape(view.title)}</h1>'
        f"{schema_org.microdata_product(view, extra) if micro else ''}"
        f'<div class="gallery"><img src="/static/img/{view.id}.png"{_prop("image", micro)} alt=""></div>\n'
        f"{_offer_section(view, extra, clock, micro)}\n"
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
    """Return the JSON from which scripts build a JavaScript page, or add the price to a page without one."""
    listing = view.listing
    record: dict[str, Any] = {
        "id": view.id,
        "category": listing.category.name,
        "status": view.stock,
        "title": view.title,
        "buy_box": _script_buy_box(view, extra, clock),
        "description": extra.paragraphs,
        "attributes": extra.attributes,
        "seller": {"id": listing.seller.id, "name": listing.seller.name, "type": listing.seller.type},
        "location": f"{listing.seller.postcode} {listing.seller.city}",
        "listed_at": clock.iso(view.shown_since),
        "related": [
            {"title": other.titles[0][1], "price_text": amounts.displayed(other.prices[0][1], other.currency)}
            for other in listing.related
        ],
        "jsonld": None if view.has_no_structured_data else schema_org.product(view, extra),
        "names": hashed_names.SCRIPT_NAMES if view.presentation.hashed_names else {},
    }
    return json.dumps(record, ensure_ascii=False).encode()


def _shell(view: ListingView) -> str:
    return (
        f'<div id="app" data-api="/api/listing/{view.id}"></div>'
        "<noscript>Please turn JavaScript on to see this listing.</noscript>"
        '<script src="/static/app.js"></script>'
    )


def _offer_section(view: ListingView, extra: ProductDetails, clock: MarketplaceClock, micro: bool) -> str:
    if view.has_price_by_script:
        return (
            f'<section class="buy-box" data-offer="/api/listing/{view.id}">'
            '<button class="buy" disabled>Please wait</button></section>'
            '<script src="/static/offer.js"></script>'
        )
    if not micro:
        return f'<section class="buy-box">{buy_box(view, extra, clock)}</section>'
    return (
        f'<section class="buy-box" itemprop="offers" itemscope itemtype="{schema_org.SCHEMA}Offer">'
        f"{schema_org.microdata_offer(view, extra)}{buy_box(view, extra, clock)}</section>"
    )


def _script_buy_box(view: ListingView, extra: ProductDetails, clock: MarketplaceClock) -> str:
    html = buy_box(view, extra, clock)
    return hashed_names.hashed(html.encode()).decode() if view.presentation.hashed_names else html


def _prop(name: str, micro: bool) -> str:
    return f' itemprop="{name}"' if micro else ""


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
