"""jp.mercari.com: items of users and shops, from its data interface or from rendered pages."""

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

QUERY_NAMES = {
    "keyword": "keyword",
    "category": "category_id",
    "min_price_cents": "price_min",
    "max_price_cents": "price_max",
    "status": "status",
}
# During a trade nobody else can buy the item, but the trade may still fail.
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
# Users have a seller id; shops all have seller id 0 and are identified by shop id or name.
SELLER_IDS = (("sellerId",), ("seller", "id"), ("shop", "id"), ("shopName",))
SELLER_NAMES = (("shopName",), ("shop", "displayName"), ("seller", "name"))
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "category_id": ("categoryId",),
    "category": ("item_category", "name"),
    "condition_id": ("itemConditionId",),
    "condition": ("item_condition", "name"),
}
# Placeholder of the data interface for "no price".
NO_PRICE = 9_999_999
# Values of `isNoPrice` on items that have a price.
NO_PRICE_FLAGS = (None, False, "false")
SHOP_ITEM_TYPE = "ITEM_TYPE_BEYOND"
NOT_FOUND = "RecordNotFoundException"
_USER_ITEM_ID = re.compile(r"m[0-9]+")
_SAFE_ID = re.compile(r"[\w-]+", re.ASCII)


class MercariAdapter(JsonSiteAdapter):
    id = "mercari"
    version = "1.1.0"
    domain = "mercari.com"
    home = "https://jp.mercari.com/"
    currency = "JPY"
    requires_js = uses_selectors = True
    page_data = (r"/v2/entities:search\b", r"/items/get\?")
    max_page_size = 120
    # Results are sorted by newest first, and each page needs a browser.
    stop_after_familiar_pages = 2
    overview_marker = "items in the data, nor item cells on the page"
    product_marker = "item in the data, nor a title and a price on the page"
    search_urls = ("/search",)
    query_names = QUERY_NAMES
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
            # The rendered page does not contain the item id.
            listing.card.product_id = page.pattern_match(self.listing_in_url, response.url)
        return listing

    def card_from(self, row: dict[str, Any], url: str) -> Card:
        item_id, seller = page.text_at(row, "id"), page.first_text_at(row, *SELLER_IDS)
        seller_name = page.first_text_at(row, *SELLER_NAMES)
        is_user = page.value_at(row, "itemType") != SHOP_ITEM_TYPE and _USER_ITEM_ID.fullmatch(item_id)
        kind, path = (SellerType.USER, "item") if is_user else (SellerType.SHOP, "shops/product")
        price = page.machine_cents(page.value_at(row, "price"), self.currency)
        # The final price of an auction is not known.
        is_open = page.value_at(row, "auction") or page.value_at(row, "isNoPrice") not in NO_PRICE_FLAGS
        # The data interface has a separate host.
        site = self.home if (urlsplit(url).hostname or "").startswith("api.") else url
        return Card(
            url=page.absolute_link(site, f"/{path}/{item_id}") if _SAFE_ID.fullmatch(item_id) else "",
            title=page.text_at(row, "name"),
            price_cents=None if is_open or price == NO_PRICE else price,
            availability=STATUS.get(page.text_at(row, "status"), Availability.UNKNOWN),
            product_id=item_id,
            seller=SellerInfo(seller, seller_name or None, kind) if seller else None,
            image=page.text_at(row, "thumbnails", 0),
            attributes=page.texts_at(row, **ATTRIBUTES),
        )

    def listing_from(self, data: Any, url: str) -> SiteListing | None:
        result, error = page.value_at(data, "result"), page.value_at(data, "errors", 0, "code")
        item = page.value_at(data, "data") if result else None
        gone = error == NOT_FOUND and result == "error"
        if not gone and not page.text_at(item, "name"):
            return None
        return SiteListing(
            card=self.card_from(item if isinstance(item, dict) else {}, url),
            price_text=page.text_at(item, "price"),
            gone=NOT_FOUND if gone else "",
            sold_at=page.from_timestamp(page.value_at(item, "updated")),
        )
