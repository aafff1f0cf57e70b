"""One item of jp.mercari.com as a card, from its data or from what a page shows in the words of that data."""

from __future__ import annotations

import re
from typing import Any

from pricewatch.adapters import site_page as page
from pricewatch.adapters.mercari_page import site_of
from pricewatch.items import Availability, Card, Seller, SellerType

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
_USERS_ITEM = re.compile(r"m[0-9]+")
_SAFE_ID = re.compile(r"[\w-]+", re.ASCII)


def card_of(item: dict[str, Any], base: str) -> Card:
    item_id, shop = page.text_at(item, "id"), page.text_at(item, "shopName")
    is_users = _USERS_ITEM.fullmatch(item_id) and page.at(item, "itemType") != "ITEM_TYPE_BEYOND"
    kind, path = (SellerType.USER, "item") if is_users else (SellerType.SHOP, "shops/product")
    price = page.machine_cents(page.at(item, "price"), "JPY")
    # What is paid in the end is not known while others bid.
    is_open = bool(page.at(item, "auction")) or page.at(item, "isNoPrice") not in (None, False, "false")
    has_price = price != _NO_PRICE and not is_open
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
