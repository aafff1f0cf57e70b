"""Structured data of one listing: schema.org Product and Offer."""

import json
from html import escape
from typing import Any

from pricewatch.bazaar import amounts, presentation
from pricewatch.bazaar.product_details import ProductDetails, crossed_out_price
from pricewatch.bazaar.sample_listing import ON_SALE, SOLD, ListingView

SCHEMA = "https://schema.org/"


def availability(view: ListingView) -> str:
    """Return the schema.org term for the state of a listing."""
    terms = {
        ON_SALE: "InStock",
        SOLD: "SoldOut",
        presentation.BACKORDER: "BackOrder",
        presentation.PREORDER: "PreOrder",
    }
    return SCHEMA + terms.get(view.stock, "OutOfStock")


def condition(view: ListingView) -> str:
    """Return the schema.org term for its condition."""
    terms = {"new": "NewCondition", "for parts": "DamagedCondition"}
    return SCHEMA + terms.get(view.listing.condition, "UsedCondition")


def product(view: ListingView, extra: ProductDetails) -> dict[str, Any]:
    """Return the listing as a schema.org Product with one Offer; without it where a script adds the price."""
    listing = view.listing
    offer: dict[str, Any] = {"@type": "Offer", "url": view.path}
    if (price := _price(view, extra)) is not None:
        offer |= {"price": price, "priceCurrency": view.currency}
    if view.stock != presentation.UNKNOWN_STOCK:
        offer["availability"] = availability(view)
    offer |= {
        "itemCondition": condition(view),
        "seller": {
            "@type": "Organization" if listing.seller.type == "shop" else "Person",
            "identifier": listing.seller.id,
            "name": listing.seller.name,
        },
    }
    numbers = {"productID": view.id, "sku": extra.sku, "mpn": extra.mpn, "gtin13": extra.gtin}
    offers = {} if view.has_price_by_script else {"offers": offer}
    return {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": view.title,
        **{name: value for name, value in numbers.items() if value is not None},
        "brand": {"@type": "Brand", "name": listing.brand},
        "image": [f"/static/img/{view.id}.png"],
        "description": extra.paragraphs[0],
        "additionalProperty": [
            {"@type": "PropertyValue", "name": name, "value": value} for name, value in extra.attributes
        ],
        **offers,
    }


def jsonld(view: ListingView, extra: ProductDetails) -> str:
    """Return the JSON-LD script; about every fifth one is a graph with breadcrumbs, as in many shops."""
    data = product(view, extra)
    if int(view.listing.key, 36) % 5 == 0:
        del data["@context"]
        crumb = {
            "@type": "BreadcrumbList",
            "itemListElement": [
                {"@type": "ListItem", "position": 1, "name": "Bazaar", "item": "/"},
                {"@type": "ListItem", "position": 2, "name": view.listing.category.label},
            ],
        }
        data = {"@context": "https://schema.org", "@graph": [crumb, data]}
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/ld+json">{text}</script>'


def microdata_product(view: ListingView, extra: ProductDetails) -> str:
    """Return the properties of the product that are not visible on the page."""
    numbers = (("productID", view.id), ("sku", extra.sku), ("mpn", extra.mpn), ("gtin13", extra.gtin))
    rows = [f'<meta itemprop="{name}" content="{value}">' for name, value in numbers if value is not None]
    return "".join(rows) + (
        f'<div itemprop="brand" itemscope itemtype="{SCHEMA}Brand">'
        f'<meta itemprop="name" content="{escape(view.listing.brand)}"></div>'
    )


def microdata_offer(view: ListingView, extra: ProductDetails) -> str:
    """Return the properties of the offer."""
    rows = [
        f'<link itemprop="itemCondition" href="{condition(view)}">',
        f'<link itemprop="url" href="{view.path}">',
    ]
    if view.stock != presentation.UNKNOWN_STOCK:
        rows.insert(0, f'<link itemprop="availability" href="{availability(view)}">')
    if (price := _price(view, extra)) is not None:
        rows.append(f'<meta itemprop="price" content="{price}">')
        rows.append(f'<meta itemprop="priceCurrency" content="{view.currency}">')
    return "".join(rows)


def _price(view: ListingView, extra: ProductDetails) -> str | None:
    """Return the price in structured data: on an ambiguous page the conflicting one, if stale the old one."""
    if view.price_hidden or view.presentation.page_price == presentation.LOGIN:
        return None
    price = view.price
    if view.presentation.page_price == presentation.AMBIGUOUS:
        price = presentation.conflicting_price(price)
    elif view.presentation.structured_data == presentation.STALE:
        price = crossed_out_price(view, extra) or price
    return amounts.decimal(price, view.currency)
