"""The adapter of a shop that is only declared: everything it knows stands in the shop's file."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl, quote, urljoin

from parsel import Selector
from scrapy.http import TextResponse
from w3lib.url import add_or_replace_parameters

from pricewatch.adapters import site_page as page
from pricewatch.adapters.base import MarketQuery, Overview, PresenceEvidence
from pricewatch.adapters.declaration import SEARCHED, Declaration, Fields, Place
from pricewatch.adapters.generic import GenericAdapter
from pricewatch.adapters.site import Listing, SiteAdapter, overview
from pricewatch.items import Availability, Card, Extracted, ExtractFailure, Quarantine
from pricewatch.parsing.availability import schema_availability, text_availability
from pricewatch.parsing.gone import departure_in
from pricewatch.parsing.one_price import one_price
from pricewatch.parsing.price import Refusal
from pricewatch.parsing.text import clean


class DeclaredAdapter(SiteAdapter):
    def __init__(self, name: str, declaration: Declaration):
        self.says = declaration
        # A class for one site says these in its body; here the file does.
        self.id, self.version, self.domain = name, declaration.version, declaration.domain  # type: ignore[misc]
        self.requires_js = declaration.javascript  # type: ignore[misc]
        self.overview_mark = declaration.overview.card  # type: ignore[misc]
        self.product_mark = declaration.product.title.css if declaration.product else ""  # type: ignore[misc]
        self._generic = None if declaration.product else GenericAdapter()

    def start_pages(self, parameters: dict[str, Any]) -> list[str]:
        given = {name: quote(str(parameters[name])) for name in SEARCHED if parameters.get(name)}
        try:
            return [self.says.search.format(**given)] if self.says.search else []
        except KeyError:
            return []

    def overview_url(self, query: MarketQuery, page: int) -> str:
        first = urljoin(query.base_url + "/", query.start_page)
        more = self.says.pages.format(page=page)
        if page == 1:
            return first
        if more.startswith("?"):
            return add_or_replace_parameters(first, dict(parse_qsl(more[1:])))
        return urljoin(first, more)

    def cards_on(self, response: TextResponse) -> Overview | None:
        document, part = page.whole_document(response), self.says.overview
        cards = [self._card(box, response.url) for box in document.css(part.card)]
        if not cards and not (part.container and document.css(part.container)):
            return None
        return overview(cards, has_next=bool(document.css(part.next)) if part.next else bool(cards))

    def extract(self, response: TextResponse) -> Extracted | ExtractFailure | Quarantine:
        return self._generic.extract(response) if self._generic else super().extract(response)

    def presence(self, response: TextResponse) -> PresenceEvidence:
        return self._generic.presence(response) if self._generic else super().presence(response)

    def listing_on(self, response: TextResponse) -> Listing | None:
        document, part = page.whole_document(response), self.says.product
        if part is None:
            return None
        gone = [_text(document, part.gone)] if part.gone else []
        gone += [heading for heading in page.shown(document, "h1") if departure_in(heading)]
        card, shown = self._read(document, part, response.url)
        if card.availability is Availability.UNKNOWN and part.buy and document.css(part.buy):
            card.availability = Availability.IN_STOCK
        if not card.title and not any(gone):
            return None
        return Listing(card=card, shown_price=shown, gone=next(filter(None, gone), ""))

    def _card(self, box: Selector, base: str) -> Card:
        part = self.says.overview
        card, _ = self._read(box, part, base)
        # A card inside another leaves open whose price is whose.
        nested = any(one.root is not box.root for one in box.css(part.card))
        card.url = "" if nested else page.link_to(base, _text(box, part.url))
        if card.availability is Availability.UNKNOWN and not _text(box, part.availability):
            # A card that says nothing of stock leaves it to the product's own page.
            card.availability = None
        card.price_cents = card.price_cents or None
        return card

    def _read(self, box: Selector, part: Fields, url: str) -> tuple[Card, str]:
        """What stands in a box, and the text that its price was read from."""
        shown = _text(box, part.price, is_price=True)
        cents = self._cents(shown)
        stock = _text(box, part.availability)
        state = Availability.SOLD if _is_there(box, part.sold) else self._availability(stock)
        attributes = {name: _text(box, place) for name, place in part.attributes.items()}
        card = Card(
            url=url,
            title=_text(box, part.title),
            price_cents=cents,
            currency=None if cents is None else self.says.currency,
            availability=state,
            product_id=_text(box, part.id) or None,
            attributes={name: text for name, text in attributes.items() if text},
            sku=_text(box, part.sku) or None,
            image=_text(box, part.image) or None,
            location=_text(box, part.location) or None,
        )
        return card, shown

    def _cents(self, text: str) -> int | None:
        """The price in a text, in the shop's currency; 0 is kept for whoever holds such offers."""
        parsed = one_price(text, self.says.currency)
        if parsed.refusal is Refusal.ZERO:
            return 0
        return parsed.cents() if parsed.currency == self.says.currency else None

    def _availability(self, text: str) -> Availability:
        for words, state in self.says.words.items():
            if words.lower() in text.lower():
                return Availability(state)
        said = schema_availability(text)
        return said if said is not Availability.UNKNOWN else text_availability(text)


def _text(box: Selector, place: Place | None, *, is_price: bool = False) -> str:
    """The one text at a place, or the part of it that the pattern means; of two that differ, neither."""
    if place is None:
        return ""
    if "::" in place.css:
        texts = [clean(text) for text in box.css(place.css).getall()]
        text = page.only(list(dict.fromkeys(filter(None, texts))))
    else:
        text = page.price_shown(box, place.css) if is_price else page.only(page.shown(box, place.css))
    if place.pattern is None:
        return text
    found = re.search(place.pattern, text)
    return clean(found[found.re.groups] or "") if found else ""


def _is_there(box: Selector, place: Place | None) -> bool:
    if place is None or not box.css(place.css):
        return False
    return place.pattern is None or bool(_text(box, place))
