"""One advert of willhaben.at as a card: a list of named values, any of which may be missing."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from pricewatch.adapters import site_page as page
from pricewatch.items import Availability, Card, Seller, SellerType
from pricewatch.parsing.price import to_cents

# Fields of an advert, and what they are called in ours.
PRICES = ("PRICE/AMOUNT", "PRICE", "RENT/PER_MONTH_LETTINGS")
AREAS = ("ESTATE_SIZE/LIVING_AREA", "ESTATE_SIZE", "ESTATE_SIZE/USEABLE_AREA")
NAMES = {
    "NUMBER_OF_ROOMS": "rooms",
    "FLOOR": "floor",
    "POSTCODE": "postcode",
    "DISTRICT": "district",
    "STATE": "state",
    "ADDRESS": "address",
    "PROPERTY_TYPE": "property_type",
    "COORDINATES": "coordinates",
    "RENT/PER_MONTH_LETTINGS": "rent_per_month",
}
STATUS = {
    "active": Availability.IN_STOCK,
    "reserved": Availability.OUT_OF_STOCK,
    "sold": Availability.SOLD,
}
SELLERS = {"1": SellerType.USER, "0": SellerType.SHOP}
_NUMBER = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]{2})?|[0-9]+(?:,[0-9]{2})?")
# "VB" invites to haggle: what stands before it is still what one pays.
_ONE_PRICE = re.compile(rf"€ ?(?:{_NUMBER.pattern})(?:,[-–]+)?(?: VH?B)?")


def values_of(advert: dict[str, Any]) -> dict[str, list[str]]:
    """All values of each attribute, in both shapes that lists of them have."""
    found: dict[str, list[str]] = {}
    for row in page.rows_at(advert, "attributes", "attribute") or page.rows_at(advert, "attributes"):
        values = row.get("values", row.get("value"))
        for value in values if isinstance(values, list) else [values]:
            found.setdefault(page.text_at(row, "name"), []).append(page.text_at([value], 0))
    return {name: [value for value in dict.fromkeys(values) if value] for name, values in found.items()}


def card_of(advert: dict[str, Any], base: str) -> Card:
    values = values_of(advert)
    first = {name: texts[0] for name, texts in values.items() if texts}
    advert_id = page.text_at(advert, "id") or first.get("ADID", "")
    link = first.get("SEO_URL") or (f"object?adId={advert_id}" if advert_id.isdigit() else "")
    price = _price(values)
    seller, kind = first.get("ORGID") or first.get("ORG_UUID"), SELLERS.get(first.get("ISPRIVATE", ""))
    return Card(
        url=page.link_to(base, f"/iad/{link.lstrip('/')}") if link else "",
        title=first.get("HEADING") or page.text_at(advert, "description"),
        price_cents=price,
        currency="EUR" if price else None,
        availability=STATUS.get(page.text_at(advert, "advertStatus", "id") or "active", Availability.UNKNOWN),
        product_id=advert_id or None,
        seller=Seller(seller, first.get("ORGNAME"), kind) if seller else None,
        location=" ".join(first[name] for name in ("POSTCODE", "LOCATION") if name in first) or None,
        area=next((size for name in AREAS if (size := page.number_of(first.get(name)))), None),
        image=page.text_at(advert, "advertImageList", "advertImage", 0, "mainImageUrl") or None,
        attributes={ours: first[name] for name, ours in NAMES.items() if name in first},
    )


def _price(values: dict[str, list[str]]) -> int | None:
    """What the fields for machines agree on, and the page shows; a field may be rounded to whole euros."""
    fields = {page.machine_cents(value, "EUR") for name in PRICES for value in values.get(name, [])}
    amounts = sorted(cents for cents in fields if cents)
    shown = values.get("PRICE_FOR_DISPLAY", [])
    if shown:
        seen = [_shown_cents(number) for text in shown for number in _NUMBER.findall(text)]
        one = len(shown) == 1 and _ONE_PRICE.fullmatch(shown[0])
        fitting = [cents for cents in amounts if any(abs(cents - (other or 0)) < 100 for other in seen)]
        amounts = fitting if amounts else [cents for cents in seen if cents and one]
    if not amounts or amounts[-1] - amounts[0] >= 100:
        return None
    return next((cents for cents in amounts if cents % 100), amounts[0])


def _shown_cents(number: str) -> int | None:
    return to_cents(Decimal(number.replace(".", "").replace(",", ".")), "EUR")
