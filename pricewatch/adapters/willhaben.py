"""willhaben.at: rentals and goods, read from the JSON that its pages carry for their own scripts."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode, urljoin

from scrapy.http import TextResponse
from w3lib.url import add_or_replace_parameters

from pricewatch.adapters import site_page as page
from pricewatch.adapters.base import MarketQuery, Overview
from pricewatch.adapters.site import Listing, SiteAdapter
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
SEARCH = {"keyword": "keyword", "min_price_cents": "PRICE_FROM", "max_price_cents": "PRICE_TO"}
_NUMBER = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]{2})?|[0-9]+(?:,[0-9]{2})?")
# "VB" invites to haggle: what stands before it is still what one pays.
_ONE_PRICE = re.compile(rf"€ ?(?:{_NUMBER.pattern})(?:,[-–]+)?(?: VH?B)?")
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
        given = {field: parameters[name] for name, field in SEARCH.items() if parameters.get(name)}
        search = {field: value // 100 if isinstance(value, int) else value for field, value in given.items()}
        return [f"/iad/{path}?{urlencode(search)}".rstrip("?")] if search or "category" in parameters else []

    def overview_url(self, query: MarketQuery, page: int) -> str:
        url = urljoin(query.base_url + "/", query.start_page)
        return add_or_replace_parameters(url, {"page": str(page), "rows": str(query.page_size)})

    def cards_on(self, response: TextResponse) -> Overview | None:
        result = page.at(_page_props(response), "searchResult")
        if not isinstance(page.at(result, "advertSummaryList", "advertSummary"), list):
            return None
        adverts = page.rows_at(result, "advertSummaryList", "advertSummary")
        cards = [card for advert in adverts if (card := _card(advert, response.url)).title and card.url]
        numbers = (page.count_of(page.at(result, f"rows{what}")) for what in ("Found", "Requested"))
        (total, rows), number = numbers, page.count_of(page.at(result, "pageRequested"))
        # Without the numbers, the first page that shows nothing is the end.
        has_next = number * rows < total if number and rows and total is not None else bool(cards)
        left_out = len(adverts) - len(cards)
        return Overview(cards, has_next, total, {"CARD_WITHOUT_LINK_OR_TITLE": left_out} if left_out else {})

    def listing_on(self, response: TextResponse) -> Listing | None:
        advert = page.at(_page_props(response), "advertDetails")
        if not isinstance(advert, dict):
            return None
        status, asked = page.text_at(advert, "advertStatus", "id"), _ADVERT_ID.search(response.url)
        card = _card(advert, response.url)
        card.availability = STATUS.get(status, Availability.UNKNOWN)
        return Listing(
            card=card,
            shown_price=page.only(_values(advert).get("PRICE_FOR_DISPLAY", [])),
            gone=f"advertStatus {status}" if status and status not in STATUS else "",
            asked_id=asked[1] if asked else "",
        )


def _page_props(response: TextResponse) -> Any:
    script = page.document(response).css("script#__NEXT_DATA__::text").get()
    return page.at(page.decoded(script or ""), "props", "pageProps")


def _values(advert: dict[str, Any]) -> dict[str, list[str]]:
    """All values of each attribute, in both shapes that lists of them have."""
    found: dict[str, list[str]] = {}
    for row in page.rows_at(advert, "attributes", "attribute") or page.rows_at(advert, "attributes"):
        values = row.get("values", row.get("value"))
        for value in values if isinstance(values, list) else [values]:
            found.setdefault(page.text_at(row, "name"), []).append(page.text_at([value], 0))
    return {name: [value for value in dict.fromkeys(values) if value] for name, values in found.items()}


def _card(advert: dict[str, Any], base: str) -> Card:
    values = _values(advert)
    first = {name: texts[0] for name, texts in values.items() if texts}
    advert_id = page.text_at(advert, "id") or first.get("ADID", "")
    link = first.get("SEO_URL") or (f"object?adId={advert_id}" if advert_id.isdigit() else "")
    price = _price(values)
    area = next((size for name in AREAS if (size := page.number_of(first.get(name)))), None)
    seller = first.get("ORGID") or first.get("ORG_UUID")
    return Card(
        url=page.link_to(base, f"/iad/{link.lstrip('/')}") if link else "",
        title=first.get("HEADING") or page.text_at(advert, "description"),
        price_cents=price,
        currency="EUR" if price else None,
        availability=STATUS.get(page.text_at(advert, "advertStatus", "id") or "active", Availability.UNKNOWN),
        product_id=advert_id or None,
        seller=Seller(seller, first.get("ORGNAME"), SELLERS.get(first.get("ISPRIVATE", "")))
        if seller
        else None,
        location=" ".join(first[name] for name in ("POSTCODE", "LOCATION") if name in first) or None,
        area=area,
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
