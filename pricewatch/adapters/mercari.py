"""jp.mercari.com: items of users and shops, from the data of its pages or from the pages as rendered."""

from __future__ import annotations

import re
from typing import Any

from scrapy.http import TextResponse

from pricewatch.adapters import site_page as page
from pricewatch.adapters.base import Overview
from pricewatch.adapters.mercari_item import card_of
from pricewatch.adapters.mercari_page import item_shown, items_shown
from pricewatch.adapters.site import Listing, SiteAdapter, overview, search_path

SEARCH = {
    "keyword": "keyword",
    "category": "category_id",
    "min_price_cents": "price_min",
    "max_price_cents": "price_max",
    "status": "status",
}
_ID = re.compile(r"(?:/(?:item|shops/product)/|[?&]id=)([\w-]+)", re.ASCII)


class MercariAdapter(SiteAdapter):
    id = "mercari"
    version = "1.0.0"
    domain = "mercari.com"
    requires_js = True
    page_data = (r"/v2/entities:search\b", r"/items/get\?")
    max_page_size = 120
    # The newest come first, and every page costs a browser.
    stop_after_familiar_pages = 2
    overview_mark = "items in the data, nor item cells on the page"
    product_mark = "item in the data, nor a title and a price on the page"

    def start_pages(self, parameters: dict[str, Any]) -> list[str]:
        wanted = any(parameters.get(name) for name in SEARCH if name != "status")
        return [search_path("/search", parameters, SEARCH)] if wanted else []

    def page_parameters(self, page: int, page_size: int) -> dict[str, str]:
        return {"page_token": f"v1:{page - 1}"} if page > 1 else {}

    def cards_on(self, response: TextResponse) -> Overview | None:
        for data in page.data_of(response):
            if not isinstance(page.at(data, "items"), list):
                continue
            cards = [card_of(item, response.url) for item in page.rows_at(data, "items")]
            total = page.count_of(page.at(data, "meta", "numFound"))
            return overview(cards, has_next=bool(page.text_at(data, "meta", "nextPageToken")), total=total)
        items, has_next = items_shown(response)
        cards = [card_of(item, response.url) for item in items]
        return overview(cards, has_next=has_next) if items else None

    def listing_on(self, response: TextResponse) -> Listing | None:
        answers = [data for data in page.data_of(response) if page.at(data, "result")]
        data = answers[0] if answers else None
        item = page.at(data, "data") if isinstance(data, dict) else item_shown(response)
        gone = page.text_at(data, "errors", 0, "code") if page.at(data, "result") == "error" else ""
        gone = gone if gone == "RecordNotFoundException" else page.text_at(item, "gone")
        if not gone and not page.text_at(item, "name"):
            return None
        asked = _ID.search(response.url)
        return Listing(
            card=card_of(item if isinstance(item, dict) else {}, response.url),
            shown_price=page.text_at(item, "price"),
            gone=gone,
            asked_id=asked[1] if asked else "",
            sold_at=page.moment(page.at(item, "updated")),
        )
