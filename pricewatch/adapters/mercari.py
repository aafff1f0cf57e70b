"""jp.mercari.com: items of users and shops, from the data of its pages or from the pages as rendered."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from scrapy.http import TextResponse

from pricewatch.adapters import page_fields as page
from pricewatch.adapters.base import Overview
from pricewatch.adapters.json_site import JsonSiteAdapter
from pricewatch.adapters.mercari_page import PAGE
from pricewatch.adapters.site_adapter import SiteListing
from pricewatch.declared_shops.declaration import Declaration
from pricewatch.declared_shops.declared_adapter import DeclaredAdapter
from pricewatch.items import Card, SellerInfo
from pricewatch.vocabulary import Availability, SellerType

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
    "ITEM_STATUS_STOP": Availability.OUT_OF_STOCK,
    "on_sale": Availability.IN_STOCK,
    "trading": Availability.OUT_OF_STOCK,
    "sold_out": Availability.SOLD,
    "stop": Availability.OUT_OF_STOCK,
}
# Who sells: users by their id, shops, which all have the id 0, by their own id or name.
SELLER_IDS = (("sellerId",), ("seller", "id"), ("shop", "id"), ("shopName",))
SELLER_NAMES = (("shopName",), ("shop", "displayName"), ("seller", "name"))
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "category_id": ("categoryId",),
    "category": ("item_category", "name"),
    "condition_id": ("itemConditionId",),
    "condition": ("item_condition", "name"),
}
# What the interface gives as the price of an item that has none.
NO_PRICE = 9_999_999
NOT_FOUND = "RecordNotFoundException"
_USERS_ITEM = re.compile(r"m[0-9]+")
_SAFE_ID = re.compile(r"[\w-]+", re.ASCII)


class MercariAdapter(JsonSiteAdapter):
    id = "mercari"
    version = "1.1.0"
    domain = "mercari.com"
    home = "https://jp.mercari.com/"
    currency = "JPY"
    requires_js = True
    page_data = (r"/v2/entities:search\b", r"/items/get\?")
    max_page_size = 120
    # The newest come first, and every page costs a browser.
    stop_after_familiar_pages = 2
    overview_mark = "items in the data, nor item cells on the page"
    product_mark = "item in the data, nor a title and a price on the page"
    searches = ("/search",)
    search_parameters = SEARCH
    pages = "?page_token=v1:{index}"
    listing_in_url = re.compile(r"(?:/(?:item|shops/product)/|[?&]id=)([\w-]+)", re.ASCII)
    rows_at, total_at, next_at = ("items",), ("meta", "numFound"), ("meta", "nextPageToken")
    rendered = DeclaredAdapter("mercari", Declaration.model_validate(PAGE))

    def cards_on(self, response: TextResponse) -> Overview | None:
        return super().cards_on(response) or self.rendered.cards_on(response)

    def listing_on(self, response: TextResponse) -> SiteListing | None:
        if listing := super().listing_on(response):
            return listing
        listing = self.rendered.listing_on(response)
        if listing is not None:
            # The page itself does not say which item it shows.
            listing.card.product_id = page.part_of(self.listing_in_url, response.url)
        return listing

    def card_from(self, row: dict[str, Any], url: str) -> Card:
        item_id, seller = page.text_at(row, "id"), page.first_text_at(row, *SELLER_IDS)
        is_users = _USERS_ITEM.fullmatch(item_id) and page.at(row, "itemType") != "ITEM_TYPE_BEYOND"
        kind, path = (SellerType.USER, "item") if is_users else (SellerType.SHOP, "shops/product")
        price = page.machine_cents(page.at(row, "price"), self.currency)
        # What is paid in the end is not known while others bid.
        is_open = bool(page.at(row, "auction")) or page.at(row, "isNoPrice") not in (None, False, "false")
        # The data comes from a host of its own.
        site = self.home if (urlsplit(url).hostname or "").startswith("api.") else url
        return Card(
            url=page.link_to(site, f"/{path}/{item_id}") if _SAFE_ID.fullmatch(item_id) else "",
            title=page.text_at(row, "name"),
            price_cents=None if is_open or price == NO_PRICE else price,
            availability=STATUS.get(page.text_at(row, "status"), Availability.UNKNOWN),
            product_id=item_id,
            seller=SellerInfo(seller, page.first_text_at(row, *SELLER_NAMES) or None, kind)
            if seller
            else None,
            image=page.text_at(row, "thumbnails", 0),
            attributes=page.texts_at(row, **ATTRIBUTES),
        )

    def listing_from(self, data: Any, url: str) -> SiteListing | None:
        item = page.at(data, "data") if page.at(data, "result") else None
        gone = page.at(data, "errors", 0, "code") == NOT_FOUND and page.at(data, "result") == "error"
        if not gone and not page.text_at(item, "name"):
            return None
        return SiteListing(
            card=self.card_from(item if isinstance(item, dict) else {}, url),
            shown_price=page.text_at(item, "price"),
            gone=NOT_FOUND if gone else "",
            sold_at=page.moment(page.at(item, "updated")),
        )
