"""The sample marketplace that pricewatch includes."""

from __future__ import annotations

from typing import Any

from scrapy.http import TextResponse

from pricewatch.adapters import page_fields as page
from pricewatch.adapters.base import Overview
from pricewatch.adapters.site_adapter import SiteAdapter, SiteListing
from pricewatch.items import Card, SellerInfo
from pricewatch.parsing.prices.one_price import one_price
from pricewatch.vocabulary import Availability, SellerType

QUERY_NAMES = {
    "category": "category",
    "keyword": "q",
    "min_price_cents": "min",
    "max_price_cents": "max",
    "status": "status",
}
AVAILABILITY = {
    "on_sale": Availability.IN_STOCK,
    "out_of_stock": Availability.OUT_OF_STOCK,
    "backorder": Availability.BACKORDER,
    "preorder": Availability.BACKORDER,
    "sold": Availability.SOLD,
}
# ¥ is the yen here, never the yuan, and $ the US dollar.
CURRENCIES = ("JPY", "USD")
SELLERS = {"user": SellerType.USER, "shop": SellerType.SHOP}


class BazaarAdapter(SiteAdapter):
    id = "bazaar"
    version = "1.1.0"
    domain = "127.0.0.1"
    max_page_size = 90
    overview_marker = "<main data-total>"
    product_marker = "<main data-id>"
    search_urls = ("/search?status=all",)
    query_names = QUERY_NAMES
    pages = "?page={page}&rows={rows}"

    def cards_on(self, response: TextResponse) -> Overview | None:
        root = page.parse_complete_root(response)
        main = root.find(".//main[@data-total]")
        if main is None:
            return None
        cards = [_card(article, response.url) for article in main.iterfind("*[@data-id]")]
        has_next = root.find(".//a[@rel='next']") is not None
        return Overview(cards, has_next, page.plain_integer(main.get("data-total")))

    def listing_on(self, response: TextResponse) -> SiteListing | None:
        root = page.parse_complete_root(response)
        gone = root.find(".//main[@class='item-gone']") is not None
        main = root.find(".//main[@data-id]")
        if main is None:
            return SiteListing(card=Card(url=response.url, title=""), gone="main.item-gone") if gone else None
        facts = {name.text: value.text for name, value in zip(main.iter("dt"), main.iter("dd"), strict=False)}
        price_text = " or ".join(dict.fromkeys(main.xpath(".//section[@class='buy-box']/p/strong/text()")))
        price = one_price(price_text, None, CURRENCIES)
        card = Card(
            url=response.url,
            title=main.findtext(".//h1", ""),
            price_cents=price.cents(),
            currency=price.currency,
            availability=AVAILABILITY.get(main.get("data-status"), Availability.UNKNOWN),
            product_id=main.get("data-id"),
            sku=facts.pop("SKU", None),
            seller=_seller(main.find(".//a[@class='seller']")),
            location=main.findtext(".//span[@class='city']"),
        )
        named = {"mpn": facts.pop("MPN", ""), "gtin": facts.pop("GTIN", ""), "brand": facts.get("Brand", "")}
        card.attributes, named["ambiguity"] = facts, price_text if " or " in price_text else ""
        sold_at = page.from_iso_format(main.xpath("string(.//time[@class='sold-at']/@datetime)"))
        return SiteListing(card=card, price_text=price_text, sold_at=sold_at, **named)


def _card(article: Any, base: str) -> Card:
    # Each class starts with the name of the layout: `card-link` or `tile-link`.
    parts = {part.get("class", "").partition("-")[2]: part for part in article}
    link, city, price = parts.get("link", article), parts.get("city"), parts.get("price", article)
    # If both prices are displayed, the one with tax comes first.
    gross, currency = (price.text or "").partition("excl. VAT")[0], article.get("data-currency", "")
    return Card(
        url=page.absolute_link(base, link.get("href", "")),
        title=link.text or "",
        price_cents=page.plain_integer(article.get("data-price")) or page.price_cents(gross, currency),
        currency=currency,
        # A card without a known status does not state availability.
        availability=AVAILABILITY.get(article.get("data-status")),
        product_id=article.get("data-id"),
        seller=_seller(parts.get("seller")),
        location=None if city is None else city.text,
    )


def _seller(link: Any) -> SellerInfo | None:
    seller_id = None if link is None else link.get("data-seller-id")
    return SellerInfo(seller_id, link.text, SELLERS.get(link.get("data-seller-type"))) if seller_id else None
