"""How well an adapter reads a source, and when that disables the adapter.

Drift is about change. A page that was never readable counts once, not on every check. A page that was
readable and no longer is counts on every check, unless the rest of the site was read well since. A site that
answers most URLs with the same page is down temporarily: that raises an alert and disables nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from statistics import median

from pricewatch.queued_work import EarlierChecks

LEAST_URLS = 20
WORST_FAILURE_RATE = 0.5
BAD_BATCHES_TO_DISABLE = 2
BASELINE_DAYS = 7
BASELINE_LEAST_RUNS = 3
# A yield below this share of the baseline raises an alert but disables nothing.
LEAST_SHARE_OF_BASELINE = 0.5


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of a batch; None where nothing was attempted."""

    failure_rate: float | None
    drop_rate: float | None
    yield_rate: float | None


@dataclass(frozen=True, slots=True)
class DriftBatch:
    """Counters of one run for one adapter and source."""

    attempted: int = 0
    failed: int = 0
    extracted: int = 0
    valid: int = 0
    dropped: int = 0
    quarantined: int = 0
    zero_prices: int = 0
    oos_no_price: int = 0
    availability_unknown: int = 0
    # Not requested (robots.txt, the rate limit, no proxy, the end of the crawl), or the listing is gone:
    # these pages say nothing about how well the adapter reads.
    not_requested: int = 0
    # Pages without an offer that never had one, and how many of them count as failed.
    known: int = 0
    known_failed: int = 0
    # Pages without an offer that once had one and had none at the last check either, and since when.
    lasting: int = 0
    lasting_failed: int = 0
    lasting_since: datetime | None = None
    # The largest number of unreadable pages with identical content.
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
            not_requested=counters.get("urls_not_asked", 0) + counters.get("urls_gone", 0),
            known=counters.get("urls_known", 0),
            known_failed=counters.get("urls_known_failed", 0),
            lasting=counters.get("urls_lasting", 0),
            lasting_failed=counters.get("urls_lasting_failed", 0),
            lasting_since=lasting_since,
            same=same,
        )

    @property
    def is_site_down(self) -> bool:
        """Return whether most failed pages are identical, so that they cannot be product pages."""
        return self.same > 1 and self.same * 2 > self.failed - self.not_requested

    def without_lasting(self) -> DriftBatch:
        """Count lasting failures as known ones, for when the rest of the site is read well."""
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
        """Return how many URLs count; out of stock without a price is expected and does not count."""
        return max(0, self.attempted - self.oos_no_price - self.not_requested - self.known)

    @property
    def failures(self) -> int:
        """Return how many of these URLs failed; an unknown availability counts as a failure."""
        return max(0, self.failed - self.not_requested + self.availability_unknown - self.known_failed)

    @property
    def rates(self) -> Rates:
        return Rates(
            failure_rate=_rate(self.failures, self.urls),
            drop_rate=_rate(self.dropped, self.extracted),
            yield_rate=_rate(self.valid, self.urls),
        )


@dataclass(frozen=True, slots=True)
class Baseline:
    """The usual rates of an adapter: medians over a week of batches."""

    failure_rate: float | None = None
    yield_rate: float | None = None
    sample_size: int = 0

    @property
    def is_established(self) -> bool:
        return self.sample_size >= BASELINE_LEAST_RUNS


@dataclass(frozen=True, slots=True)
class Streaks:
    """Numbers of consecutive bad batches, by kind."""

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
    """The result of a batch; `judged` is False if the batch is too small to judge the adapter."""

    judged: bool
    streaks: Streaks
    alerts: frozenset[DriftAlert] = frozenset()
    disable: str = ""

    @property
    def is_bad(self) -> bool:
        return bool(self.alerts - {DriftAlert.LOW_YIELD})


class Unread(StrEnum):
    """How a page without an offer relates to earlier checks of the page."""

    # It was never checked before, or the last check could read it.
    NEW = "new"
    # No check could ever read it.
    KNOWN = "known"
    # An earlier check could read it, but the last check could not.
    LASTING = "lasting"


def unread(earlier: EarlierChecks) -> Unread:
    if earlier.unread_since is None:
        return Unread.NEW
    return Unread.LASTING if earlier.read else Unread.KNOWN


def rates(counters: Mapping[str, int]) -> Rates:
    return DriftBatch.of(counters).rates


def judge_batch(
    batch: DriftBatch,
    streaks: Streaks,
    baseline: Baseline | None = None,
    *,
    least_urls: int = LEAST_URLS,
    worst_failure_rate: float = WORST_FAILURE_RATE,
    bad_batches: int = BAD_BATCHES_TO_DISABLE,
) -> DriftVerdict:
    """Alert on one bad batch, disable after two in a row; a small batch neither counts nor ends a streak."""
    measured = batch.rates
    if batch.urls < least_urls or measured.failure_rate is None:
        alerts = frozenset({DriftAlert.ZERO_PRICE} if batch.zero_prices else ())
        return DriftVerdict(False, streaks, alerts)
    failing = measured.failure_rate > worst_failure_rate
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
        DriftAlert.LOW_YIELD: _is_low(measured.yield_rate, baseline),
    }
    reasons = [
        f"{measured.failure_rate:.0%} of {batch.urls} URLs failed" if streaks.failed >= bad_batches else "",
        f"nothing was extracted from {batch.urls} URLs" if streaks.empty >= bad_batches else "",
        f"{batch.zero_prices} prices were zero" if streaks.zero_price >= bad_batches else "",
    ]
    disable = " and ".join(filter(None, reasons))
    raised[DriftAlert.DISABLED] = bool(disable)
    return DriftVerdict(True, streaks, frozenset(alert for alert, yes in raised.items() if yes), disable)


def baseline_of(batches: Sequence[tuple[float | None, float | None]]) -> Baseline:
    """Return the medians of the (failure rate, yield rate) pairs of the batches that were judged."""
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
