"""The sample marketplace that comes with pricewatch."""

from __future__ import annotations

from typing import Any

from scrapy.http import TextResponse

from pricewatch.adapters import site_page as page
from pricewatch.adapters.base import Overview
from pricewatch.adapters.site import Listing, SiteAdapter
from pricewatch.items import Availability, Card, Seller, SellerType
from pricewatch.parsing.one_price import one_price

SEARCH = {
    "category": "category",
    "keyword": "q",
    "min_price_cents": "min",
    "max_price_cents": "max",
    "status": "status",
}
AVAILABILITY = {
    "on_sale": Availability.IN_STOCK,
    "out_of_stock": Availability.OUT_OF_STOCK,
    "sold": Availability.SOLD,
}
SELLERS = {"user": SellerType.USER, "shop": SellerType.SHOP}


class BazaarAdapter(SiteAdapter):
    id = "bazaar"
    version = "1.0.0"
    domain = "127.0.0.1"
    max_page_size = 90
    overview_mark = "<main data-total>"
    product_mark = "<main data-id>"
    searches = ("/search?status=all",)
    search_parameters = SEARCH
    pages = "?page={page}&rows={rows}"

    def cards_on(self, response: TextResponse) -> Overview | None:
        root = page.root_of(response)
        main = root.find(".//main[@data-total]")
        if main is None:
            return None
        cards = [_card(article, response.url) for article in main.iterfind("article")]
        has_next = root.find(".//a[@rel='next']") is not None
        return Overview(cards, has_next, page.count_of(main.get("data-total")))

    def listing_on(self, response: TextResponse) -> Listing | None:
        root = page.root_of(response)
        gone = root.find(".//main[@class='item-gone']") is not None
        main = root.find(".//main[@data-id]")
        if main is None:
            return Listing(card=Card(url=response.url, title=""), gone="main.item-gone") if gone else None
        facts = {name.text: value.text for name, value in zip(main.iter("dt"), main.iter("dd"), strict=False)}
        shown = main.findtext(".//p[@class='item-price']/strong[@class='price']", "")
        # Its ¥ is the yen, never the yuan, and its $ the dollar of the United States.
        price, sold = one_price(shown, None, hints=("JPY", "USD")), main.find(".//time[@class='sold-at']")
        card = Card(
            url=response.url,
            title=main.findtext(".//h1[@class='item-title']", ""),
            price_cents=price.cents(),
            currency=price.currency,
            availability=AVAILABILITY.get(main.get("data-status"), Availability.UNKNOWN),
            product_id=main.get("data-id"),
            sku=facts.pop("SKU", None),
            seller=_seller(main.find(".//a[@class='seller']")),
            location=main.findtext(".//span[@class='city']"),
        )
        named = {"mpn": facts.pop("MPN", ""), "gtin": facts.pop("GTIN", ""), "brand": facts.get("Brand", "")}
        card.attributes = facts
        sold_at = page.iso_moment("" if sold is None else sold.get("datetime"))
        return Listing(card=card, shown_price=shown, sold_at=sold_at, **named)


def _card(article: Any, base: str) -> Card:
    parts = {part.get("class"): part for part in article}
    link, city = parts.get("card-link", article), parts.get("card-city")
    return Card(
        url=page.link_to(base, link.get("href", "")),
        title=link.text or "",
        price_cents=page.count_of(article.get("data-price")),
        currency=article.get("data-currency"),
        availability=AVAILABILITY.get(article.get("data-status"), Availability.UNKNOWN),
        product_id=article.get("data-id"),
        seller=_seller(parts.get("card-seller")),
        location=None if city is None else city.text,
    )


def _seller(link: Any) -> Seller | None:
    if link is None or not link.get("data-seller-id"):
        return None
    return Seller(link.get("data-seller-id"), link.text, SELLERS.get(link.get("data-seller-type")))
