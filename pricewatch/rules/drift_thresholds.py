"""How well an adapter reads a source, and what follows when it no longer does.

Drift is about change. A page that was never readable counts once, not with every look; one that could be
read and no longer can counts each time, unless the rest of the shop was read well meanwhile. A site that
answers most addresses with one and the same page is down, and will be back: that is told, and no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from statistics import median

from pricewatch.items import EarlierChecks

LEAST_URLS = 20
WORST_FAILURE_RATE = 0.5
BAD_BATCHES_TO_DISABLE = 2
BASELINE_DAYS = 7
BASELINE_LEAST_RUNS = 3
# Below this share of what the adapter usually yields, a person is told; nothing is switched off by it.
LEAST_SHARE_OF_BASELINE = 0.5


@dataclass(frozen=True, slots=True)
class Rates:
    """None where nothing was attempted, so that there is nothing to divide by."""

    failure_rate: float | None
    drop_rate: float | None
    yield_rate: float | None


@dataclass(frozen=True, slots=True)
class DriftBatch:
    """What one run read of one source with one adapter."""

    attempted: int = 0
    failed: int = 0
    extracted: int = 0
    valid: int = 0
    dropped: int = 0
    quarantined: int = 0
    zero_prices: int = 0
    oos_no_price: int = 0
    availability_unknown: int = 0
    # Kept from the site by ourselves (robots.txt, the rate budget, no proxy, the end of the crawl), or not
    # there any more: that says nothing about how pages are read.
    not_asked: int = 0
    # Of those that gave no offer: known to be unreadable, and how many of them count as failed.
    known: int = 0
    known_failed: int = 0
    # Likewise, but they could be read once; and since when the first of them cannot.
    lasting: int = 0
    lasting_failed: int = 0
    lasting_since: datetime | None = None
    # How many of those that could not be read showed one and the same page.
    same: int = 0

    @classmethod
    def of(
        cls, counters: Mapping[str, int], lasting_since: datetime | None = None, same: int = 0
    ) -> DriftBatch:
        return cls(
            attempted=counters.get("urls_attempted", 0),
            failed=counters.get("urls_failed", 0),
            extracted=counters.get("offers_extracted", 0),
            valid=counters.get("offers_valid", 0),
            dropped=counters.get("offers_dropped", 0),
            quarantined=counters.get("offers_quarantined", 0),
            zero_prices=counters.get("zero_price_count", 0),
            oos_no_price=counters.get("oos_no_price_count", 0),
            availability_unknown=counters.get("availability_unknown", 0),
            not_asked=counters.get("urls_not_asked", 0) + counters.get("urls_gone", 0),
            known=counters.get("urls_known", 0),
            known_failed=counters.get("urls_known_failed", 0),
            lasting=counters.get("urls_lasting", 0),
            lasting_failed=counters.get("urls_lasting_failed", 0),
            lasting_since=lasting_since,
            same=same,
        )

    @property
    def is_site_down(self) -> bool:
        """Product pages differ: where most of those that failed do not, none of them was a product page."""
        return self.same > 1 and self.same * 2 > self.failed - self.not_asked

    def without_lasting(self) -> DriftBatch:
        """The rest of the shop is read as ever: what has been failing for a while is no news."""
        return replace(
            self,
            known=self.known + self.lasting,
            known_failed=self.known_failed + self.lasting_failed,
            lasting=0,
            lasting_failed=0,
            lasting_since=None,
        )

    @property
    def urls(self) -> int:
        """The URLs that count: out of stock without a price is expected and tells nothing."""
        return max(0, self.attempted - self.oos_no_price - self.not_asked - self.known)

    @property
    def failures(self) -> int:
        """Those of them that failed: a page whose stock nobody can tell was not read well enough either."""
        return max(0, self.failed - self.not_asked + self.availability_unknown - self.known_failed)

    @property
    def rates(self) -> Rates:
        return Rates(
            failure_rate=_rate(self.failures, self.urls),
            drop_rate=_rate(self.dropped, self.extracted),
            yield_rate=_rate(self.valid, self.urls),
        )


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is usual for an adapter: medians over a week of batches."""

    failure_rate: float | None = None
    yield_rate: float | None = None
    sample_size: int = 0

    @property
    def is_established(self) -> bool:
        return self.sample_size >= BASELINE_LEAST_RUNS


@dataclass(frozen=True, slots=True)
class Streaks:
    """Batches in a row that were bad, and in which way."""

    failed: int = 0
    empty: int = 0
    zero_price: int = 0


class DriftAlert(StrEnum):
    FAILING = "adapter_failing"
    NOTHING_EXTRACTED = "adapter_reads_nothing"
    ZERO_PRICE = "adapter_zero_price"
    LOW_YIELD = "adapter_low_yield"
    DISABLED = "adapter_disabled"


@dataclass(frozen=True, slots=True)
class DriftVerdict:
    """What a batch comes to. `judged` is False for a batch too small to say anything about the adapter."""

    judged: bool
    streaks: Streaks
    alerts: frozenset[DriftAlert] = frozenset()
    disable: str = ""

    @property
    def is_bad(self) -> bool:
        return bool(self.alerts - {DriftAlert.LOW_YIELD})


class Unread(StrEnum):
    """What it means that a page gave no offer."""

    # It was never looked at before, or the last look could read it.
    NEWS = "news"
    # It never could be read.
    KNOWN = "known"
    # It could be read once, but not at the last look either.
    LASTING = "lasting"


def unread(earlier: EarlierChecks) -> Unread:
    if earlier.unread_since is None:
        return Unread.NEWS
    return Unread.LASTING if earlier.read else Unread.KNOWN


def rates(counters: Mapping[str, int]) -> Rates:
    return DriftBatch.of(counters).rates


def judge(
    batch: DriftBatch,
    streaks: Streaks,
    baseline: Baseline | None = None,
    *,
    least_urls: int = LEAST_URLS,
    worst_failure_rate: float = WORST_FAILURE_RATE,
    bad_batches: int = BAD_BATCHES_TO_DISABLE,
) -> DriftVerdict:
    """Once bad is an alert, twice in a row disables; a small batch neither counts nor breaks a streak."""
    found = batch.rates
    if batch.urls < least_urls or found.failure_rate is None:
        alerts = frozenset({DriftAlert.ZERO_PRICE} if batch.zero_prices else ())
        return DriftVerdict(False, streaks, alerts)
    failing = found.failure_rate > worst_failure_rate
    if failing and batch.is_site_down:
        return DriftVerdict(True, streaks, frozenset({DriftAlert.FAILING}))
    empty = batch.extracted == 0
    zero = batch.zero_prices > 0
    streaks = Streaks(
        streaks.failed + 1 if failing else 0,
        streaks.empty + 1 if empty else 0,
        streaks.zero_price + 1 if zero else 0,
    )
    raised = {
        DriftAlert.FAILING: failing,
        DriftAlert.NOTHING_EXTRACTED: empty,
        DriftAlert.ZERO_PRICE: zero,
        DriftAlert.LOW_YIELD: _is_low(found.yield_rate, baseline),
    }
    reasons = [
        f"{found.failure_rate:.0%} of {batch.urls} URLs failed" if streaks.failed >= bad_batches else "",
        f"nothing was extracted from {batch.urls} URLs" if streaks.empty >= bad_batches else "",
        f"{batch.zero_prices} prices were zero" if streaks.zero_price >= bad_batches else "",
    ]
    disable = " and ".join(filter(None, reasons))
    raised[DriftAlert.DISABLED] = bool(disable)
    return DriftVerdict(True, streaks, frozenset(alert for alert, yes in raised.items() if yes), disable)


def baseline_of(batches: Sequence[tuple[float | None, float | None]]) -> Baseline:
    """Medians of (failure rate, yield rate) of a week's batches that were large enough to be judged."""
    failures = [failure for failure, _ in batches if failure is not None]
    yields = [share for _, share in batches if share is not None]
    return Baseline(
        round(median(failures), 4) if failures else None,
        round(median(yields), 4) if yields else None,
        len(batches),
    )


def _is_low(yield_rate: float | None, baseline: Baseline | None) -> bool:
    if baseline is None or not baseline.is_established or not baseline.yield_rate or yield_rate is None:
        return False
    return yield_rate < baseline.yield_rate * LEAST_SHARE_OF_BASELINE


def _rate(part: int, whole: int) -> float | None:
    return round(min(1.0, part / whole), 4) if whole > 0 else None
