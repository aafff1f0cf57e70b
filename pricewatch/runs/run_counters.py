"""The counters, reasons, errors and outcome of a run, which become fields of its row."""

from __future__ import annotations

import logging
from collections import Counter
from datetime import datetime
from typing import Any

from scrapy.crawler import Crawler

from pricewatch import clock
from pricewatch.rules.custom_spiders import is_custom_spider
from pricewatch.rules.metric_names import metric_key
from pricewatch.store.writing import run_rows
from pricewatch.store.writing.batch import WriteCounts, WriteUnit
from pricewatch.vocabulary import QuarantineReason, RunStatus

logger = logging.getLogger(__name__)

# Counters that the event loop maintains; the write counts of a batch are added in its transaction.
LOOP_COUNTERS = (
    "skipped_listings",
    "details",
    "gone",
    "urls_attempted",
    "urls_succeeded",
    "urls_failed",
    "offers_extracted",
    "offers_valid",
    "offers_dropped",
    "offers_quarantined",
    "zero_price_count",
    "oos_no_price_count",
)


class RunCounters:
    """What a run has counted and concluded so far."""

    def __init__(self, crawler: Crawler, spider: str, **fields: Any):
        self.crawler = crawler
        self.spider = spider
        self.fields = fields
        self.id = 0
        self.status: RunStatus | None = None
        self.outcome: str | None = None
        self.verdict: tuple[RunStatus, str] | None = None
        self.partial = False
        self.counters: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.stored = WriteCounts()
        self.pages = 0
        self.cards = 0
        self.progress: dict[str, Any] = {}
        self.errors: list[dict[str, Any]] = []
        self.remarks: list[str] = []
        self.started_at: datetime = clock.now()

    @property
    def market_id(self) -> str | None:
        return self.fields.get("market_id")

    @property
    def source_id(self) -> str | None:
        return self.fields.get("source_id")

    @property
    def adapter_id(self) -> str | None:
        """The adapter or custom spider that reads the pages, if there is only one."""
        return self.fields.get("adapter_id")

    def count(self, counter: str, amount: int = 1) -> None:
        self.counters[counter] += amount

    def note(self, reason: str, amount: int = 1) -> None:
        """Count an outcome by its reason, in the run's row and in Scrapy's stats."""
        self.reasons[reason] += amount
        self.crawler.stats.inc_value(f"pricewatch/{reason}", amount)

    def count_metric(self, name: str, *labels: str, amount: float = 1) -> None:
        """Add to a metric; its value is stored with the run."""
        self.crawler.stats.inc_value(metric_key(name, *labels), amount)  # type: ignore[arg-type]

    def error(self, message: str, **details: Any) -> None:
        logger.warning("%s %s", message, details or "")
        if len(self.errors) < run_rows.MAX_ERRORS:
            self.errors.append({"at": clock.now().isoformat(), "error": message, **details})

    def remark(self, message: str) -> None:
        """Record a problem that a person should look at, in the run's row and summary; the run continues."""
        self.error(message)
        self.remarks.append(message)

    def conclude(self, status: RunStatus, reason: str, *, partial: bool = False) -> None:
        """Set the final status of the run; the first call wins."""
        if self.verdict is None:
            self.verdict = (status, reason)
        self.partial = self.partial or partial

    def summary(self) -> str:
        """Return the run in one line, for the log and the terminal, followed by its remarks."""
        seconds = (clock.now() - self.started_at).total_seconds()
        # The pages of a custom spider are not overview pages.
        pages = self.counters["urls_succeeded"] if is_custom_spider(self.adapter_id) else self.pages
        return (
            f"run {self.id} {self.status} in {seconds:.1f} s: {pages} pages, {self.cards} cards, "
            f"{self.stored.new} new, {self.stored.updated} known, {self.counters['details']} details, "
            f"{self.stored.price_rows} price rows, {self.counters['offers_dropped']} dropped, "
            f"{self.counters['offers_quarantined']} quarantined, {self.counters['urls_failed']} failed"
            + "".join(f"\nATTENTION: {message}" for message in self.remarks)
        )

    def outcome_for(self, scrapy_reason: str) -> tuple[RunStatus, str | None]:
        """Return the status of the run and why, from its verdict or from why Scrapy closed the spider."""
        if self.verdict is not None:
            return self.verdict
        if scrapy_reason == "shutdown":
            return RunStatus.CANCELLED, "stopped by a signal"
        if exceptions := self.crawler.stats.get_value("spider_exceptions/count", 0):
            return RunStatus.FAILED, f"{exceptions} errors in the spider's code; see the log"
        if scrapy_reason != "finished":
            return RunStatus.FAILED, scrapy_reason
        return RunStatus.FINISHED, None

    def row_values(self) -> dict[str, Any]:
        """Return the current values of the columns in `runs`."""
        return {
            **{name: self.counters[name] for name in LOOP_COUNTERS},
            "partial": self.partial,
            "reasons": dict(self.reasons),
            "progress": dict(self.progress),
            "errors": list(self.errors),
        }

    def count_stored(self, unit: WriteUnit) -> None:
        """Add the counts of a unit that was committed."""
        counts = unit.counts
        self.stored.add(counts)
        self.count("details", unit.details)
        if counts.quarantined:
            self.count("offers_quarantined", counts.quarantined)
            self.count("offers_valid", -counts.quarantined_offers)
            self.note("quarantined/price_jump", counts.quarantined)
            labels = *unit.read_from, QuarantineReason.VALIDATION_FAILED
            self.count_metric("scrape_offers_quarantined_total", *labels, amount=counts.quarantined)
        self.count_refused(unit)

    def count_refused(self, unit: WriteUnit) -> None:
        """Count the rows of a unit that the database refused."""
        for row, reason in unit.refused:
            self.count("offers_dropped")
            self.note("refused_by_database")
            self.error("The database refused a row", url=row["url"], reason=reason)

    def lost(self, reason: str) -> None:
        """Record that something was fetched but could not be stored, so the run has failed."""
        self.note("lost")
        self.error("Lost", reason=reason)
        self.conclude(RunStatus.FAILED, f"{reason}; see the log")
