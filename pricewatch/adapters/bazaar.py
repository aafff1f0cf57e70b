"""The sample marketplace that comes with pricewatch."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import urlencode, urljoin

from scrapy.http import TextResponse

from pricewatch.adapters.base import Adapter, MarketQuery, Overview, Presence, PresenceEvidence
from pricewatch.adapters.bazaar_page import TITLE, card_of, offer_of
from pricewatch.adapters.page_tree import page_tree
from pricewatch.items import Extracted, ExtractFailure, FailureReason
from pricewatch.parsing.price import parse_price


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
        root = page_tree(response)
        main = root.find(".//main[@data-total]") if root is not None else None
        if root is None or main is None:
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, "no <main data-total>")
        cards = [card_of(article, response.url) for article in main.iterfind("article")]
        return Overview(
            cards=[card for card in cards if card is not None],
            has_next=root.find(".//a[@rel='next']") is not None,
            total=int(main.get("data-total", "0")),
            unreadable={"CARD_WITHOUT_LINK": count} if (count := cards.count(None)) else {},
        )

    def extract(self, response: TextResponse) -> Extracted | ExtractFailure:
        root = page_tree(response)
        main = root.find(".//main[@data-id]") if root is not None else None
        if main is None:
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, "no <main data-id>")
        price = main.find(".//p[@class='item-price']/strong[@class='price']")
        if price is None:
            hidden = main.get("data-status") == "out_of_stock"
            return ExtractFailure(FailureReason.OOS_NO_PRICE if hidden else FailureReason.PRICE_NOT_FOUND)
        if not main.findtext(TITLE):
            return ExtractFailure(FailureReason.TITLE_NOT_FOUND)
        # Its ¥ is the yen, never the yuan, and its $ the dollar of the United States.
        parsed = parse_price(price.text or "", hints=("JPY", "USD"))
        cents = parsed.cents()
        if cents is None or parsed.currency is None:
            return ExtractFailure(FailureReason.PRICE_NOT_FOUND, f"{price.text}: {parsed.refusal}")
        offer = offer_of(main, response.url)
        offer.price_cents, offer.currency = cents, parsed.currency
        return Extracted(offer, [f"price: p.item-price strong.price = {price.text}"])

    def presence(self, response: TextResponse) -> PresenceEvidence:
        root = page_tree(response)
        if root is None:
            return PresenceEvidence(Presence.UNKNOWN)
        if root.find(".//main[@class='item-gone']") is not None:
            return PresenceEvidence(Presence.GONE, "main.item-gone")
        sold = root.find(".//main[@data-status='sold']//time[@class='sold-at']")
        if sold is not None:
            at = datetime.fromisoformat(sold.get("datetime"))
            return PresenceEvidence(Presence.SOLD, "time.sold-at", at)
        shown = root.find(".//main[@data-id]") is not None
        return PresenceEvidence(Presence.ALIVE if shown else Presence.UNKNOWN)
