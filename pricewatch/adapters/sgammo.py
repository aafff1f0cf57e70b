"""sgammo.com: ammunition from a WooCommerce shop, at the price of one unit."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urljoin

from parsel import Selector
from scrapy.http import TextResponse

from pricewatch.adapters import site_page as page
from pricewatch.adapters.ammunition import ammunition
from pricewatch.adapters.base import MarketQuery, Overview
from pricewatch.adapters.site import Listing, SiteAdapter, overview
from pricewatch.adapters.woocommerce import availability, post_id, shown_price, unit_price
from pricewatch.items import Availability, Card
from pricewatch.parsing.gone import departure_in

_DESCRIPTION = ".woocommerce-product-details__short-description, .woocommerce-Tabs-panel--description"


class SgammoAdapter(SiteAdapter):
    id = "sgammo"
    version = "1.0.0"
    domain = "sgammo.com"
    overview_mark = "ul.products"
    product_mark = "div.summary"

    def start_pages(self, parameters: dict[str, Any]) -> list[str]:
        if parameters.get("category"):
            return [f"/product-category/{quote(str(parameters['category']).strip('/'))}/"]
        keyword = parameters.get("keyword")
        return [f"/?s={quote(str(keyword))}&post_type=product"] if keyword else []

    def overview_url(self, query: MarketQuery, page: int) -> str:
        path, mark, search = urljoin(query.base_url + "/", query.start_page).partition("?")
        number = f"page/{page}/" if page > 1 else ""
        return f"{path.rstrip('/')}/{number}{mark}{search}"

    def cards_on(self, response: TextResponse) -> Overview | None:
        document = page.whole_document(response)
        cards = [_card(one, response.url) for one in document.css("ul.products li.product")]
        has_next = bool(document.css("a.next.page-numbers[href]"))
        return overview(cards, has_next=has_next) if cards or document.css("ul.products") else None

    def listing_on(self, response: TextResponse) -> Listing | None:
        document = page.whole_document(response)
        notices = page.shown(document, "h1, .woocommerce-info")
        gone = next((text for text in notices if departure_in(text)), "")
        box = document.css("div.summary")
        if len(box) != 1 and not gone:
            return None
        title = page.only(page.shown(box, "h1.product_title"))
        price, doubt = unit_price(box, "USD")
        card = Card(
            url=response.url,
            title=title,
            price_cents=price,
            currency="USD" if price else None,
            availability=availability(box),
            product_id=post_id(document.css("div.product")),
            sku=page.only(page.shown(box, ".sku")) or None,
            attributes=ammunition(title, " ".join(page.shown(document, _DESCRIPTION))),
        )
        return Listing(card=card, gone=gone, doubt=doubt, shown_price=shown_price(box, "p.price"))


def _card(product: Selector, base: str) -> Card:
    title = page.only(page.shown(product, "h2, h3"))
    price = page.money_cents(shown_price(product, ".price"), "USD")
    sold_out = "outofstock" in product.attrib.get("class", "")
    # A product inside another leaves open whose price is whose.
    link = "" if product.xpath(".//li") else product.css("a::attr(href)").get() or ""
    return Card(
        url=page.link_to(base, link),
        title=title,
        price_cents=price,
        currency="USD" if price else None,
        availability=Availability.OUT_OF_STOCK if sold_out else Availability.IN_STOCK,
        product_id=post_id(product),
        attributes=ammunition(title, ""),
    )
