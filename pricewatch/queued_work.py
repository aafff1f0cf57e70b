"""What the store gives spiders to work on: leased targets and listings to verify.

Every module may import this one; it imports nothing from the project.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class EarlierChecks:
    """Earlier checks of a product page: whether it was ever readable, and since when it is unreadable."""

    read: bool = False
    unread_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class SourceHints:
    """How the pages of a source are fetched and read: what people chose, and what earlier pages showed."""

    render: str = "auto"
    needs_browser: bool = False
    # A CSS selector of the price, empty if it is not known; and how many pages confirmed it.
    price_place: str = ""
    price_place_seen: int = 0


@dataclass(frozen=True, slots=True)
class LeasedTarget:
    """A target that this run has leased from the queue."""

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
    # Whether its page is rendered in the browser; None: as its source.
    render: str | None = None

    @property
    def earlier(self) -> EarlierChecks:
        """Return the earlier checks; no check of a target without a listing was successful."""
        if self.listing_id is None:
            return EarlierChecks(False, self.last_scraped_at)
        return EarlierChecks(bool(self.read_before), self.unread_since)


@dataclass(frozen=True, slots=True)
class VerificationCandidate:
    """A listing to verify, with its stored state at the time of selection."""

    id: int
    url: str
    canonical_url: str
    strikes: int
    last_strike_run_id: int | None
    last_seen_at: datetime
    active: bool
    # The adapter and the rendering of its target, if they are not those of its source.
    adapter_id: str | None = None
    render: str | None = None
