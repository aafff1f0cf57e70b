"""The adapter of a shop that is only declared: everything it knows stands in the shop's file."""

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
from pricewatch.parsing.text import clean
from pricewatch.vocabulary import Availability


class DeclaredAdapter(HtmlSiteAdapter):
    def __init__(self, name: str, declaration: Declaration):
        self.says = declaration
        # A class for one site says these in its body; here the file does.
        says = {
            "id": name,
            "version": declaration.version,
            "domain": declaration.domain,
            "currency": declaration.currency,
            "requires_js": declaration.javascript,
            "max_page_size": declaration.rows,
            "pages": declaration.pages,
            "searches": (declaration.search,) if declaration.search else (),
            "card_box": declaration.overview.card,
            "next_link": declaration.overview.next,
            "cards_box": declaration.overview.container,
            "overview_mark": declaration.overview.card,
            "product_mark": declaration.product.title[0].css if declaration.product else "",
        }
        for attribute, value in says.items():
            setattr(self, attribute, value)
        self._generic = None if declaration.product else GenericAdapter(declaration.currency)

    def extract(self, response: TextResponse) -> Extracted | ExtractFailure | Quarantine:
        return self._generic.extract(response) if self._generic else super().extract(response)

    def presence(self, response: TextResponse) -> PresenceEvidence:
        return self._generic.presence(response) if self._generic else super().presence(response)

    def card_in(self, box: Selector, url: str) -> Card:
        part = self.says.overview
        card, _ = self._read(box, part, page.link_to(url, _text(box, part.url)))
        if card.availability is Availability.UNKNOWN and not _text(box, part.availability):
            # A card that says nothing of stock leaves it to the product's own page.
            card.availability = None
        card.price_cents = card.price_cents or None
        return card

    def listing_in(self, document: Selector, url: str) -> SiteListing | None:
        part = self.says.product
        if part is None:
            return None
        gone = _text(document, part.gone)
        card, shown = self._read(document, part, url)
        if not card.title and not gone:
            return None
        if card.availability is Availability.UNKNOWN and part.buy and document.css(part.buy):
            card.availability = Availability.IN_STOCK
        doubt = self._second_look(document, part, card)
        return SiteListing(
            card=card,
            shown_price=shown,
            gone=gone,
            doubt=doubt,
            unmatched=_unmatched(document, part, card),
            brand=_text(document, part.brand),
            gtin=_text(document, part.gtin),
            mpn=_text(document, part.mpn),
        )

    def _read(self, box: Selector, part: DeclaredFields, url: str) -> tuple[Card, str]:
        """What stands in a box, and the text that its price was read from."""
        shown = _text(box, part.price, is_price=True)
        stock = _text(box, part.availability)
        state = Availability.SOLD if _is_there(box, part.sold) else self._availability(stock)
        card = Card(
            url=url,
            title=_text(box, part.title),
            price_cents=page.price_cents(shown, self.currency),
            availability=state,
            product_id=_text(box, part.id),
            attributes={name: _text(box, spot) for name, spot in part.attributes.items()},
            sku=_text(box, part.sku),
            image=_text(box, part.image),
            location=_text(box, part.location),
        )
        return card, shown

    def _second_look(self, document: Selector, part: ProductPart, card: Card) -> str:
        """Why the price is not to be trusted; where there are prices by quantity, that of one is taken."""
        if tiers := tiers_in(_text(document, part.tiers), self.currency):
            beside = [card.price_cents] if card.price_cents else []
            card.price_cents, is_sure = unit_price(tiers, beside)
            if not is_sure:
                return f"prices by quantity {sorted(tiers)} beside {beside or 'no other price'}"
        again = _text(document, part.price_again, is_price=True)
        if not again or not card.price_cents:
            return ""
        both = card.price_cents, page.price_cents(again, self.currency) or 0
        agreed = agreed_price(both, [], self.currency) if all(both) else None
        card.price_cents = agreed or card.price_cents
        return "" if agreed else f"elsewhere on the page: {again[:200]}"

    def _availability(self, text: str) -> Availability:
        for words, state in self.says.words.items():
            if words.lower() in text.lower():
                return Availability(state)
        said = schema_availability(text)
        return said if said is not Availability.UNKNOWN else text_availability(text)


def _unmatched(document: Selector, part: ProductPart, card: Card) -> str:
    """The price's selectors, where no element of a product's page that should have a price is at them."""
    is_over = card.availability in (Availability.OUT_OF_STOCK, Availability.SOLD)
    if card.price_cents is not None or is_over or any(document.css(place.css) for place in part.price):
        return ""
    return f"price: nothing at {', '.join(place.css for place in part.price)}"


def _text(box: Selector, spot: tuple[FieldPlace, ...] | None, *, is_price: bool = False) -> str:
    """What the first place that shows something shows."""
    return next(filter(None, (_text_at(box, place, is_price=is_price) for place in spot or ())), "")


def _text_at(box: Selector, place: FieldPlace, *, is_price: bool) -> str:
    """The one text at a place, or the part of it that the pattern means; of two that differ, neither."""
    if "::" in place.css:
        texts = [clean(text) for text in box.css(place.css).getall()]
        text = page.only(list(dict.fromkeys(filter(None, texts))))
    else:
        text = page.price_now(box, place.css) if is_price else page.only(page.shown(box, place.css))
    return text if place.pattern is None else page.part_of(re.compile(place.pattern), text)


def _is_there(box: Selector, spot: tuple[FieldPlace, ...] | None) -> bool:
    return any(
        bool(_text_at(box, place, is_price=False) if place.pattern else box.css(place.css))
        for place in spot or ()
    )
