"""jp.mercari.com: items of users and shops, from the data of its pages or from the pages as rendered."""

from __future__ import annotations

import re
from typing import Any

from scrapy.http import TextResponse

from pricewatch.adapters import site_page as page
from pricewatch.adapters.base import Overview
from pricewatch.adapters.mercari_page import item_shown, items_shown, site_of
from pricewatch.adapters.site import Listing, SiteAdapter, overview, search_path
from pricewatch.items import Availability, Card, Seller, SellerType

SEARCH = {
    "keyword": "keyword",
    "category": "category_id",
    "min_price_cents": "price_min",
    "max_price_cents": "price_max",
    "status": "status",
}
# A trade that is under way may still fall through: nobody else can buy, but it is not sold yet.
STATUS = {
    "ITEM_STATUS_ON_SALE": Availability.IN_STOCK,
    "ITEM_STATUS_TRADING": Availability.OUT_OF_STOCK,
    "ITEM_STATUS_SOLD_OUT": Availability.SOLD,
    "on_sale": Availability.IN_STOCK,
    "trading": Availability.OUT_OF_STOCK,
    "sold_out": Availability.SOLD,
}
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "category_id": ("categoryId",),
    "category": ("item_category", "name"),
    "condition_id": ("itemConditionId",),
    "condition": ("item_condition", "name"),
}
# What the interface gives as the price of an item that has none.
_NO_PRICE = 9_999_999
_ID = re.compile(r"(?:/(?:item|shops/product)/|[?&]id=)([\w-]+)", re.ASCII)
_USERS_ITEM = re.compile(r"m[0-9]+")
_SAFE_ID = re.compile(r"[\w-]+", re.ASCII)


class MercariAdapter(SiteAdapter):
    id = "mercari"
    version = "1.0.0"
    domain = "mercari.com"
    requires_js = True
    page_data = (r"/v2/entities:search\b", r"/items/get\?")
    max_page_size = 120
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
            cards = [_card(item, response.url) for item in page.rows_at(data, "items")]
            total = page.count_of(page.at(data, "meta", "numFound"))
            return overview(cards, has_next=bool(page.text_at(data, "meta", "nextPageToken")), total=total)
        items, has_next = items_shown(response)
        cards = [_card(item, response.url) for item in items]
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
            card=_card(item if isinstance(item, dict) else {}, response.url),
            shown_price=page.text_at(item, "price"),
            gone=gone,
            asked_id=asked[1] if asked else "",
            sold_at=page.moment(page.at(item, "updated")),
        )


def _card(item: dict[str, Any], base: str) -> Card:
    item_id, shop = page.text_at(item, "id"), page.text_at(item, "shopName")
    is_users = _USERS_ITEM.fullmatch(item_id) and page.at(item, "itemType") != "ITEM_TYPE_BEYOND"
    kind, path = (SellerType.USER, "item") if is_users else (SellerType.SHOP, "shops/product")
    price = page.machine_cents(page.at(item, "price"), "JPY")
    has_price = price != _NO_PRICE and page.at(item, "isNoPrice") in (None, False, "false")
    seller = page.text_at(item, "sellerId") or page.text_at(item, "seller", "id") or shop
    named = shop or page.text_at(item, "seller", "name") or None
    texts = {ours: page.text_at(item, *keys) for ours, keys in ATTRIBUTES.items()}
    return Card(
        url=page.link_to(site_of(base), f"/{path}/{item_id}") if _SAFE_ID.fullmatch(item_id) else "",
        title=page.text_at(item, "name"),
        price_cents=price if has_price else None,
        currency="JPY" if price and has_price else None,
        availability=STATUS.get(page.text_at(item, "status"), Availability.UNKNOWN),
        product_id=item_id or None,
        seller=Seller(seller, named, kind) if seller else None,
        image=page.text_at(item, "thumbnails", 0) or None,
        attributes={name: text for name, text in texts.items() if text},
    )
