"""The enumerations that describe observations, pages, runs and roles.

Every module may import this one; it imports nothing from the project.
"""

from __future__ import annotations

from enum import StrEnum


class Availability(StrEnum):
    IN_STOCK = "IN_STOCK"
    OUT_OF_STOCK = "OUT_OF_STOCK"
    BACKORDER = "BACKORDER"
    SOLD = "SOLD"
    # On a card that does not show the stock; the product page was not read yet.
    LISTED = "LISTED"
    # The page was read but its stock could not be determined: never stored.
    UNKNOWN = "UNKNOWN"


class FailureReason(StrEnum):
    """Why no offer could be extracted from a page."""

    SELECTOR_NOT_FOUND = "SELECTOR_NOT_FOUND"
    PRICE_NOT_FOUND = "PRICE_NOT_FOUND"
    TITLE_NOT_FOUND = "TITLE_NOT_FOUND"
    PAGE_STRUCTURE_CHANGED = "PAGE_STRUCTURE_CHANGED"
    BLOCKED_PAGE = "BLOCKED_PAGE"
    EMPTY_PAGE = "EMPTY_PAGE"
    OOS_NO_PRICE = "OOS_NO_PRICE"
    # The page could not be read within its limits of time and memory.
    READ_TIMEOUT = "READ_TIMEOUT"


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
    """Why an offer is quarantined for review by a person."""

    VALIDATION_FAILED = "VALIDATION_FAILED"
    DRIFT_DETECTED = "DRIFT_DETECTED"
    SELECTOR_FAILURE = "SELECTOR_FAILURE"
    NORMALIZATION_FAILED = "NORMALIZATION_FAILED"
    ZERO_PRICE_EXTRACTED = "ZERO_PRICE_EXTRACTED"
    AMBIGUOUS_PRICE = "AMBIGUOUS_PRICE"
    # The page moved to another URL, and no id proves that it shows the same product.
    MOVED = "MOVED"


class SellerType(StrEnum):
    USER = "user"
    SHOP = "shop"


class Tier(StrEnum):
    """How often a market is crawled, and how fast the confidence in its listings decays."""

    HOT = "hot"
    STANDARD = "standard"
    COOL = "cool"


class Render(StrEnum):
    """Whether pages are fetched with the browser, which runs their scripts."""

    # Without the browser first; with it if the page shows a product without a price.
    AUTO = "auto"
    NEVER = "never"
    ALWAYS = "always"


class RunStatus(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    ABORTED = "aborted"
    CANCELLED = "cancelled"
    STALE = "stale"
    QUARANTINED = "quarantined"


class PageOutcome(StrEnum):
    """The outcome of reading one overview or product page."""

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
    """What one check of a listing's page says about the listing."""

    ALIVE = "alive"
    NOT_FOUND = "not_found"
    GONE = "gone"
    SOLD = "sold"
    TROUBLE = "trouble"


class AccessRole(StrEnum):
    """What a person or a token may do; each role includes those before it."""

    # Look at pages; read the API, exports and metrics.
    READ = "read"
    # Change jobs, markets, targets, quarantine, watch rules and alerts.
    OPERATE = "operate"
    # Deploy code; change sources, adapters, proxies, people and tokens; read the audit log.
    ADMIN = "admin"

    def includes(self, needed: AccessRole) -> bool:
        roles = list(AccessRole)
        return roles.index(self) >= roles.index(needed)
