"""apartments.com: the rents of a city, from the placards of its pages and the page of each property."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin, urlsplit

from parsel import Selector
from scrapy.http import TextResponse

from pricewatch.adapters import site_page as page
from pricewatch.adapters.base import MarketQuery, Overview
from pricewatch.adapters.site import Listing, SiteAdapter, overview
from pricewatch.items import Card
from pricewatch.parsing.gone import departure_in

_OPEN_OR_MONTHLY = re.compile(r"\s*\+?(?:\s*/\s*mo(?:nth)?\.?)?$", re.IGNORECASE)
# "$1,850 - 2,400" names its currency once.
_BARE_END = re.compile(r"([-–—]\s*)(?=[0-9])")
_RENT_LABEL = re.compile(r"\brent\b", re.IGNORECASE)
_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")


class ApartmentsAdapter(SiteAdapter):
    id = "apartments"
    version = "1.0.0"
    domain = "apartments.com"
    max_page_size = 40
    overview_mark = "article.placard"
    product_mark = "#propertyName or h1.propertyName"

    def start_pages(self, parameters: dict[str, Any]) -> list[str]:
        named = (str(parameters.get(name) or "").lower() for name in ("city", "state"))
        slugs = [_NOT_IN_A_NAME.sub("-", name).strip("-") for name in named]
        return [f"/{'-'.join(slugs)}/"] if all(slugs) else []

    def overview_url(self, query: MarketQuery, page: int) -> str:
        first = urljoin(query.base_url + "/", query.start_page).rstrip("/")
        return f"{first}/{page}/" if page > 1 else f"{first}/"

    def cards_on(self, response: TextResponse) -> Overview | None:
        document = page.whole_document(response)
        cards = [_card(placard, response.url) for placard in document.css("article.placard")]
        has_next = bool(document.css("a.next[href], a[rel=next], link[rel=next]"))
        return overview(cards, has_next=has_next) if cards or document.css("#placardContainer") else None

    def listing_on(self, response: TextResponse) -> Listing | None:
        document = page.whole_document(response)
        gone = next((heading for heading in page.shown(document, "h1") if departure_in(heading)), "")
        title = page.only(page.shown(document, "h1#propertyName, h1.propertyName, #propertyName"))
        if not title and not gone:
            return None
        # The listing's own id, not that of a neighbour which the page advertises.
        own = document.xpath("//*[@data-listingid][not(ancestor-or-self::article)]/@data-listingid").get()
        boxes = document.css(".rentInfoDetail").xpath("..")
        labelled = [box for box in boxes if _RENT_LABEL.search(page.words_of(box))]
        rent = page.only([text for box in labelled for text in page.shown(box, ".rentInfoDetail")])
        card = Card(
            url=response.url,
            title=title,
            product_id=own or urlsplit(response.url).path.rstrip("/").rpartition("/")[2] or None,
            location=page.only(page.shown(document, ".propertyAddress")) or None,
            attributes=_units(document),
            **_rent(rent),
        )
        return Listing(card=card, shown_price=rent, gone=gone)


def _card(placard: Selector, base: str) -> Card:
    link = placard.attrib.get("data-url") or placard.css("a.property-link::attr(href)").get() or ""
    address = page.only(page.shown(placard, ".property-address")) or placard.attrib.get("data-streetaddress")
    beds = page.only(page.shown(placard, ".property-beds"))
    return Card(
        # A placard inside another leaves open whose rent is whose.
        url="" if placard.xpath(".//article") else page.link_to(base, link),
        title=page.only(page.shown(placard, ".property-title")) or address or "",
        product_id=placard.attrib.get("data-listingid") or None,
        location=address or None,
        attributes={"beds": beds} if beds else {},
        **_rent(page.price_shown(placard, ".property-pricing")),
    )


def _rent(text: str) -> dict[str, Any]:
    """The low end of a range is the price, and "+" says that there is one; other words name no rent."""
    ends = page.money_ends(_BARE_END.sub(r"\1$", _OPEN_OR_MONTHLY.sub("", text)), "USD")
    return dict(zip(("price_cents", "price_max_cents"), ends, strict=False), currency="USD") if ends else {}


def _units(document: Selector) -> dict[str, Any]:
    found = {name: document.css(f".unitContainer::attr(data-{name})").getall() for name in ("beds", "baths")}
    return {name: sorted(set(values)) for name, values in found.items() if values}
