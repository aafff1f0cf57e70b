"""The base class of adapters that read HTML elements."""

from __future__ import annotations

from typing import ClassVar

from parsel import Selector
from scrapy.http import TextResponse

from pricewatch.adapters import page_fields as page
from pricewatch.adapters.base import Overview
from pricewatch.adapters.json_ld_check import structured_names, structured_prices
from pricewatch.adapters.site_adapter import MAX_CARDS, SiteAdapter, SiteListing, beyond_limit
from pricewatch.items import Card, ExtractFailure
from pricewatch.parsing.pages.element_tree import Element
from pricewatch.parsing.pages.gone_notices import find_departure
from pricewatch.vocabulary import FailureReason


class HtmlSiteAdapter(SiteAdapter):
    uses_selectors = True
    # Selectors of one card, of the link to the next page, and of the container of the cards, which is present
    # even if it is empty. Without `next_link`, the first page without cards is the last one.
    card_box: ClassVar[str]
    next_link: ClassVar[str | None] = None
    cards_container: ClassVar[str | None] = None
    # Selector of the elements that may say that the listing is gone.
    notices: ClassVar[str] = "h1"
    # Selector of prices of other products; if one is empty, its price may be displayed as the product's.
    prices_of_others: ClassVar[str | None] = None
    # Whether JSON-LD must agree with the displayed price; it also provides missing titles.
    reads_json_ld: ClassVar[bool] = False

    def card_in(self, box: Selector, url: str) -> Card:
        """The card in the element that `card_box` matches."""
        raise NotImplementedError

    def listing_in(self, document: Selector, url: str) -> SiteListing | None:
        """The listing of a product page; None if this is not a product page."""
        raise NotImplementedError

    def read_overview(self, response: TextResponse) -> Overview | ExtractFailure:
        found = super().read_overview(response)
        if not isinstance(found, ExtractFailure) or found.reason is not FailureReason.PAGE_STRUCTURE_CHANGED:
            return found
        if response.status >= 400 or not page.is_complete(response):
            return found
        # An empty list cannot be distinguished from a different page.
        return ExtractFailure(FailureReason.SELECTOR_NOT_FOUND, found.details)

    def cards_on(self, response: TextResponse) -> Overview | None:
        document = page.parse_complete_document(response)
        boxes = document.css(self.card_box)
        if not boxes and not (self.cards_container and document.css(self.cards_container)):
            return None
        outer = _elements_around([box.root for box in boxes])
        cards = [self._card(box, response.url, box.root in outer) for box in boxes[:MAX_CARDS]]
        names = structured_names(document, response.url) if self.reads_json_ld else {}
        for card in cards:
            card.title = card.title or names.get(card.url, "")
        next_links = document.css(self.next_link) if self.next_link else None
        has_next = bool(boxes if next_links is None else next_links)
        link = page.absolute_link(response.url, next_links.attrib.get("href", "")) if next_links else ""
        return Overview(cards, has_next, unreadable=beyond_limit(boxes), next_url=link)

    def listing_on(self, response: TextResponse) -> SiteListing | None:
        document = page.parse_complete_document(response)
        gone = next((text for text in page.visible_texts(document, self.notices) if find_departure(text)), "")
        listing = self.listing_in(document, response.url)
        if listing is None:
            return SiteListing(card=Card(url=response.url, title=""), gone=gone) if gone else None
        listing.gone = listing.gone or gone
        listing.ambiguity = listing.ambiguity or self._ambiguity(document, listing.card, response.url)
        return listing

    def _ambiguity(self, document: Selector, card: Card, url: str) -> str:
        if card.price_cents is None:
            return ""
        others = document.css(self.prices_of_others) if self.prices_of_others else []
        if not all(page.element_text(one) for one in others):
            return "the price of another product is missing"
        structured = structured_prices(document, url, self.currency) if self.reads_json_ld else None
        agrees = structured is None or card.price_cents in structured
        return "" if agrees else f"structured data says {sorted(structured or ())}"

    def _card(self, box: Selector, url: str, has_inner_cards: bool) -> Card:
        # With nested cards it is unclear which price belongs to which card.
        return Card(url="", title="") if has_inner_cards else self.card_in(box, url)


def _elements_around(elements: list[Element]) -> set[Element]:
    """Those of the elements that contain another one of them."""
    own = set(elements)
    nearest = (next((one for one in element.iterancestors() if one in own), None) for element in elements)
    return {one for one in nearest if one is not None}
