"""What the audit compares: the stored listings, the true periods of a price, and when spiders ran."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from pricewatch.bazaar.client import ShownPeriod, TruthListing
from pricewatch.simulation.time_spans import OpenSpan, Span, earlier_end

# Pages are stored a moment after the marketplace sent them.
CLOCK_TOLERANCE = timedelta(seconds=30)


class AuditRow(NamedTuple):
    """One row of the price history."""

    at: datetime
    price_cents: int | None
    currency: str | None
    availability: str


class DatedPrice(NamedTuple):
    """A stored price with the time at which it was shown, and when the product page was last read."""

    at: datetime
    price_cents: int | None
    currency: str | None
    read_at: datetime | None = None


@dataclass(slots=True)
class AuditedListing:
    """A listing as the database stores it."""

    id: int
    active: bool
    price_cents: int | None
    currency: str | None = None
    # The stored price after each run.
    dated_prices: list[DatedPrice] = field(default_factory=list)
    # When its product page was read; None if unknown.
    page_reads: Collection[datetime] | None = None
    history: list[AuditRow] = field(default_factory=list)
    # Verifications that found it gone: when the check began and ended, and its outcome.
    gone_checks: list[tuple[datetime, datetime, str]] = field(default_factory=list)


class PricePeriod(NamedTuple):
    """A period in which a listing had one price, displayed in one way."""

    begins: datetime
    ends: datetime | None
    price: int
    shown: ShownPeriod

    @property
    def amount(self) -> tuple[int, str | None]:
        return self.price, self.shown.currency

    @property
    def span(self) -> OpenSpan:
        return self.begins, self.ends

    @property
    def shows_price(self) -> bool:
        return self.shown.card_price or self.shown.page_price


def price_periods(truth: TruthListing) -> Iterator[PricePeriod]:
    """Split the life of a listing wherever its price or its display changes."""
    ends = [*(at for at, _ in truth.prices[1:]), None]
    for (begins, price), end in zip(truth.prices, ends, strict=True):
        for shown in truth.shown:
            first, last = max(begins, shown.begins), earlier_end(end, shown.ends)
            if last is None or first < last:
                yield PricePeriod(first, last, price, shown)


def periods_at(periods: list[PricePeriod], at: datetime) -> list[PricePeriod]:
    """Return the periods at an instant, including one that ended a moment before."""
    return [
        each
        for each in periods
        if each.begins <= at and (each.ends is None or each.ends >= at - CLOCK_TOLERANCE)
    ]


@dataclass(frozen=True, slots=True)
class CrawlCoverage:
    """When a set of listings was crawled, and how soon changes must be stored.

    `cycles` are complete sweeps, or rounds of targets; `check_times` are the runs that can find a listing
    gone. A listing may stay active for `grace` after it is gone, and for `long_grace` if its page redirects
    elsewhere or if many vanished at once; None if such a listing is never marked as gone. With `by_page`, the
    listings are targets, of which only the product page is read.
    """

    cycles: Sequence[Span]
    check_times: Sequence[datetime]
    grace: timedelta
    long_grace: timedelta | None = None
    by_page: bool = False

    def is_listed(self, shown: ShownPeriod) -> bool:
        """Whether the crawled pages show enough of the listing to store it."""
        return self.is_priced(shown) if self.by_page else shown.listed

    def is_priced(self, shown: ShownPeriod) -> bool:
        """Whether the crawled pages show the price."""
        if self.by_page:
            return shown.page_price and shown.page_stock != "unknown"
        return shown.card_price
