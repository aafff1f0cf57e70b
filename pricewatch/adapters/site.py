"""The base of adapters written for one site: they say what a page shows, and this draws the conclusions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import urlencode, urljoin

from scrapy.http import TextResponse
from w3lib.url import add_or_replace_parameters

from pricewatch.adapters.base import Adapter, MarketQuery, Overview, Presence, PresenceEvidence
from pricewatch.adapters.site_page import GONE_STATUS, unread
from pricewatch.items import (
    Availability,
    Card,
    Extracted,
    ExtractFailure,
    FailureReason,
    Offer,
    Quarantine,
    QuarantineReason,
)


@dataclass(slots=True, kw_only=True)
class Listing:
    """What the page of one listing shows; the card has all that an offer needs."""

    card: Card
    # What the page shows in place of a price, for whoever asks why there is none.
    shown_price: str = ""
    # What on the page says that the listing is gone; empty where it is not.
    gone: str = ""
    # Why the price that was read is not to be trusted.
    doubt: str = ""
    sold_at: datetime | None = None
    # The listing that the URL names, where the URL names one.
    asked_id: str = ""


class SiteAdapter(Adapter):
    presence_needs_page = True
    # What an overview page and a product page of the site cannot lack.
    overview_mark: ClassVar[str]
    product_mark: ClassVar[str]

    def page_parameters(self, page: int, page_size: int) -> dict[str, str]:
        """What a search URL needs to show a page; a site that counts pages in the path overrides the URL."""
        return {}

    def overview_url(self, query: MarketQuery, page: int) -> str:
        url = urljoin(query.base_url + "/", query.start_page)
        return add_or_replace_parameters(url, self.page_parameters(page, query.page_size))

    def cards_on(self, response: TextResponse) -> Overview | None:
        """The cards of an overview page; None where it is no such page."""
        raise NotImplementedError

    def listing_on(self, response: TextResponse) -> Listing | None:
        """The listing of a product page; None where it is no such page."""
        raise NotImplementedError

    def read_overview(self, response: TextResponse) -> Overview | ExtractFailure:
        found = self.cards_on(response) if response.status < 400 else None
        return found or unread(response, f"no {self.overview_mark}")

    def extract(self, response: TextResponse) -> Extracted | ExtractFailure | Quarantine:
        listing = self.listing_on(response) if response.status < 400 else None
        if listing is None:
            return unread(response, f"no {self.product_mark}")
        card = listing.card
        evidence = [f"{name}: {value}" for name, value in _fields(listing) if value]
        if listing.gone:
            return ExtractFailure(
                FailureReason.PAGE_STRUCTURE_CHANGED, f"gone: {listing.gone[:200]}", evidence
            )
        if listing.asked_id and listing.asked_id != card.product_id:
            details = f"asked for {listing.asked_id}, the page shows {(card.product_id or 'none')[:80]}"
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, details, evidence)
        if not card.title:
            return ExtractFailure(FailureReason.TITLE_NOT_FOUND, "", evidence)
        if listing.doubt:
            details_of_doubt = {"why": listing.doubt, "evidence": evidence}
            return Quarantine(QuarantineReason.AMBIGUOUS_PRICE, details_of_doubt)
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
        unknown = availability in (None, Availability.UNKNOWN)
        return PresenceEvidence(Presence.UNKNOWN if unknown else Presence.ALIVE)


def search_path(path: str, parameters: dict[str, Any], names: dict[str, str], minor_units: int = 1) -> str:
    """A path with the parameters of a market under the site's own names; prices are in its major units."""
    given = {theirs: parameters[ours] for ours, theirs in names.items() if parameters.get(ours)}
    query = {name: value // minor_units if isinstance(value, int) else value for name, value in given.items()}
    return f"{path}?{urlencode(query)}" if query else path


def overview(cards: list[Card], *, has_next: bool, total: int | None = None) -> Overview:
    """The cards that can be followed and named; how many could not be is told."""
    usable = [card for card in cards if card.url and card.title]
    left_out = len(cards) - len(usable)
    return Overview(usable, has_next, total, {"CARD_WITHOUT_LINK_OR_TITLE": left_out} if left_out else {})


def _fields(listing: Listing) -> list[tuple[str, object]]:
    card = listing.card
    price = f"{card.price_cents} {card.currency} ({listing.shown_price[:200]})" if card.price_cents else ""
    names = ("title", "price_max_cents", "availability", "product_id", "location", "area", "attributes")
    return [("price", price), *((name, getattr(card, name)) for name in names)]


def _offer(listing: Listing, price_cents: int, url: str) -> Offer:
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
        seller=card.seller,
        location=card.location,
        area=card.area,
        attributes=card.attributes,
        image=card.image,
        sold_at=listing.sold_at if sold else None,
    )
