"""The sample marketplace that comes with pricewatch."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import urljoin

from scrapy.http import TextResponse

from pricewatch.adapters.base import Overview
from pricewatch.adapters.site import Listing, SiteAdapter
from pricewatch.items import Availability, Card, Seller, SellerType
from pricewatch.parsing.price import parse_price

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
        root = response.selector.root
        main = root.find(".//main[@data-total]")
        if main is None:
            return None
        cards = [_card(article, response.url) for article in main.iterfind("article")]
        return Overview(cards, root.find(".//a[@rel='next']") is not None, int(main.get("data-total")))

    def listing_on(self, response: TextResponse) -> Listing | None:
        root = response.selector.root
        if root.find(".//main[@class='item-gone']") is not None:
            return Listing(card=Card(url=response.url, title=""), gone="main.item-gone")
        main = root.find(".//main[@data-id]")
        if main is None:
            return None
        facts = {name.text: value.text for name, value in zip(main.iter("dt"), main.iter("dd"), strict=False)}
        shown = main.findtext(".//p[@class='item-price']/strong[@class='price']") or ""
        # Its ¥ is the yen, never the yuan, and its $ the dollar of the United States.
        price, sold = parse_price(shown, hints=("JPY", "USD")), main.find(".//time[@class='sold-at']")
        card = Card(
            url=response.url,
            title=main.findtext(".//h1[@class='item-title']") or "",
            price_cents=price.cents(),
            currency=price.currency,
            availability=AVAILABILITY.get(main.get("data-status"), Availability.UNKNOWN),
            product_id=main.get("data-id"),
            sku=facts.pop("SKU", None),
            seller=_seller(main.find(".//a[@class='seller']")),
            location=main.findtext(".//span[@class='city']"),
        )
        listing = Listing(card=card, shown_price=shown, brand=facts.get("Brand", ""))
        listing.mpn, listing.gtin, card.attributes = facts.pop("MPN", ""), facts.pop("GTIN", ""), facts
        listing.sold_at = datetime.fromisoformat(sold.get("datetime")) if sold is not None else None
        return listing


def _card(article: Any, base: str) -> Card:
    link, price = article.find("a[@class='card-link']"), article.get("data-price")
    has_link = link is not None and link.get("href")
    return Card(
        url=urljoin(base, link.get("href")) if has_link else "",
        title=link.text or "" if has_link else "",
        price_cents=int(price) if price else None,
        currency=article.get("data-currency"),
        availability=AVAILABILITY.get(article.get("data-status"), Availability.UNKNOWN),
        product_id=article.get("data-id"),
        seller=_seller(article.find("a[@class='card-seller']")),
        location=article.findtext("span[@class='card-city']"),
    )


def _seller(link: Any) -> Seller | None:
    if link is None:
        return None
    return Seller(link.get("data-seller-id"), link.text, SellerType(link.get("data-seller-type")))
