"""The things that flow through pricewatch, and the closed lists of words that describe them.

Everything else may import this module; it imports nothing of ours but `money`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from pricewatch.money import Money


class Availability(StrEnum):
    IN_STOCK = "IN_STOCK"
    OUT_OF_STOCK = "OUT_OF_STOCK"
    BACKORDER = "BACKORDER"
    SOLD = "SOLD"
    # Shown by a card that says nothing of stock; the listing's own page was not read yet.
    LISTED = "LISTED"
    # A page was read and its stock could not be told: never stored.
    UNKNOWN = "UNKNOWN"


class FailureReason(StrEnum):
    """Why a page gave no offer."""

    SELECTOR_NOT_FOUND = "SELECTOR_NOT_FOUND"
    PRICE_NOT_FOUND = "PRICE_NOT_FOUND"
    TITLE_NOT_FOUND = "TITLE_NOT_FOUND"
    PAGE_STRUCTURE_CHANGED = "PAGE_STRUCTURE_CHANGED"
    BLOCKED_PAGE = "BLOCKED_PAGE"
    EMPTY_PAGE = "EMPTY_PAGE"
    OOS_NO_PRICE = "OOS_NO_PRICE"


class DropReason(StrEnum):
    """Why an offer was not stored."""

    MISSING_REQUIRED_FIELD = "MISSING_REQUIRED_FIELD"
    INVALID_PRICE = "INVALID_PRICE"
    INVALID_URL = "INVALID_URL"
    DUPLICATE_WITHIN_RUN = "DUPLICATE_WITHIN_RUN"
    BLOCKED_BY_ROBOTS_TXT = "BLOCKED_BY_ROBOTS_TXT"
    OOS_NO_PRICE = "OOS_NO_PRICE"
    UNKNOWN_AVAILABILITY = "UNKNOWN_AVAILABILITY"


class QuarantineReason(StrEnum):
    """Why an offer is held for a person to look at."""

    VALIDATION_FAILED = "VALIDATION_FAILED"
    DRIFT_DETECTED = "DRIFT_DETECTED"
    SELECTOR_FAILURE = "SELECTOR_FAILURE"
    NORMALIZATION_FAILED = "NORMALIZATION_FAILED"
    ZERO_PRICE_EXTRACTED = "ZERO_PRICE_EXTRACTED"
    AMBIGUOUS_PRICE = "AMBIGUOUS_PRICE"
    # The page is at another address now, and nothing proves that it shows the same product.
    MOVED = "MOVED"


class SellerType(StrEnum):
    USER = "user"
    SHOP = "shop"


class Tier(StrEnum):
    """How often a market is looked at, and how fast trust in its listings fades."""

    HOT = "hot"
    STANDARD = "standard"
    COOL = "cool"


class RunStatus(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    ABORTED = "aborted"
    CANCELLED = "cancelled"
    STALE = "stale"
    QUARANTINED = "quarantined"


class PageOutcome(StrEnum):
    """How the reading of one overview or product page ended."""

    OK = "ok"
    EMPTY = "empty"
    REPEATED = "repeated"
    BLOCKED = "blocked"
    ROBOTS = "robots"
    HTTP_ERROR = "http_error"
    NETWORK_ERROR = "network_error"
    UNREADABLE = "unreadable"


class VerificationStatus(StrEnum):
    PENDING = "pending"
    VERIFIED = "verified"
    GONE = "gone"


@dataclass(slots=True)
class Seller:
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
    seller: Seller | None = None
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
    seller: Seller | None = None
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
    # How many cards the page shows, wanted or not.
    shown: int
    http_status: int = 200
    duration_ms: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    # How many cards were not known before; set once the page is in the database.
    new: int | None = None


@dataclass(frozen=True, slots=True)
class EarlierLooks:
    """What earlier looks at a product page came to: whether it was ever read, and since when it is not."""

    read: bool = False
    unread_since: datetime | None = None


@dataclass(slots=True, kw_only=True)
class ProductPage:
    """One product page and the offer read from it; the page travels along in case it is held."""

    offer: Offer
    # Not in the log, where an item is one paragraph.
    page: bytes = field(default=b"", repr=False)
    evidence: list[str] = field(default_factory=list)
    encoding: str = ""
    # The adapter that read it, where a run has several.
    adapter_id: str = ""
    target_id: int | None = None
    # The listing whose page it is, where that is known.
    listing_id: int | None = None
    earlier: EarlierLooks = field(default_factory=EarlierLooks)
    held: Quarantine | None = None


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
