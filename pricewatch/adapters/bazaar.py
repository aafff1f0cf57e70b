"""The sample marketplace that comes with pricewatch."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import urlencode, urljoin

from scrapy.http import TextResponse

from pricewatch.adapters.base import Adapter, MarketQuery, Overview, Presence, PresenceEvidence
from pricewatch.items import (
    Availability,
    Card,
    Extracted,
    ExtractFailure,
    FailureReason,
    Offer,
    Seller,
    SellerType,
)
from pricewatch.parsing.price import parse_price

AVAILABILITY = {
    "on_sale": Availability.IN_STOCK,
    "out_of_stock": Availability.OUT_OF_STOCK,
    "sold": Availability.SOLD,
}


class BazaarAdapter(Adapter):
    id = "bazaar"
    version = "1.0.0"
    domain = "127.0.0.1"
    max_page_size = 90
    presence_needs_page = True

    def start_pages(self, parameters: dict[str, Any]) -> list[str]:
        wanted = {"category": "category", "keyword": "q", "min_price_cents": "min", "max_price_cents": "max"}
        query = {short: parameters[name] for name, short in wanted.items() if parameters.get(name)}
        return [f"/search?{urlencode({**query, 'status': parameters.get('status', 'all')})}"] if query else []

    def overview_url(self, query: MarketQuery, page: int) -> str:
        url = urljoin(query.base_url + "/", query.start_page)
        return f"{url}{'&' if '?' in url else '?'}{urlencode({'page': page, 'rows': query.page_size})}"

    def read_overview(self, response: TextResponse) -> Overview | ExtractFailure:
        root = response.selector.root
        main = root.find(".//main[@data-total]")
        if main is None:
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, "no <main data-total>")
        cards = [_card(article, response.url) for article in main.iterfind("article")]
        return Overview(
            cards=[card for card in cards if card is not None],
            has_next=root.find(".//a[@rel='next']") is not None,
            total=int(main.get("data-total", "0")),
            unreadable={"CARD_WITHOUT_LINK": count} if (count := cards.count(None)) else {},
        )

    def extract(self, response: TextResponse) -> Extracted | ExtractFailure:
        main = response.selector.root.find(".//main[@data-id]")
        if main is None:
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, "no <main data-id>")
        availability = AVAILABILITY.get(main.get("data-status"), Availability.UNKNOWN)
        price = main.find(".//p[@class='item-price']/strong[@class='price']")
        if price is None:
            hidden = availability is Availability.OUT_OF_STOCK
            return ExtractFailure(FailureReason.OOS_NO_PRICE if hidden else FailureReason.PRICE_NOT_FOUND)
        title = main.findtext(".//h1[@class='item-title']")
        if not title:
            return ExtractFailure(FailureReason.TITLE_NOT_FOUND)
        # Its ¥ is the yen, never the yuan, and its $ the dollar of the United States.
        parsed = parse_price(price.text or "", hints=("JPY", "USD"))
        cents = parsed.cents()
        if cents is None or parsed.currency is None:
            return ExtractFailure(FailureReason.PRICE_NOT_FOUND, f"{price.text}: {parsed.refusal}")
        facts = {name.text: value.text for name, value in zip(main.iter("dt"), main.iter("dd"), strict=False)}
        sold = main.find(".//time[@class='sold-at']")
        offer = Offer(
            url=response.url,
            title=title,
            price_cents=cents,
            currency=parsed.currency,
            availability=availability,
            product_id=main.get("data-id"),
            sku=facts.pop("SKU", None),
            mpn=facts.pop("MPN", None),
            gtin=facts.pop("GTIN", None),
            brand=facts.get("Brand"),
            seller=_seller(main.find(".//a[@class='seller']")),
            location=main.findtext(".//span[@class='city']"),
            attributes=facts,
            sold_at=datetime.fromisoformat(sold.get("datetime")) if sold is not None else None,
        )
        return Extracted(offer, [f"price: p.item-price strong.price = {price.text}"])

    def presence(self, response: TextResponse) -> PresenceEvidence:
        root = response.selector.root
        if root.find(".//main[@class='item-gone']") is not None:
            return PresenceEvidence(Presence.GONE, "main.item-gone")
        sold = root.find(".//main[@data-status='sold']//time[@class='sold-at']")
        if sold is not None:
            at = datetime.fromisoformat(sold.get("datetime"))
            return PresenceEvidence(Presence.SOLD, "time.sold-at", at)
        shown = root.find(".//main[@data-id]") is not None
        return PresenceEvidence(Presence.ALIVE if shown else Presence.UNKNOWN)


def _card(article: Any, base: str) -> Card | None:
    link = article.find("a[@class='card-link']")
    if link is None or not link.get("href"):
        return None
    price = article.get("data-price")
    return Card(
        url=urljoin(base, link.get("href")),
        title=link.text or "",
        price_cents=int(price) if price else None,
        currency=article.get("data-currency") if price else None,
        availability=AVAILABILITY.get(article.get("data-status"), Availability.UNKNOWN),
        product_id=article.get("data-id"),
        seller=_seller(article.find("a[@class='card-seller']")),
        location=article.findtext("span[@class='card-city']"),
    )


def _seller(link: Any) -> Seller | None:
    if link is None:
        return None
    return Seller(link.get("data-seller-id"), link.text, SellerType(link.get("data-seller-type")))
