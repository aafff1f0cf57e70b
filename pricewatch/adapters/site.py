"""The base of adapters written for one site: they say what a page shows, and this draws the conclusions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from scrapy.http import TextResponse

from pricewatch.adapters.base import Adapter, Overview, Presence, PresenceEvidence
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

    def cards_on(self, response: TextResponse) -> Overview | None:
        """The cards of an overview page; None where it is no such page."""
        raise NotImplementedError

    def listing_on(self, response: TextResponse) -> Listing | None:
        """The listing of a product page; None where it is no such page."""
        raise NotImplementedError

    def read_overview(self, response: TextResponse) -> Overview | ExtractFailure:
        overview = self.cards_on(response) if response.status < 400 else None
        return overview or unread(response, f"no {self.overview_mark}")

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
        if listing.asked_id and card.product_id and listing.asked_id != card.product_id:
            details = f"asked for {listing.asked_id}, the page shows {card.product_id[:80]}"
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
        unknown = availability is Availability.UNKNOWN
        return PresenceEvidence(Presence.UNKNOWN if unknown else Presence.ALIVE)


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
        availability=card.availability,
        product_id=card.product_id,
        sku=card.sku,
        seller=card.seller,
        location=card.location,
        area=card.area,
        attributes=card.attributes,
        image=card.image,
        sold_at=listing.sold_at if sold else None,
    )
