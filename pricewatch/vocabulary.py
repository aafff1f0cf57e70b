"""The closed lists of words that describe observations, pages and runs.

Everything else may import this module; it imports nothing of ours.
"""

from __future__ import annotations

from enum import StrEnum


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


class Attempt(StrEnum):
    """What one look at a listing's own page says about the listing."""

    ALIVE = "alive"
    NOT_FOUND = "not_found"
    GONE = "gone"
    SOLD = "sold"
    TROUBLE = "trouble"
