"""The items that flow from spiders through pipelines into the store.

Every module may import this one; it imports only `money`, `queued_work` and `vocabulary` from the project.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pricewatch.money import Money
from pricewatch.queued_work import EarlierChecks, LeasedTarget, VerificationCandidate
from pricewatch.vocabulary import (
    Attempt,
    Availability,
    DropReason,
    FailureReason,
    QuarantineReason,
    SellerType,
)


@dataclass(slots=True)
class SellerInfo:
    id: str
    name: str | None = None
    type: SellerType | None = None


@dataclass(slots=True, kw_only=True)
class Observation:
    """The fields that cards and product pages have in common."""

    url: str
    title: str
    price_cents: int | None = None
    price_max_cents: int | None = None
    currency: str | None = None
    availability: Availability | None = None
    product_id: str | None = None
    sku: str | None = None
    seller: SellerInfo | None = None
    location: str | None = None
    area: float | None = None
    image: str | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    identity_key: str = ""
    # The URL to fetch, which may differ from the canonical URL.
    fetch_url: str = ""

    @property
    def price(self) -> Money | None:
        """None if there is no price or no currency; an offer without a price is not stored."""
        return Money.of(self.price_cents, self.currency)


@dataclass(slots=True, kw_only=True)
class Card(Observation):
    """One listing as an overview page shows it.

    The price is None if the card shows none; the availability is None if the card does not show the stock,
    so that the stored availability stays unchanged.
    """


@dataclass(slots=True, kw_only=True)
class Offer(Observation):
    """The content of one product page; the price is what one customer pays now for one unit."""

    price_cents: int
    currency: str
    availability: Availability
    source: str = ""
    observed_at: datetime | None = None
    adapter_version: str = ""
    shipping_cents: int | None = None
    tax_included: bool | None = None
    gtin: str | None = None
    mpn: str | None = None
    brand: str | None = None
    sold_at: datetime | None = None


@dataclass(slots=True, kw_only=True)
class OverviewPage:
    """The cards of one overview page that pass the market's filters; stored together or not at all."""

    start_page: str
    number: int
    url: str
    cards: list[Card]
    observed_at: datetime
    source: str
    adapter_id: str
    adapter_version: str
    # The number of different cards on the page before the market's filters.
    cards_on_page: int
    # Whether the page is part of a sweep cycle, which has a checkpoint.
    in_cycle: bool = False
    http_status: int = 200
    duration_ms: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    # The cards as database rows.
    rows: list[dict[str, Any]] = field(default_factory=list)
    # Set when the page is stored: the number of new listings, and whether the cycle counted the page for the
    # first time.
    new: int | None = None
    counted: bool = False


@dataclass(slots=True, kw_only=True)
class ProductPage:
    """One product page and its offer; the page itself is needed if the offer is quarantined."""

    offer: Offer
    # Left out of log messages.
    page: bytes = field(default=b"", repr=False)
    evidence: list[str] = field(default_factory=list)
    encoding: str = ""
    # The id of the adapter or custom spider that read the page.
    adapter_id: str = ""
    target: LeasedTarget | None = None
    # The listing of the page, if known.
    listing_id: int | None = None
    earlier: EarlierChecks = field(default_factory=EarlierChecks)
    # Where the price stood, if two witnesses agreed; the place that the adapter was given; and whether it was
    # not there (None if the adapter was given no established place).
    price_place: str = ""
    given_price_place: str = ""
    price_place_missing: bool | None = None
    # Only the browser showed the price, after a request without it.
    needed_browser: bool = False
    # The result of validation; the offer is accepted if both are None.
    quarantine: Quarantine | None = None
    dropped: Drop | None = None
    # The offer as a database row, if it is accepted.
    rows: list[dict[str, Any]] = field(default_factory=list)
    # The item that a custom spider yielded, for the pipelines after pricewatch's.
    original_item: Any = None

    @property
    def target_id(self) -> int | None:
        return self.target.id if self.target else None

    @property
    def is_accepted(self) -> bool:
        return self.quarantine is None and self.dropped is None


@dataclass(slots=True)
class ListingCheck:
    """One check of a listing's page, with its evidence."""

    listing_id: int
    attempt: Attempt
    at: datetime
    method: str = "GET"
    http_status: int | None = None
    final_url: str | None = None
    marker: str | None = None
    reason: str | None = None
    sold_at: datetime | None = None

    @property
    def is_missing(self) -> bool:
        return self.attempt in (Attempt.NOT_FOUND, Attempt.GONE)


@dataclass(slots=True, kw_only=True)
class UnreadPage:
    """A product page without an offer, and why."""

    url: str
    source: str
    adapter_id: str
    adapter_version: str
    reason: str
    observed_at: datetime
    # Whether a page was received, and whether a request was sent at all (robots.txt may forbid it).
    answered: bool = False
    requested: bool = True
    # The page is missing, or says that the listing is gone or sold.
    gone: bool = False
    listing_id: int | None = None
    target: LeasedTarget | None = None
    earlier: EarlierChecks = field(default_factory=EarlierChecks)
    check: ListingCheck | None = None
    # A hash of the content: a site that is down answers every URL with the same page.
    fingerprint: bytes = b""
    # As for `ProductPage`.
    price_place_missing: bool | None = None
    # The page, saved because it was readable before, so that a fixed adapter can read it again.
    saved_page: ProductPage | None = None

    @property
    def target_id(self) -> int | None:
        return self.target.id if self.target else None

    @property
    def has_adapter(self) -> bool:
        """False if no adapter was available, or if a person blocked the URL."""
        return bool(self.adapter_version)

    @property
    def is_tried(self) -> bool:
        """False if the crawl ended before the request; another run tries it."""
        return self.reason != "crawl_ending"

    @property
    def is_failure(self) -> bool:
        """Return False for expected results: out of stock without a price, or a gone listing."""
        expected = self.reason == FailureReason.OOS_NO_PRICE or (self.gone and self.listing_id is not None)
        return not (self.answered and expected)


@dataclass(slots=True, kw_only=True)
class CollectedMarket:
    """A market that discovery has read completely: its collected cards are stored in one transaction."""

    source: str
    adapter_id: str
    # The `MarketRecord`, and whether all of its pages were read.
    market: Any
    complete: bool
    # The maximum number of product pages to read for new listings.
    most_details: int
    # Set when the market is stored: new listings with their URLs, and counts of what the sync did.
    new_listings: list[tuple[int, str]] = field(default_factory=list)
    synced: dict[str, int] = field(default_factory=dict)
    new: int = 0
    updated: int = 0


@dataclass(slots=True, kw_only=True)
class CheckedListings:
    """All checks of a verification run, applied together so that the mass-gone guard sees all of them."""

    # The id of the market or source, which is also the subject of its alerts.
    alert_subject: str
    checks: list[ListingCheck]
    candidates: dict[int, VerificationCandidate]


@dataclass(slots=True)
class Ok:
    offer: Offer


@dataclass(slots=True)
class Drop:
    reason: DropReason
    details: str = ""


@dataclass(slots=True)
class Quarantine:
    reason: QuarantineReason
    details: dict[str, Any] = field(default_factory=dict)
    offer: Offer | None = None


@dataclass(slots=True)
class Extracted:
    """A product page that was read; `evidence` lists the origin of each field."""

    offer: Offer
    evidence: list[str] = field(default_factory=list)
    # A CSS selector of the displayed price, if structured data or another witness agrees with it.
    price_place: str = ""


@dataclass(slots=True)
class ExtractFailure:
    """A product page from which no offer could be extracted, and why."""

    reason: FailureReason
    details: str = ""
    evidence: list[str] = field(default_factory=list)
    # The page shows a product without a price, which a script may add: a browser may see it.
    may_need_browser: bool = False
