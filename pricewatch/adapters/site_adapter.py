"""The base of adapters written for one site: they say what a page shows, and this draws the conclusions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_FLOOR
from string import Formatter
from typing import Any, ClassVar
from urllib.parse import parse_qsl, quote, urljoin, urlsplit, urlunsplit

from scrapy.http import TextResponse
from w3lib.url import add_or_replace_parameters

from pricewatch.adapters.base import Adapter, MarketQuery, Overview, Presence, PresenceEvidence
from pricewatch.adapters.page_fields import GONE_STATUS, unread
from pricewatch.items import Card, Extracted, ExtractFailure, Offer, Quarantine
from pricewatch.money import Money
from pricewatch.vocabulary import Availability, FailureReason, QuarantineReason

_MAY_BE_EMPTY = ("product_id", "sku", "location", "image")


@dataclass(slots=True, kw_only=True)
class SiteListing:
    """What the page of one listing shows; the card has all that an offer needs."""

    card: Card
    # What the page shows in place of a price, for whoever asks why there is none.
    shown_price: str = ""
    # What on the page says that the listing is gone; empty where it is not.
    gone: str = ""
    # Why the price that was read is not to be trusted.
    doubt: str = ""
    # The selector that is at no element of the page, with the name of the field that an offer needs.
    unmatched: str = ""
    sold_at: datetime | None = None
    brand: str = ""
    mpn: str = ""
    gtin: str = ""


class SiteAdapter(Adapter):
    presence_needs_page = True
    # What an overview page and a product page of the site cannot lack.
    overview_mark: ClassVar[str]
    product_mark: ClassVar[str]
    # Where a market's search leads: the first address whose names in braces the market has. One without any
    # serves where the market has at least one of the parameters below.
    searches: ClassVar[tuple[str, ...]] = ()
    # What the parameters of a market are called in the address of a search.
    search_parameters: ClassVar[dict[str, str]] = {}
    # How page N differs from the first: parameters, or an address relative to it. It may ask for the `page`,
    # its `index` from 0 on, the `offset` of its first row, and the `rows` of a page.
    pages: ClassVar[str] = ""
    # Finds, as its group, the listing that a URL names; what a page shows has to be that one.
    listing_in_url: ClassVar[re.Pattern[str] | None] = None
    # Whether a page that shows a price is up, whatever it says of stock. So it is in shops; an advert shows
    # its price long after it is gone.
    price_shows_presence: ClassVar[bool] = True

    def cards_on(self, response: TextResponse) -> Overview | None:
        """The cards of an overview page; None where it is no such page."""
        raise NotImplementedError

    def listing_on(self, response: TextResponse) -> SiteListing | None:
        """The listing of a product page; None where it is no such page."""
        raise NotImplementedError

    def search_word(self, word: str) -> str:
        """A market's word as it stands in the path of a search."""
        return quote(word.strip("/"))

    def start_pages(self, parameters: dict[str, Any]) -> list[str]:
        for address in self.searches:
            words = {name: parameters.get(name) for name in _names_in(address)}
            given = {ours: parameters.get(ours) for ours in self.search_parameters}
            wanted = {
                self.search_parameters[ours]: self._searched(ours, value)
                for ours, value in given.items()
                if value
            }
            # A status alone is no search.
            if all(words.values()) and (words or set(wanted) - {"status"}):
                path = address.format(**{name: self.search_word(str(word)) for name, word in words.items()})
                return [add_or_replace_parameters(path, wanted) if wanted else path]
        return []

    def overview_url(self, query: MarketQuery, page: int) -> str:
        first = urljoin(query.base_url + "/", query.start_page)
        if page == 1 and "{rows}" not in self.pages:
            return first
        rows = query.page_size
        more = self.pages.format(page=page, index=page - 1, offset=(page - 1) * rows, rows=rows)
        if more.startswith("?"):
            return add_or_replace_parameters(first, dict(parse_qsl(more[1:])))
        return _relative(first, more)

    def read_overview(self, response: TextResponse) -> Overview | ExtractFailure:
        found = self.cards_on(response) if response.status < 400 else None
        if found is None:
            return unread(response, f"no {self.overview_mark}")
        # What cannot be followed or named is left out, and that is told.
        usable = [self._tidy(card) for card in found.cards if card.url and card.title]
        if left_out := len(found.cards) - len(usable):
            found.unreadable["CARD_WITHOUT_LINK_OR_TITLE"] = left_out
        found.cards = usable
        return found

    def extract(self, response: TextResponse) -> Extracted | ExtractFailure | Quarantine:
        listing = self.listing_on(response) if response.status < 400 else None
        if listing is None:
            return unread(response, f"no {self.product_mark}")
        card = self._tidy(listing.card)
        evidence = [f"{name}: {value}" for name, value in _fields(listing) if value]
        if listing.gone:
            return ExtractFailure(
                FailureReason.PAGE_STRUCTURE_CHANGED, f"gone: {listing.gone[:200]}", evidence
            )
        asked = self.listing_in_url.search(response.url) if self.listing_in_url else None
        if asked and asked[1] != card.product_id:
            details = f"asked for {asked[1]}, the page shows {(card.product_id or 'none')[:80]}"
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, details, evidence)
        if not card.title:
            return ExtractFailure(FailureReason.TITLE_NOT_FOUND, "", evidence)
        if listing.doubt:
            details_of_doubt = {"why": listing.doubt, "evidence": evidence}
            return Quarantine(QuarantineReason.AMBIGUOUS_PRICE, details_of_doubt)
        if listing.unmatched:
            details_of_selector = {"why": listing.unmatched, "evidence": evidence}
            return Quarantine(QuarantineReason.SELECTOR_FAILURE, details_of_selector)
        if card.price_cents is None:
            sold_out = card.availability is Availability.OUT_OF_STOCK
            reason = FailureReason.OOS_NO_PRICE if sold_out else FailureReason.PRICE_NOT_FOUND
            return ExtractFailure(reason, listing.shown_price[:200] or "the page shows no price", evidence)
        return Extracted(_offer(listing, card.price_cents, response.url), evidence)

    def presence(self, response: TextResponse) -> PresenceEvidence:
        if response.status in GONE_STATUS:
            return PresenceEvidence(Presence.GONE, f"status {response.status}")
        listing = self.listing_on(response) if response.status < 400 else None
        if listing is None:
            return PresenceEvidence(Presence.UNKNOWN)
        if listing.gone:
            return PresenceEvidence(Presence.GONE, listing.gone[:200])
        availability = listing.card.availability
        if availability is Availability.SOLD:
            return PresenceEvidence(Presence.SOLD, "sold", listing.sold_at)
        is_told = availability not in (None, Availability.UNKNOWN)
        is_shown = self.price_shows_presence and bool(listing.card.price_cents or listing.shown_price)
        return PresenceEvidence(Presence.ALIVE if is_told or is_shown else Presence.UNKNOWN)

    def _searched(self, name: str, value: Any) -> str:
        """A market's limits are in minor units, those of a search in whole money, rounded outwards."""
        if not isinstance(value, int) or not self.currency:
            return str(value)
        rounding = ROUND_CEILING if name == "max_price_cents" else ROUND_FLOOR
        return str(Money(value, self.currency).amount.to_integral_value(rounding))

    def _tidy(self, card: Card) -> Card:
        """A card in which nothing is empty, and with a currency just where there is a price."""
        for name in _MAY_BE_EMPTY:
            if getattr(card, name) == "":
                setattr(card, name, None)
        card.attributes = {name: value for name, value in card.attributes.items() if value not in ("", [])}
        card.currency = None if card.price_cents is None else card.currency or self.currency
        return card


def _names_in(address: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(address) if name]


def _relative(first: str, more: str) -> str:
    """An address relative to a page, with that page's own parameters: below it, if both look like folders."""
    scheme, host, path, query, _ = urlsplit(first)
    if more.endswith("/") and "." not in path.rpartition("/")[2]:
        path = f"{path.rstrip('/')}/"
    found = urlsplit(urljoin(urlunsplit((scheme, host, path, "", "")), more))
    return urlunsplit(found._replace(query=found.query or query))


def _fields(listing: SiteListing) -> list[tuple[str, object]]:
    card = listing.card
    price = f"{card.price_cents} {card.currency} ({listing.shown_price[:200]})" if card.price_cents else ""
    names = ("title", "price_max_cents", "availability", "product_id", "location", "area", "attributes")
    return [("price", price), *((name, getattr(card, name)) for name in names)]


def _offer(listing: SiteListing, price_cents: int, url: str) -> Offer:
    card = listing.card
    sold = card.availability is Availability.SOLD
    return Offer(
        url=url,
        title=card.title,
        price_cents=price_cents,
        price_max_cents=card.price_max_cents,
        currency=card.currency or "",
        availability=card.availability or Availability.UNKNOWN,
        product_id=card.product_id,
        sku=card.sku,
        brand=listing.brand or None,
        mpn=listing.mpn or None,
        gtin=listing.gtin or None,
        seller=card.seller,
        location=card.location,
        area=card.area,
        attributes=card.attributes,
        image=card.image,
        sold_at=listing.sold_at if sold else None,
    )
