"""What the pages of the sample marketplace say of one listing."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pricewatch.items import Availability, Card, Offer, Seller, SellerType
from pricewatch.parsing.url import absolute_url

TITLE = ".//h1[@class='item-title']"
AVAILABILITY = {
    "on_sale": Availability.IN_STOCK,
    "out_of_stock": Availability.OUT_OF_STOCK,
    "sold": Availability.SOLD,
}


def offer_of(main: Any, url: str) -> Offer:
    """All that a page says of its listing but for the price, which is read with care."""
    facts = {name.text: value.text for name, value in zip(main.iter("dt"), main.iter("dd"), strict=False)}
    sold = main.find(".//time[@class='sold-at']")
    return Offer(
        url=url,
        title=main.findtext(TITLE),
        price_cents=0,
        currency="",
        availability=AVAILABILITY.get(main.get("data-status"), Availability.UNKNOWN),
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


def card_of(article: Any, base: str) -> Card | None:
    parts = {part.get("class"): part for part in article}
    link = parts.get("card-link")
    if link is None or not link.get("href"):
        return None
    price = article.get("data-price")
    return Card(
        url=absolute_url(base, link.get("href")),
        title=link.text or "",
        price_cents=int(price) if price else None,
        currency=article.get("data-currency") if price else None,
        availability=AVAILABILITY.get(article.get("data-status"), Availability.UNKNOWN),
        product_id=article.get("data-id"),
        seller=_seller(parts.get("card-seller")),
        location=parts["card-city"].text if "card-city" in parts else None,
    )


def _seller(link: Any) -> Seller | None:
    if link is None:
        return None
    return Seller(link.get("data-seller-id"), link.text, SellerType(link.get("data-seller-type")))
