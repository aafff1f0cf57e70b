"""apartments.com: the rents of a city, from the placards of its pages and the page of each property."""

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

_RENT_LABEL = re.compile(r"\brent\b", re.IGNORECASE)
_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")


class ApartmentsAdapter(HtmlSiteAdapter):
    id = "apartments"
    version = "1.1.0"
    domain = "apartments.com"
    currency = "USD"
    max_page_size = 40
    overview_mark = "article.placard"
    product_mark = "#propertyName or h1.propertyName"
    price_shows_presence = False
    searches = ("/{city}-{state}/",)
    pages = "{page}/"
    card_box = "article.placard"
    cards_box = "#placardContainer"
    reads_json_ld = True
    next_link = "a.next[href], a[rel=next], link[rel=next]"

    def search_word(self, word: str) -> str:
        return _NOT_IN_A_NAME.sub("-", word.lower()).strip("-")

    def card_in(self, box: Selector, url: str) -> Card:
        link = box.attrib.get("data-url") or page.first_of(box, "a.property-link::attr(href)")
        address = page.only(page.shown(box, ".property-address")) or box.attrib.get("data-streetaddress", "")
        rent = page.price_shown(box, ".property-pricing")
        low, high = money_range(rent, self.currency)
        return Card(
            url=page.link_to(url, link),
            title=page.only(page.shown(box, ".property-title")) or address,
            price_cents=low,
            price_max_cents=high,
            # A placard with a rent, or that asks to call, says nothing of stock.
            availability=Availability.OUT_OF_STOCK if _is_let(rent) else None,
            product_id=box.attrib.get("data-listingid", ""),
            location=address,
            attributes={"beds": page.only(page.shown(box, ".property-beds"))},
        )

    def listing_in(self, document: Selector, url: str) -> SiteListing | None:
        title = page.only(page.shown(document, "h1#propertyName, h1.propertyName, #propertyName"))
        if not title:
            return None
        # The listing's own id, not that of a neighbour which the page advertises.
        own = document.xpath("//*[@data-listingid][not(ancestor-or-self::article)]/@data-listingid").get()
        boxes = [box for box in document.css(".rentInfoDetail").xpath("..") if _is_rent(box)]
        rent = page.only([text for box in boxes for text in page.shown(box, ".rentInfoDetail")])
        low, high = money_range(rent, self.currency)
        units = {name: f".unitContainer::attr(data-{name})" for name in ("beds", "baths")}
        card = Card(
            url=url,
            title=title,
            price_cents=low,
            price_max_cents=high,
            availability=Availability.OUT_OF_STOCK if _is_let(rent) else Availability.IN_STOCK,
            product_id=own or urlsplit(url).path.rstrip("/").rpartition("/")[2],
            location=page.only(page.shown(document, ".propertyAddress")),
            attributes={name: sorted(set(document.css(css).getall())) for name, css in units.items()},
        )
        return SiteListing(card=card, shown_price=rent)


def _is_let(rent: str) -> bool:
    return text_availability(rent) is Availability.OUT_OF_STOCK


def _is_rent(box: Selector) -> bool:
    return bool(_RENT_LABEL.search(page.words_of(box)))
