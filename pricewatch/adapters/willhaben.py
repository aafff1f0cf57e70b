"""willhaben.at: rentals and goods, read from the JSON that its pages carry for their own scripts."""

from __future__ import annotations

import re
from typing import Any

from scrapy.http import TextResponse

from pricewatch.adapters import site_page as page
from pricewatch.adapters.base import Overview
from pricewatch.adapters.site import Listing, SiteAdapter, overview, search_path
from pricewatch.adapters.willhaben_advert import STATUS, card_of, values_of
from pricewatch.items import Availability

COUNTS = ("rowsFound", "rowsRequested", "pageRequested")
SEARCH = {"keyword": "keyword", "min_price_cents": "PRICE_FROM", "max_price_cents": "PRICE_TO"}
_ADVERT_ID = re.compile(r"(?:[-/]|adId=)([0-9]{6,})/?(?:$|[?#])")


class WillhabenAdapter(SiteAdapter):
    id = "willhaben"
    version = "1.0.0"
    domain = "willhaben.at"
    max_page_size = 90
    overview_mark = "searchResult.advertSummaryList in __NEXT_DATA__"
    product_mark = "advertDetails in __NEXT_DATA__"

    def start_pages(self, parameters: dict[str, Any]) -> list[str]:
        path = str(parameters.get("category") or "kaufen-und-verkaufen/marktplatz").strip("/")
        wanted = any(parameters.get(name) for name in ("category", *SEARCH))
        return [search_path(f"/iad/{path}", parameters, SEARCH, 100)] if wanted else []

    def page_parameters(self, page: int, page_size: int) -> dict[str, str]:
        return {"page": str(page), "rows": str(page_size)}

    def cards_on(self, response: TextResponse) -> Overview | None:
        result = page.at(_page_props(response), "searchResult")
        adverts = page.at(result, "advertSummaryList", "advertSummary")
        if not isinstance(adverts, list):
            return None
        total, rows, number = (page.count_of(page.at(result, name)) for name in COUNTS)
        # Without the numbers, the first page that shows nothing is the end.
        has_next = number * rows < total if number and rows and total is not None else bool(adverts)
        cards = [card_of(advert, response.url) for advert in page.rows_at([adverts], 0)]
        return overview(cards, has_next=has_next, total=total)

    def listing_on(self, response: TextResponse) -> Listing | None:
        advert = page.at(_page_props(response), "advertDetails")
        if not isinstance(advert, dict):
            return None
        status, asked = page.text_at(advert, "advertStatus", "id"), _ADVERT_ID.search(response.url)
        card = card_of(advert, response.url)
        card.availability = STATUS.get(status, Availability.UNKNOWN)
        return Listing(
            card=card,
            shown_price=page.only(values_of(advert).get("PRICE_FOR_DISPLAY", [])),
            gone=f"advertStatus {status}" if status and status not in STATUS else "",
            asked_id=asked[1] if asked else "",
        )


def _page_props(response: TextResponse) -> Any:
    script = page.document(response).css("script#__NEXT_DATA__::text").get()
    return page.at(page.decoded(script or ""), "props", "pageProps")
