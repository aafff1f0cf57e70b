"""What an adapter is: the thin per-site code, pure and without I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar

from scrapy.http import TextResponse

from pricewatch.items import Card, Drop, Extracted, ExtractFailure, Offer, Ok, Quarantine


class Presence(StrEnum):
    """What a page says about the listing itself."""

    ALIVE = "alive"
    GONE = "gone"
    SOLD = "sold"
    # The page shows nothing by which to tell: a bot wall, an empty render, another page.
    UNKNOWN = "unknown"


@dataclass(slots=True)
class PresenceEvidence:
    presence: Presence
    marker: str = ""
    sold_at: datetime | None = None


@dataclass(slots=True)
class MarketQuery:
    """The part of a market that an adapter needs to build overview URLs."""

    base_url: str
    start_page: str
    page_size: int
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Overview:
    cards: list[Card]
    has_next: bool
    total: int | None = None
    unreadable: dict[str, int] = field(default_factory=dict)
    # Where the page's own link to the next one leads, for whoever checks the adapter.
    next_url: str = ""


class Adapter:
    """Base of all adapters; a site overrides only what it needs."""

    id: ClassVar[str]
    version: ClassVar[str]
    domain: ClassVar[str]
    requires_js: ClassVar[bool] = False
    # Of all its prices; empty where every card names its own.
    currency: ClassVar[str] = ""
    # Where people see the site, for saved data that does not name its own address.
    home: ClassVar[str] = ""
    # Addresses, as patterns, of data that a rendered page asks for and that is steadier than the page itself.
    page_data: ClassVar[tuple[str, ...]] = ()
    max_page_size: ClassVar[int] = 30
    # After how many pages without a new listing discovery stops, where the site wants other than the setting.
    stop_after_familiar_pages: ClassVar[int | None] = None
    # True where a listing's page must be read to know whether it is sold or gone.
    presence_needs_page: ClassVar[bool] = False

    def in_currency(self, currency: str) -> Adapter:
        """The adapter for pages that name no currency themselves; sites that do have no use for it."""
        return self

    def start_pages(self, parameters: dict[str, Any]) -> list[str]:
        """Start pages of a market that gives a search instead of pages."""
        raise NotAnOverviewAdapter(self.id)

    def overview_url(self, query: MarketQuery, page: int) -> str:
        raise NotAnOverviewAdapter(self.id)

    def read_overview(self, response: TextResponse) -> Overview | ExtractFailure:
        raise NotAnOverviewAdapter(self.id)

    def extract(self, response: TextResponse) -> Extracted | ExtractFailure | Quarantine:
        raise NotAProductAdapter(self.id)

    def normalize(self, offer: Offer) -> Ok | Drop | Quarantine:
        return Ok(offer)

    def presence(self, response: TextResponse) -> PresenceEvidence:
        """What a page with a good status says about its listing; alive unless it says otherwise."""
        return PresenceEvidence(Presence.ALIVE)

    @classmethod
    def has_overview(cls) -> bool:
        return cls.read_overview is not Adapter.read_overview

    @classmethod
    def has_product(cls) -> bool:
        return cls.extract is not Adapter.extract


class NotAnOverviewAdapter(Exception):
    """The adapter reads single product pages only."""


class NotAProductAdapter(Exception):
    """The adapter reads overview pages only."""
