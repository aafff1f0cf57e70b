"""apartments.com: rents of a city, from the placards of its overview pages and from property pages."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from parsel import Selector

from pricewatch.adapters import page_fields as page
from pricewatch.adapters.html_site import HtmlSiteAdapter
from pricewatch.adapters.site_adapter import SiteListing
from pricewatch.items import Card
from pricewatch.parsing.pages.availability import text_availability
from pricewatch.parsing.prices.money_text import money_range
from pricewatch.vocabulary import Availability

# The id of this listing, not of a neighbouring one that the page advertises.
LISTING_ID = "//*[@data-listingid][not(ancestor-or-self::article)]/@data-listingid"
_RENT_LABEL = re.compile(r"\brent\b", re.IGNORECASE)
_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")


class ApartmentsAdapter(HtmlSiteAdapter):
    id = "apartments"
    version = "1.1.0"
    domain = "apartments.com"
    currency = "USD"
    max_page_size = 40
    overview_marker = "article.placard"
    product_marker = "#propertyName or h1.propertyName"
    price_shows_presence = False
    search_urls = ("/{city}-{state}/",)
    pages = "{page}/"
    card_box = "article.placard"
    cards_container = "#placardContainer"
    reads_json_ld = True
    next_link = "a.next[href], a[rel=next], link[rel=next]"

    def path_segment(self, value: str) -> str:
        return _NOT_ALPHANUMERIC.sub("-", value.lower()).strip("-")

    def card_in(self, box: Selector, url: str) -> Card:
        link = box.attrib.get("data-url") or page.first_match(box, "a.property-link::attr(href)")
        address = page.single_text(box, ".property-address") or box.attrib.get("data-streetaddress", "")
        rent = page.price_text(box, ".property-pricing")
        low, high = money_range(rent, self.currency)
        return Card(
            url=page.absolute_link(url, link),
            title=page.single_text(box, ".property-title") or address,
            price_cents=low,
            price_max_cents=high,
            # A placard with a rent, or with "call for rent", does not state availability.
            availability=Availability.OUT_OF_STOCK if _is_unavailable(rent) else None,
            product_id=box.attrib.get("data-listingid", ""),
            location=address,
            attributes={"beds": page.single_text(box, ".property-beds")},
        )

    def listing_in(self, document: Selector, url: str) -> SiteListing | None:
        title = page.single_text(document, "h1#propertyName, h1.propertyName, #propertyName")
        if not title:
            return None
        listing_id = document.xpath(LISTING_ID).get()
        details = document.css(".rentInfoDetail")[: page.MAX_MATCHES]
        boxes = [box for box in details.xpath("..") if _is_rent(box)]
        rent = page.single([text for box in boxes for text in page.visible_texts(box, ".rentInfoDetail")])
        low, high = money_range(rent, self.currency)
        units = {name: f".unitContainer::attr(data-{name})" for name in ("beds", "baths")}
        card = Card(
            url=url,
            title=title,
            price_cents=low,
            price_max_cents=high,
            availability=Availability.OUT_OF_STOCK if _is_unavailable(rent) else Availability.IN_STOCK,
            product_id=listing_id or urlsplit(url).path.rstrip("/").rpartition("/")[2],
            location=page.single_text(document, ".propertyAddress"),
            attributes={name: page.first_matches(document, css) for name, css in units.items()},
        )
        return SiteListing(card=card, price_text=rent)


def _is_unavailable(rent: str) -> bool:
    return text_availability(rent) is Availability.OUT_OF_STOCK


def _is_rent(box: Selector) -> bool:
    return bool(_RENT_LABEL.search(page.element_text(box)))
