"""The base class of adapters for one site: they read listings, and this class derives the results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_FLOOR
from itertools import islice
from string import Formatter
from typing import Any, ClassVar
from urllib.parse import parse_qsl, quote, urljoin, urlsplit, urlunsplit

from scrapy.http import TextResponse
from w3lib.url import add_or_replace_parameters

from pricewatch.adapters.base import Adapter, MarketQuery, Overview, Presence, PresenceEvidence
from pricewatch.adapters.page_fields import GONE_STATUS, explain_failure
from pricewatch.items import Card, Extracted, ExtractFailure, Offer, Quarantine
from pricewatch.money import Money
from pricewatch.vocabulary import Availability, FailureReason, QuarantineReason

# No site shows more listings on one page; the rest is counted, but not read.
MAX_CARDS = 1_000
_MAX_ATTRIBUTES = 100
_MAX_TEXT_LENGTH = 1_000
_OPTIONAL_TEXTS = ("product_id", "sku", "location", "image")


@dataclass(slots=True, kw_only=True)
class SiteListing:
    """The content of a listing's page; the card has the fields that an offer needs."""

    card: Card
    # The text at the place of the price; explains a missing price.
    price_text: str = ""
    # The evidence that the listing is gone; empty if it is not.
    gone: str = ""
    # Why the price is ambiguous.
    ambiguity: str = ""
    # A required field and its selector, if the selector matches no element.
    unmatched_selector: str = ""
    sold_at: datetime | None = None
    brand: str = ""
    mpn: str = ""
    gtin: str = ""


class SiteAdapter(Adapter):
    presence_needs_page = True
    # What every overview page and every product page of the site contains; used in messages.
    overview_marker: ClassVar[str]
    product_marker: ClassVar[str]
    # URL templates of a search: the first one whose fields in braces the market has is used. One without
    # fields is used if the market has at least one of the parameters in `query_names`.
    search_urls: ClassVar[tuple[str, ...]] = ()
    # Names of market parameters in the query string of a search.
    query_names: ClassVar[dict[str, str]] = {}
    # Page N relative to the first page: a query string or a relative URL. Fields: `page` (from 1), `index`
    # (from 0), `offset` of the first row, and `rows` per page.
    pages: ClassVar[str] = ""
    # Its group is the listing id in a URL; the page must show the same id.
    listing_in_url: ClassVar[re.Pattern[str] | None] = None
    # Whether a displayed price means that the listing exists. True for shops; adverts display their price
    # long after they are gone.
    price_shows_presence: ClassVar[bool] = True

    def cards_on(self, response: TextResponse) -> Overview | None:
        """The cards of an overview page; None if this is not an overview page."""
        raise NotImplementedError

    def listing_on(self, response: TextResponse) -> SiteListing | None:
        """The listing of a product page; None if this is not a product page."""
        raise NotImplementedError

    def path_segment(self, value: str) -> str:
        """A market parameter as it appears in the URL of a search."""
        return quote(value.strip("/"))

    @property
    def search_parameters(self) -> tuple[str, ...]:
        fields = (name for url in self.search_urls for name in _field_names(url))
        return tuple(dict.fromkeys([*fields, *self.query_names]))

    def start_pages(self, parameters: dict[str, Any]) -> list[str]:
        query = {
            query_name: self._query_value(name, parameters[name])
            for name, query_name in self.query_names.items()
            if parameters.get(name)
        }
        for template in self.search_urls:
            fields = {name: parameters.get(name) for name in _field_names(template)}
            # A status alone is not a search.
            if all(fields.values()) and (fields or set(query) - {"status"}):
                url = template.format(
                    **{name: self.path_segment(str(value)) for name, value in fields.items()}
                )
                return [add_or_replace_parameters(url, query) if query else url]
        return []

    def overview_url(self, query: MarketQuery, page: int) -> str:
        first = urljoin(query.base_url + "/", query.start_page)
        if page == 1 and "{rows}" not in self.pages:
            return first
        rows = query.page_size
        reference = self.pages.format(page=page, index=page - 1, offset=(page - 1) * rows, rows=rows)
        if reference.startswith("?"):
            return add_or_replace_parameters(first, dict(parse_qsl(reference[1:])))
        return _resolve(first, reference)

    def read_overview(self, response: TextResponse) -> Overview | ExtractFailure:
        found = self.cards_on(response) if response.status < 400 else None
        if found is None:
            return explain_failure(response, f"no {self.overview_marker}")
        # Cards without a link or a title are left out and counted.
        usable = [self._normalized(card) for card in found.cards if card.url and card.title]
        if left_out := len(found.cards) - len(usable):
            found.unreadable["CARD_WITHOUT_LINK_OR_TITLE"] = left_out
        found.cards = usable
        return found

    def extract(self, response: TextResponse) -> Extracted | ExtractFailure | Quarantine:
        listing = self.listing_on(response) if response.status < 400 else None
        if listing is None:
            return explain_failure(response, f"no {self.product_marker}")
        card = self._normalized(listing.card)
        evidence = [f"{name}: {value}" for name, value in _fields(listing) if value]
        if listing.gone:
            return ExtractFailure(
                FailureReason.PAGE_STRUCTURE_CHANGED, f"gone: {listing.gone[:200]}", evidence
            )
        requested = self.listing_in_url.search(response.url) if self.listing_in_url else None
        if requested and requested[1] != card.product_id:
            details = f"requested {requested[1]}, the page shows {(card.product_id or 'none')[:80]}"
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, details, evidence)
        if not card.title:
            return ExtractFailure(FailureReason.TITLE_NOT_FOUND, "", evidence)
        if listing.ambiguity:
            why = {"why": listing.ambiguity, "evidence": evidence}
            return Quarantine(QuarantineReason.AMBIGUOUS_PRICE, why)
        if listing.unmatched_selector:
            why = {"why": listing.unmatched_selector, "evidence": evidence}
            return Quarantine(QuarantineReason.SELECTOR_FAILURE, why)
        if card.price_cents is None:
            sold_out = card.availability is Availability.OUT_OF_STOCK
            reason = FailureReason.OOS_NO_PRICE if sold_out else FailureReason.PRICE_NOT_FOUND
            return ExtractFailure(reason, listing.price_text[:200] or "the page shows no price", evidence)
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
        has_availability = availability not in (None, Availability.UNKNOWN)
        has_price = self.price_shows_presence and bool(listing.card.price_cents or listing.price_text)
        return PresenceEvidence(Presence.ALIVE if has_availability or has_price else Presence.UNKNOWN)

    def _query_value(self, name: str, value: Any) -> str:
        """Price limits are minor units in a market and whole units in a search; round them outwards."""
        if not isinstance(value, int) or not self.currency:
            return str(value)
        rounding = ROUND_CEILING if name == "max_price_cents" else ROUND_FLOOR
        return str(Money(value, self.currency).amount.to_integral_value(rounding))

    def _normalized(self, card: Card) -> Card:
        """Replace empty texts by None; set the currency if and only if there is a price."""
        for name in _OPTIONAL_TEXTS:
            if getattr(card, name) == "":
                setattr(card, name, None)
        card.attributes = {
            name[:_MAX_TEXT_LENGTH]: value[:_MAX_TEXT_LENGTH] if isinstance(value, (str, list)) else value
            for name, value in islice(card.attributes.items(), _MAX_ATTRIBUTES)
            if name and value not in ("", [])
        }
        card.currency = None if card.price_cents is None else card.currency or self.currency
        return card


def beyond_limit(rows: Sequence[object]) -> dict[str, int]:
    """The number of cards that are not read, as a reason for `Overview.unreadable`."""
    return {"CARD_BEYOND_LIMIT": len(rows) - MAX_CARDS} if len(rows) > MAX_CARDS else {}


def _field_names(template: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(template) if name]


def _resolve(first: str, reference: str) -> str:
    """Resolve a reference against the first page, keeping its query; below it if both look like folders."""
    scheme, host, path, query, _ = urlsplit(first)
    if reference.endswith("/") and "." not in path.rpartition("/")[2]:
        path = f"{path.rstrip('/')}/"
    found = urlsplit(urljoin(urlunsplit((scheme, host, path, "", "")), reference))
    return urlunsplit(found._replace(query=found.query or query))


def _fields(listing: SiteListing) -> list[tuple[str, object]]:
    card = listing.card
    price = f"{card.price_cents} {card.currency} ({listing.price_text[:200]})" if card.price_cents else ""
    names = ("title", "price_max_cents", "availability", "product_id", "location", "area", "attributes")
    return [("price", price), *((name, str(getattr(card, name) or "")[:_MAX_TEXT_LENGTH]) for name in names)]


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
