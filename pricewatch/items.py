"""The items that flow from spiders through pipelines into the store.

Everything else may import this module; it imports nothing of ours but `money` and `vocabulary`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pricewatch.money import Money
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
class Card:
    """One listing as an overview page shows it. A price of None means that the card shows none."""

    url: str
    title: str
    price_cents: int | None = None
    price_max_cents: int | None = None
    currency: str | None = None
    # None where the card says nothing of stock: what is known of the listing stays as it is.
    availability: Availability | None = None
    product_id: str | None = None
    sku: str | None = None
    seller: SellerInfo | None = None
    location: str | None = None
    area: float | None = None
    image: str | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    identity_key: str = ""
    # Where to fetch it, where that is not the canonical URL itself.
    fetch_url: str = ""

    @property
    def price(self) -> Money | None:
        return Money.of(self.price_cents, self.currency)


@dataclass(slots=True, kw_only=True)
class Offer:
    """What one product page says: what one customer pays now for one unit."""

    url: str
    title: str
    price_cents: int
    currency: str
    availability: Availability
    source: str = ""
    observed_at: datetime | None = None
    identity_key: str = ""
    adapter_version: str = ""
    price_max_cents: int | None = None
    shipping_cents: int | None = None
    tax_included: bool | None = None
    product_id: str | None = None
    sku: str | None = None
    gtin: str | None = None
    mpn: str | None = None
    brand: str | None = None
    seller: SellerInfo | None = None
    location: str | None = None
    area: float | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    image: str | None = None
    sold_at: datetime | None = None
    fetch_url: str = ""

    @property
    def price(self) -> Money | None:
        """None where no currency was read; such an offer is not stored."""
        return Money.of(self.price_cents, self.currency)


@dataclass(slots=True, kw_only=True)
class OverviewPage:
    """The cards of one overview page that its market wants: stored together or not at all."""

    start_page: str
    number: int
    url: str
    cards: list[Card]
    observed_at: datetime
    source: str
    adapter_id: str
    adapter_version: str
    # How many cards the page shows, wanted or not.
    shown: int
    # Whether it is part of a sweep's cycle, which has a checkpoint.
    in_cycle: bool = False
    http_status: int = 200
    duration_ms: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    # The cards as rows of the database.
    rows: list[dict[str, Any]] = field(default_factory=list)
    # Set once the page is in the database: how many cards were not known before, and whether the cycle
    # counts it for the first time.
    new: int | None = None
    counted: bool = False


@dataclass(frozen=True, slots=True)
class EarlierChecks:
    """What earlier looks at a product page came to: whether it was ever read, and since when it is not."""

    read: bool = False
    unread_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class LeasedTarget:
    """A target that this run has taken from the queue, and whose page it is to read."""

    id: int
    url: str
    canonical_url: str
    source_id: str
    adapter_id: str
    selectors: dict[str, str]
    listing_id: int | None
    robots_path_blocked: bool
    status: str
    schedule: str
    consecutive_failures: int
    last_reason: str | None = None
    last_scraped_at: datetime | None = None
    read_before: bool | None = None
    unread_since: datetime | None = None

    @property
    def earlier(self) -> EarlierChecks:
        """Of a target that never became a listing, no look has come to anything yet."""
        if self.listing_id is None:
            return EarlierChecks(False, self.last_scraped_at)
        return EarlierChecks(bool(self.read_before), self.unread_since)


@dataclass(slots=True, kw_only=True)
class ProductPage:
    """One product page and the offer read from it; the page travels along in case it is held."""

    offer: Offer
    # Not in the log, where an item is one paragraph.
    page: bytes = field(default=b"", repr=False)
    evidence: list[str] = field(default_factory=list)
    encoding: str = ""
    # What read it: an adapter, or a spider of its own.
    adapter_id: str = ""
    target: LeasedTarget | None = None
    # The listing whose page it is, where that is known.
    listing_id: int | None = None
    earlier: EarlierChecks = field(default_factory=EarlierChecks)
    # What the validation decided; with neither, the offer is accepted.
    held: Quarantine | None = None
    dropped: Drop | None = None
    # The offer as a row of the database, if it is accepted.
    rows: list[dict[str, Any]] = field(default_factory=list)
    # The item that a spider of another kind yielded, for the pipelines behind ours.
    given: Any = None

    @property
    def target_id(self) -> int | None:
        return self.target.id if self.target else None

    @property
    def is_accepted(self) -> bool:
        return self.held is None and self.dropped is None


@dataclass(slots=True)
class ListingCheck:
    """One look at one listing's own page, with what it is based on."""

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
    """A product page that gave no offer, and why."""

    url: str
    source: str
    adapter_id: str
    adapter_version: str
    reason: str
    observed_at: datetime
    # Whether a page came, and whether the site was asked at all; robots.txt, for one, forbids it.
    answered: bool = False
    asked: bool = True
    # The page says that the listing is gone or sold, or is not there any more.
    gone: bool = False
    listing_id: int | None = None
    target: LeasedTarget | None = None
    earlier: EarlierChecks = field(default_factory=EarlierChecks)
    look: ListingCheck | None = None
    # A hash of what the page shows: a site that is down shows all of its pages alike.
    fingerprint: bytes = b""
    # The page, where it could be read before and is kept for an adapter that can read it again.
    kept: ProductPage | None = None

    @property
    def target_id(self) -> int | None:
        return self.target.id if self.target else None

    @property
    def is_requested(self) -> bool:
        """False where there was no adapter to read it with, or a person blocked it."""
        return bool(self.adapter_version)

    @property
    def is_tried(self) -> bool:
        """What the end of the crawl kept from being tried is tried by another run."""
        return self.reason != "crawl_ending"

    @property
    def is_failure(self) -> bool:
        """Out of stock without a price is what a page may say, and so is gone."""
        expected = self.reason == FailureReason.OOS_NO_PRICE or (self.gone and self.listing_id is not None)
        return not (self.answered and expected)


@dataclass(slots=True, kw_only=True)
class CollectedMarket:
    """A market that discovery has read: everything it collected is to be stored at once."""

    source: str
    adapter_id: str
    # The market's record, and whether all of its pages were read.
    market: Any
    complete: bool
    # How many product pages of new listings are wanted.
    most_details: int
    # Set once it is stored: the new listings with their addresses, and what became of those not seen.
    new_listings: list[tuple[int, str]] = field(default_factory=list)
    synced: dict[str, int] = field(default_factory=dict)
    new: int = 0
    updated: int = 0


@dataclass(frozen=True, slots=True)
class VerificationCandidate:
    """A listing that is to be verified, as it was stored when it was chosen."""

    id: int
    url: str
    canonical_url: str
    strikes: int
    last_strike_run_id: int | None
    last_seen_at: datetime
    active: bool
    # What reads its page, where that is not the adapter of its source.
    adapter_id: str | None = None


@dataclass(slots=True, kw_only=True)
class CheckedListings:
    """All looks of a verification run: concluded from together, so that one look at the whole can stop it."""

    # The market or the source whose listings they are.
    subject: str
    looks: list[ListingCheck]
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
    """A product page that was read; `evidence` says where each field came from."""

    offer: Offer
    evidence: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ExtractFailure:
    """A product page that gave no offer, and why."""

    reason: FailureReason
    details: str = ""
    evidence: list[str] = field(default_factory=list)
