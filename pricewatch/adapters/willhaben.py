"""willhaben.at: rentals and goods, from the JSON that is embedded in its pages."""

from __future__ import annotations

import re
from typing import Any

from pricewatch.adapters import page_fields as page
from pricewatch.adapters.json_site import JsonSiteAdapter
from pricewatch.adapters.site_adapter import SiteListing
from pricewatch.items import Card, SellerInfo
from pricewatch.parsing.prices.price_agreement import agreed_price
from pricewatch.vocabulary import Availability, SellerType

PROPS = ("props", "pageProps")
RESULT = (*PROPS, "searchResult")
QUERY_NAMES = {"keyword": "keyword", "min_price_cents": "PRICE_FROM", "max_price_cents": "PRICE_TO"}
# Names of advert fields, in order of preference, and by attribute name.
PRICES = ("PRICE/AMOUNT", "PRICE", "RENT/PER_MONTH_LETTINGS")
AREAS = ("ESTATE_SIZE/LIVING_AREA", "ESTATE_SIZE", "ESTATE_SIZE/USEABLE_AREA")
ATTRIBUTES = {
    "rooms": "NUMBER_OF_ROOMS",
    "floor": "FLOOR",
    "postcode": "POSTCODE",
    "district": "DISTRICT",
    "state": "STATE",
    "address": "ADDRESS",
    "property_type": "PROPERTY_TYPE",
    "coordinates": "COORDINATES",
    "rent_per_month": "RENT/PER_MONTH_LETTINGS",
}
STATUS = {
    "active": Availability.IN_STOCK,
    "reserved": Availability.OUT_OF_STOCK,
    "sold": Availability.SOLD,
}
SELLERS = {"1": SellerType.USER, "0": SellerType.SHOP}


class WillhabenAdapter(JsonSiteAdapter):
    id = "willhaben"
    version = "1.1.0"
    domain = "willhaben.at"
    currency = "EUR"
    max_page_size = 90
    overview_marker = "searchResult.advertSummaryList in __NEXT_DATA__"
    product_marker = "advertDetails in __NEXT_DATA__"
    search_urls = ("/iad/{category}", "/iad/kaufen-und-verkaufen/marktplatz")
    query_names = QUERY_NAMES
    pages = "?page={page}&rows={rows}"
    listing_in_url = re.compile(r"(?:[-/]|adId=)([0-9]{6,})/?(?:$|[?#])")
    data_scripts = "script#__NEXT_DATA__"
    rows_at = (*RESULT, "advertSummaryList", "advertSummary")
    total_at = (*RESULT, "rowsFound")
    number_at, size_at = (*RESULT, "pageRequested"), (*RESULT, "rowsRequested")

    def card_from(self, row: dict[str, Any], url: str) -> Card:
        values = _values(row)
        first = {name: texts[0] for name, texts in values.items() if texts}
        advert_id = page.text_at(row, "id") or first.get("ADID", "")
        status = page.text_at(row, "advertStatus", "id")
        link = first.get("SEO_URL") or (f"object?adId={advert_id}" if advert_id.isdigit() else "")
        seller, kind = first.get("ORGID") or first.get("ORG_UUID"), SELLERS.get(first.get("ISPRIVATE", ""))
        fields = [value for name in PRICES for value in values.get(name, [])]
        prices = [page.machine_cents(value, self.currency) for value in fields]
        return Card(
            url=page.absolute_link(url, f"/iad/{link.lstrip('/')}") if link else "",
            title=first.get("HEADING") or page.text_at(row, "description"),
            price_cents=agreed_price(prices, values.get("PRICE_FOR_DISPLAY", []), self.currency),
            availability=STATUS.get(status or "active", Availability.UNKNOWN),
            product_id=advert_id,
            seller=SellerInfo(seller, first.get("ORGNAME"), kind) if seller else None,
            location=" ".join(first[name] for name in ("POSTCODE", "LOCATION") if name in first),
            area=next((size for name in AREAS if (size := page.plain_number(first.get(name)))), None),
            image=page.text_at(row, "advertImageList", "advertImage", 0, "mainImageUrl"),
            attributes={attribute: first.get(name, "") for attribute, name in ATTRIBUTES.items()},
        )

    def listing_from(self, data: Any, url: str) -> SiteListing | None:
        advert = page.value_at(data, *PROPS, "advertDetails")
        if not isinstance(advert, dict):
            return None
        status, card = page.text_at(advert, "advertStatus", "id"), self.card_from(advert, url)
        card.availability = STATUS.get(status, Availability.UNKNOWN)
        gone = f"advertStatus {status}" if status and status not in STATUS else ""
        return SiteListing(
            card=card, gone=gone, price_text=page.single(_values(advert).get("PRICE_FOR_DISPLAY", []))
        )


def _values(advert: dict[str, Any]) -> dict[str, list[str]]:
    listed = page.objects_at(advert, "attributes", "attribute") or page.objects_at(advert, "attributes")
    return page.values_by_name(listed)
