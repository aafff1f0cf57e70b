"""The adapter of a declared shop; the shop's file configures it."""

from __future__ import annotations

import re

from parsel import Selector
from scrapy.http import TextResponse

from pricewatch.adapters import page_fields as page
from pricewatch.adapters.base import PresenceEvidence
from pricewatch.adapters.html_site import HtmlSiteAdapter
from pricewatch.adapters.site_adapter import SiteListing
from pricewatch.declared_shops.declaration import Declaration, DeclaredFields, FieldPlace, ProductPart
from pricewatch.generic_reader.adapter import GenericAdapter
from pricewatch.items import Card, Extracted, ExtractFailure, Quarantine
from pricewatch.parsing.pages.availability import schema_availability, text_availability
from pricewatch.parsing.prices.price_agreement import agreed_price
from pricewatch.parsing.prices.quantity_tiers import tiers_in, unit_price
from pricewatch.vocabulary import Availability


class DeclaredAdapter(HtmlSiteAdapter):
    def __init__(self, adapter_id: str, declaration: Declaration):
        self.declaration = declaration
        # Adapters written in Python have these as class attributes.
        attributes = {
            "id": adapter_id,
            "version": declaration.version,
            "domain": declaration.domain,
            "currency": declaration.currency,
            "requires_js": declaration.javascript,
            "max_page_size": declaration.rows,
            "pages": declaration.pages,
            "search_urls": (declaration.search,) if declaration.search else (),
            "card_box": declaration.overview.card,
            "next_link": declaration.overview.next,
            "cards_container": declaration.overview.container,
            "overview_marker": declaration.overview.card,
            "product_marker": declaration.product.title[0].css if declaration.product else "",
        }
        for name, value in attributes.items():
            setattr(self, name, value)
        self._generic = None if declaration.product else GenericAdapter(declaration.currency)

    def extract(self, response: TextResponse) -> Extracted | ExtractFailure | Quarantine:
        return self._generic.extract(response) if self._generic else super().extract(response)

    def presence(self, response: TextResponse) -> PresenceEvidence:
        return self._generic.presence(response) if self._generic else super().presence(response)

    def card_in(self, box: Selector, url: str) -> Card:
        part = self.declaration.overview
        card, _ = self._read(box, part, page.absolute_link(url, _text(box, part.url)))
        if card.availability is Availability.UNKNOWN and not _text(box, part.availability):
            # The card does not state availability; the product page does.
            card.availability = None
        card.price_cents = card.price_cents or None
        return card

    def listing_in(self, document: Selector, url: str) -> SiteListing | None:
        part = self.declaration.product
        if part is None:
            return None
        gone = _text(document, part.gone)
        card, price_text = self._read(document, part, url)
        if not card.title and not gone:
            return None
        if card.availability is Availability.UNKNOWN and part.buy and document.css(part.buy):
            card.availability = Availability.IN_STOCK
        ambiguity = self._check_price(document, part, card)
        return SiteListing(
            card=card,
            price_text=price_text,
            gone=gone,
            ambiguity=ambiguity,
            unmatched_selector=_unmatched_selector(document, part, card),
            brand=_text(document, part.brand),
            gtin=_text(document, part.gtin),
            mpn=_text(document, part.mpn),
        )

    def _read(self, box: Selector, part: DeclaredFields, url: str) -> tuple[Card, str]:
        """The card in a box, and the text of its price."""
        price_text = _text(box, part.price, is_price=True)
        stock = _text(box, part.availability)
        state = Availability.SOLD if _is_present(box, part.sold) else self._availability(stock)
        card = Card(
            url=url,
            title=_text(box, part.title),
            price_cents=page.price_cents(price_text, self.currency),
            availability=state,
            product_id=_text(box, part.id),
            attributes={name: _text(box, places) for name, places in part.attributes.items()},
            sku=_text(box, part.sku),
            image=_text(box, part.image),
            location=_text(box, part.location),
        )
        return card, price_text

    def _check_price(self, document: Selector, part: ProductPart, card: Card) -> str:
        """Why the price is ambiguous, or an empty text; sets the price of one unit if there are tiers."""
        if tiers := tiers_in(_text(document, part.tiers), self.currency):
            listed = [card.price_cents] if card.price_cents else []
            card.price_cents, is_sure = unit_price(tiers, listed)
            if not is_sure:
                return f"prices by quantity {sorted(tiers)} next to {listed or 'no other price'}"
        second = _text(document, part.price_again, is_price=True)
        if not second or not card.price_cents:
            return ""
        both = card.price_cents, page.price_cents(second, self.currency) or 0
        agreed = agreed_price(both, [], self.currency) if all(both) else None
        card.price_cents = agreed or card.price_cents
        return "" if agreed else f"the second place shows {second[:200]}"

    def _availability(self, text: str) -> Availability:
        for phrase, state in self.declaration.words.items():
            if phrase.lower() in text.lower():
                return Availability(state)
        found = schema_availability(text)
        return found if found is not Availability.UNKNOWN else text_availability(text)


def _unmatched_selector(document: Selector, part: ProductPart, card: Card) -> str:
    """The selectors of the price, if they match no element on a page that should have a price."""
    is_unavailable = card.availability in (Availability.OUT_OF_STOCK, Availability.SOLD)
    if card.price_cents is not None or is_unavailable or any(document.css(place.css) for place in part.price):
        return ""
    return f"price: nothing at {', '.join(place.css for place in part.price)}"


def _text(box: Selector, places: tuple[FieldPlace, ...] | None, *, is_price: bool = False) -> str:
    """The text at the first place that has one."""
    return next(filter(None, (_text_at(box, place, is_price=is_price) for place in places or ())), "")


def _text_at(box: Selector, place: FieldPlace, *, is_price: bool) -> str:
    """The single text at a place, or the part that the pattern matches; empty if texts differ."""
    if "::" in place.css:
        text = page.single_match(box, place.css)
    else:
        text = page.current_price_text(box, place.css) if is_price else page.single_text(box, place.css)
    return text if place.pattern is None else page.pattern_match(re.compile(place.pattern), text)


def _is_present(box: Selector, places: tuple[FieldPlace, ...] | None) -> bool:
    return any(
        bool(_text_at(box, place, is_price=False) if place.pattern else box.css(place.css))
        for place in places or ()
    )
