"""The base of adapters for sites that show everything in the elements of their pages."""

from __future__ import annotations

from typing import ClassVar

from parsel import Selector
from scrapy.http import TextResponse

from pricewatch.adapters import page_fields as page
from pricewatch.adapters.base import Overview
from pricewatch.adapters.json_ld_check import structured_names, structured_prices
from pricewatch.adapters.site_adapter import SiteAdapter, SiteListing
from pricewatch.items import Card, ExtractFailure
from pricewatch.parsing.pages.gone_notices import departure_in
from pricewatch.vocabulary import FailureReason


class HtmlSiteAdapter(SiteAdapter):
    # The box of one card; the link to the next page, which all but the last have; and a box that is there
    # even where it is empty, if there is one. Without the link, the first page without cards is the end.
    card_box: ClassVar[str]
    next_link: ClassVar[str | None] = None
    cards_box: ClassVar[str | None] = None
    # Where a page says that its listing is gone.
    notices: ClassVar[str] = "h1"
    # Where a product page shows the prices of others: an empty one may have lost its price to the product.
    prices_of_others: ClassVar[str | None] = None
    # Whether JSON-LD has to agree with the price that is shown, and may name what shows no name.
    reads_json_ld: ClassVar[bool] = False

    def card_in(self, box: Selector, url: str) -> Card:
        """The card in its box."""
        raise NotImplementedError

    def listing_in(self, document: Selector, url: str) -> SiteListing | None:
        """The listing of a product page; None where it is no such page."""
        raise NotImplementedError

    def read_overview(self, response: TextResponse) -> Overview | ExtractFailure:
        found = super().read_overview(response)
        if not isinstance(found, ExtractFailure) or found.reason is not FailureReason.PAGE_STRUCTURE_CHANGED:
            return found
        if response.status >= 400 or not page.is_whole(response):
            return found
        # An empty list or another page: the page alone does not tell.
        return ExtractFailure(FailureReason.SELECTOR_NOT_FOUND, found.details)

    def cards_on(self, response: TextResponse) -> Overview | None:
        document = page.whole_document(response)
        boxes = document.css(self.card_box)
        if not boxes and not (self.cards_box and document.css(self.cards_box)):
            return None
        cards = [self._card(box, response.url) for box in boxes]
        names = structured_names(document, response.url) if self.reads_json_ld else {}
        for card in cards:
            card.title = card.title or names.get(card.url, "")
        following = document.css(self.next_link) if self.next_link else None
        has_next = bool(boxes if following is None else following)
        link = page.link_to(response.url, following.attrib.get("href", "")) if following else ""
        return Overview(cards, has_next, next_url=link)

    def listing_on(self, response: TextResponse) -> SiteListing | None:
        document = page.whole_document(response)
        gone = next((text for text in page.shown(document, self.notices) if departure_in(text)), "")
        listing = self.listing_in(document, response.url)
        if listing is None:
            return SiteListing(card=Card(url=response.url, title=""), gone=gone) if gone else None
        listing.gone = listing.gone or gone
        listing.doubt = listing.doubt or self._doubt(document, listing.card, response.url)
        return listing

    def _doubt(self, document: Selector, card: Card, url: str) -> str:
        if card.price_cents is None:
            return ""
        others = document.css(self.prices_of_others) if self.prices_of_others else []
        if not all(page.words_of(one) for one in others):
            return "the price of another product is missing from its place"
        told = structured_prices(document, url, self.currency) if self.reads_json_ld else None
        return "" if told is None or card.price_cents in told else f"structured data says {sorted(told)}"

    def _card(self, box: Selector, url: str) -> Card:
        card = self.card_in(box, url)
        if any(one.root is not box.root for one in box.css(self.card_box)):
            # A card inside another leaves open whose price is whose.
            card.url = ""
        return card
