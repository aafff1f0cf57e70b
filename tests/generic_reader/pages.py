"""Small pages for tests of the generic adapter, and its result in one line."""

from __future__ import annotations

import json
from typing import Any

from scrapy.http import HtmlResponse, Request

from pricewatch.generic_reader.adapter import GenericAdapter
from pricewatch.items import Extracted, ExtractFailure, Quarantine

SHOP = "https://shop.example/p/blue-kettle-1234"


def response(html: str, url: str = SHOP, status: int = 200, requested: str = "") -> HtmlResponse:
    request = Request(url, meta={"redirect_urls": [requested]} if requested else {})
    return HtmlResponse(url, status=status, body=html.encode("utf-8"), encoding="utf-8", request=request)


def extract(html: str, url: str = SHOP, status: int = 200) -> Extracted | ExtractFailure | Quarantine:
    return GenericAdapter().extract(response(html, url, status))


def outcome(html: str, url: str = SHOP, status: int = 200) -> str:
    """`19.99 EUR IN_STOCK`, or the reason for a failure."""
    result = extract(html, url, status)
    if isinstance(result, Extracted):
        offer = result.offer
        return f"{offer.price} {offer.availability}"
    return str(result.reason)


def ld(*values: Any) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(value)}</script>' for value in values)


def product(price: Any = "19.99", currency: str = "EUR", **more: Any) -> dict[str, Any]:
    """A JSON-LD product with one offer; `offer` adds to the offer, the rest to the product."""
    offer = {
        "@type": "Offer",
        "price": price,
        "priceCurrency": currency,
        "availability": "https://schema.org/InStock",
    }
    offer |= more.pop("offer", {})
    return {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": "Blue Kettle",
        "offers": offer,
    } | more


def page(body: str, head: str = "", title: str = "Blue Kettle | Shop", lang: str = "en") -> str:
    start = f'<!doctype html><html lang="{lang}"><head><title>{title}</title>{head}</head>'
    return f"{start}<body>{body}</body></html>"


def buy(price: str, title: str = "Blue Kettle", button: str = "Add to cart") -> str:
    """The part of a page around a title: a price tag and a button."""
    return f'<main><h1>{title}</h1><div class="product-price">{price}</div><button>{button}</button></main>'
