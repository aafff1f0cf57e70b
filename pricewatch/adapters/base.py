"""The interface of adapters: thin code for one site, pure and without I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, ClassVar

from scrapy.http import TextResponse

from pricewatch.items import Card, Drop, Extracted, ExtractFailure, Offer, Ok, Quarantine


class Presence(StrEnum):
    """Whether a page shows that its listing still exists."""

    ALIVE = "alive"
    GONE = "gone"
    SOLD = "sold"
    # The page does not show it: a bot wall, an empty rendering, a different page.
    UNKNOWN = "unknown"


@dataclass(slots=True)
class PresenceEvidence:
    presence: Presence
    marker: str = ""
    sold_at: datetime | None = None


@dataclass(slots=True)
class MarketQuery:
    """The fields of a market that an adapter needs to build overview URLs."""

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
    # The target of the page's own link to the next page; used to check the adapter.
    next_url: str = ""


@dataclass(slots=True)
class AmountReport:
    """One amount on a product page, and why it was chosen as the price or not."""

    amount: Decimal
    currency: str
    score: float
    is_chosen: bool
    # Why it cannot be the price; empty if it can.
    excluded: str
    # The features of the amount with their weights, the strongest first.
    features: dict[str, float]
    # Where it was found: structured data, then displayed places.
    found: list[str]
    text: str


class Adapter:
    """Base class of all adapters; a site overrides only what it needs."""

    id: ClassVar[str]
    version: ClassVar[str]
    domain: ClassVar[str]
    requires_js: ClassVar[bool] = False
    # The currency of all prices; empty if each card names its currency.
    currency: ClassVar[str] = ""
    # The site's home page, for saved data without an address.
    home: ClassVar[str] = ""
    # URL patterns of data that a rendered page requests and that changes less often than its HTML.
    page_data: ClassVar[tuple[str, ...]] = ()
    max_page_size: ClassVar[int] = 30
    # Number of pages without a new listing after which discovery stops; None uses the setting.
    stop_after_familiar_pages: ClassVar[int | None] = None
    # True if only the page of a listing shows whether it is sold or gone.
    presence_needs_page: ClassVar[bool] = False
    # True if it reads pages with CSS or XPath selectors that may be slow on some pages. Signals do not
    # interrupt libxml2, so a separate process reads the pages.
    uses_selectors: ClassVar[bool] = False

    # A CSS selector: where the price stood on other pages of the shop. Empty if the adapter does not use it.
    price_place: str = ""

    def in_currency(self, currency: str) -> Adapter:
        """The adapter for pages that do not name a currency; adapters of one site return themselves."""
        return self

    def with_price_place(self, selector: str) -> Adapter:
        """The adapter for a shop whose price stood at this place on other pages; others return themselves."""
        return self

    @property
    def search_parameters(self) -> tuple[str, ...]:
        """The market parameters that `start_pages` uses; empty if markets need explicit start pages."""
        return ()

    def start_pages(self, parameters: dict[str, Any]) -> list[str]:
        """Start pages of a market that is defined by search parameters."""
        raise NotAnOverviewAdapter(self.id)

    def overview_url(self, query: MarketQuery, page: int) -> str:
        raise NotAnOverviewAdapter(self.id)

    def read_overview(self, response: TextResponse) -> Overview | ExtractFailure:
        raise NotAnOverviewAdapter(self.id)

    def extract(self, response: TextResponse) -> Extracted | ExtractFailure | Quarantine:
        raise NotAProductAdapter(self.id)

    def explain(self, response: TextResponse) -> tuple[str, list[AmountReport]]:
        """Why the price was chosen, and the amounts of the page; adapters of one site have none."""
        return "", []

    def normalize(self, offer: Offer) -> Ok | Drop | Quarantine:
        return Ok(offer)

    def presence(self, response: TextResponse) -> PresenceEvidence:
        """Whether the listing of a successful response exists; alive unless the page says otherwise."""
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
