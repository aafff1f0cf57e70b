"""The run of a crawl: its row, its counters, and the writer that takes what it finds to the database."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, NotConfigured
from sqlalchemy import Connection

from pricewatch import clock
from pricewatch.errors import DatabaseUnavailable, UserError
from pricewatch.rules.custom_spiders import is_spider
from pricewatch.rules.drift_thresholds import rates
from pricewatch.rules.metric_names import key
from pricewatch.store.engine.database import engine
from pricewatch.store.writing import adapter_status, market_rows, run_rows, source_rows
from pricewatch.store.writing.batch import Batch, WriteCounts, WriteUnit
from pricewatch.store.writing.batch import reason as why
from pricewatch.store.writing.source_rows import SourceRecord
from pricewatch.store.writing.writer import Writer
from pricewatch.vocabulary import PageOutcome, QuarantineReason, RunStatus

if TYPE_CHECKING:
    from pricewatch.pipelines.base import RunPipeline

logger = logging.getLogger(__name__)
T = TypeVar("T")
# On the crawler itself, so that both go together: a table beside it would keep every crawl for ever.
ATTRIBUTE = "_pricewatch_run"

# Counters that the event loop keeps; those that a batch adds to come from its tally.
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


def run_of(crawler: Crawler) -> CrawlRun:
    """The run of this crawl; a component of a crawl without one is not configured."""
    run: CrawlRun | None = crawler.__dict__.get(ATTRIBUTE)
    if run is None:
        raise NotConfigured
    return run


class CrawlRun:
    """One execution of a spider, from its row in `runs` to the thread that writes what it finds."""

    def __init__(self, crawler: Crawler, spider: str, **fields: Any):
        self.crawler = crawler
        self.spider = spider
        self.fields = fields
        self.id = 0
        # Those that take part in the transactions of this run, in the order of ITEM_PIPELINES.
        self.pipelines: Sequence[RunPipeline] = ()
        self.status: RunStatus | None = None
        self.outcome: str | None = None
        self.verdict: tuple[RunStatus, str] | None = None
        self.partial = False
        self.counters: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        # Called inside transactions: with every batch and sign of life, and with the end of the run.
        self.with_batch: list[Callable[[Connection], None]] = []
        self.with_end: list[Callable[[Connection], None]] = []
        self.stored = WriteCounts()
        self.pages = 0
        self.cards = 0
        self.progress: dict[str, Any] = {}
        self.errors: list[dict[str, Any]] = []
        self.remarks: list[str] = []
        self.started_at: datetime = clock.now()
        self._writer: Writer | None = None
        self._closing: asyncio.Future[None] | None = None
        crawler.__dict__[ATTRIBUTE] = self

    @property
    def market_id(self) -> str | None:
        return self.fields.get("market_id")

    @property
    def source_id(self) -> str | None:
        return self.fields.get("source_id")

    @property
    def adapter_id(self) -> str | None:
        """What reads its pages, where that is one adapter or the spider itself."""
        return self.fields.get("adapter_id")

    async def open(
        self,
        pipelines: Sequence[RunPipeline],
        find_source: Callable[[Connection], SourceRecord] | None = None,
    ) -> None:
        """Start the writer and insert the run's row; `find_source` is for a spider that names no source."""
        self.pipelines = pipelines
        settings = self.crawler.settings
        self._writer = Writer(
            engine(),
            max_rows=settings.getint("WRITE_BATCH_ROWS"),
            max_wait_ms=settings.getint("WRITE_BATCH_WAIT_MS"),
            max_pending=settings.getint("WRITE_QUEUE_UNITS"),
            retry_seconds=settings.getfloat("DATABASE_RETRY_SECONDS"),
            heartbeat_seconds=settings.getfloat("RUN_HEARTBEAT_SECONDS"),
        )
        if find_source is not None:
            # Committed before the run may be refused, so that there is a source to approve.
            source = await self.writer.call(find_source)
            source_rows.check_approved(source)
            self.fields["source_id"] = source.id
        self.started_at = clock.now()
        self.id = await self.writer.call(self._open_row)
        self._writer.run_id = self.id
        self._writer.market_id = self.market_id
        self._writer.writes = [*(pipeline.write for pipeline in pipelines), self._record_batch]
        self._writer.on_stored = self._unit_stored
        self._writer.on_refused = self._unit_refused
        self._writer.on_failure = self._database_lost
        logger.info("Run %d started", self.id)

    def _open_row(self, connection: Connection) -> int:
        watched = adapter_status.begin(
            connection, self.fields.get("adapter_id"), self.fields.get("source_id")
        )
        return run_rows.open_run(
            connection, now=self.started_at, spider=self.spider, watched=watched, **self.fields
        )

    @property
    def writer(self) -> Writer:
        if self._writer is None:
            raise RuntimeError("the run has not been opened")
        return self._writer

    async def call(self, function: Callable[[Connection], T]) -> T:
        """Run a function of the store on the database thread; where that cannot go on, nor can the run."""
        try:
            return await self.writer.call(function)
        except UserError as error:
            self.conclude(RunStatus.FAILED, str(error))
            raise CloseSpider("store") from error

    async def write(self, unit: WriteUnit) -> None:
        """Hand an item over to the writer, whose thread lets the pipelines write it."""
        await self.writer.write(unit)

    async def flush(self) -> None:
        """Wait until everything that was handed over is committed."""
        await self.writer.flush()

    def count(self, counter: str, amount: int = 1) -> None:
        self.counters[counter] += amount

    def note(self, reason: str, amount: int = 1) -> None:
        """Count an outcome by its reason: on the run row and in Scrapy's stats alike."""
        self.reasons[reason] += amount
        self.crawler.stats.inc_value(f"pricewatch/{reason}", amount)

    def figure(self, name: str, *labels: str, amount: float = 1) -> None:
        """Count towards a metric; what it comes to is kept in the database with the run."""
        self.crawler.stats.inc_value(key(name, *labels), amount)  # type: ignore[arg-type]

    def error(self, what: str, **details: Any) -> None:
        logger.warning("%s %s", what, details or "")
        if len(self.errors) < run_rows.MOST_ERRORS_KEPT:
            self.errors.append({"at": clock.now().isoformat(), "error": what, **details})

    def remark(self, sentence: str) -> None:
        """Something that a person should look at, though the run goes on: on its row and in its summary."""
        self.error(sentence)
        self.remarks.append(sentence)

    async def page(self, *, url: str, outcome: PageOutcome, **fields: Any) -> None:
        """Record a page that brought nothing to store."""
        at = clock.now()
        self.pages += 1
        self.note(f"page/{outcome}")

        def add(connection: Connection) -> None:
            run_rows.add_page(connection, self.id, url=url, outcome=outcome, fetched_at=at, **fields)
            run_rows.record(connection, self.id, {"pages": 1}, self._values())

        try:
            await self.call(add)
        except CloseSpider as error:
            # Not raised, because an errback waits here, and Scrapy would blame the download.
            self.end_crawl(error.reason)

    def conclude(self, status: RunStatus, reason: str, *, partial: bool = False) -> None:
        """What this run comes to, decided by its spider; the first verdict stands."""
        if self.verdict is None:
            self.verdict = (status, reason)
        self.partial = self.partial or partial

    async def close(self, scrapy_reason: str) -> None:
        """Write what is left, then the end of the run itself."""
        try:
            if self._writer is not None and self.id:
                # Only now are the counters what they will be.
                await self._writer.flush()
                outcome = self._outcome(scrapy_reason)
                await self._writer.call(lambda connection: self._close_row(connection, *outcome))
        except DatabaseUnavailable as error:
            self.conclude(RunStatus.FAILED, str(error))
        finally:
            self.status, self.outcome = self._outcome(scrapy_reason)
            if self._writer is not None:
                await self._writer.close()
        logger.info("Run %d %s%s", self.id, self.status, f": {self.outcome}" if self.outcome else "")
        logger.info(self.summary())

    def summary(self) -> str:
        """The run in one line, for the log and for a person at a terminal."""
        seconds = (clock.now() - self.started_at).total_seconds()
        # A spider of another kind has pages, whatever is on them.
        pages = self.counters["urls_succeeded"] if is_spider(self.adapter_id) else self.pages
        return (
            f"run {self.id} {self.status} in {seconds:.1f} s: {pages} pages, {self.cards} cards, "
            f"{self.stored.new} new, {self.stored.updated} known, {self.counters['details']} details, "
            f"{self.stored.price_rows} price rows, {self.counters['offers_dropped']} dropped, "
            f"{self.counters['offers_quarantined']} quarantined, {self.counters['urls_failed']} failed"
            + "".join(f"\nLOOK: {sentence}" for sentence in self.remarks)
        )

    def _outcome(self, scrapy_reason: str) -> tuple[RunStatus, str | None]:
        if self.verdict is not None:
            return self.verdict
        if scrapy_reason == "shutdown":
            return RunStatus.CANCELLED, "stopped by a signal"
        if exceptions := self.crawler.stats.get_value("spider_exceptions/count", 0):
            return RunStatus.FAILED, f"{exceptions} errors in the spider's own code; see the log"
        if scrapy_reason != "finished":
            return RunStatus.FAILED, scrapy_reason
        return RunStatus.FINISHED, None

    def _close_row(self, connection: Connection, status: RunStatus, reason: str | None) -> None:
        now = clock.now()
        found = rates(self.counters)
        run_rows.close_run(
            connection,
            self.id,
            status,
            reason,
            finished_at=now,
            failure_rate=found.failure_rate,
            drop_rate=found.drop_rate,
            yield_rate=found.yield_rate,
            **self._values(),
        )
        for pipeline in self.pipelines:
            pipeline.end(connection)
        for write in self.with_end:
            write(connection)
        if self.market_id is not None and status is not RunStatus.CANCELLED:
            failed = status is not RunStatus.FINISHED
            market_rows.note_run(
                connection,
                self.market_id,
                spider=self.spider,
                status="failed" if failed else "partial" if self.partial else "completed",
                at=now,
                failed=failed,
            )

    def _record_batch(self, connection: Connection, batch: Batch) -> None:
        """The last of every transaction: the run's row tells how far it is."""
        batch.count(connection)
        total = WriteCounts()
        for unit in batch.units:
            total.add(unit.counts)
        added = {
            "new_listings": total.new,
            "updated_listings": total.updated,
            "price_rows": total.price_rows,
            "pages": total.pages,
            "cards": total.cards,
        }
        run_rows.record(connection, self.id, added, self._values())
        for write in self.with_batch:
            write(connection)

    def _values(self) -> dict[str, Any]:
        return {
            **{name: self.counters[name] for name in LOOP_COUNTERS},
            "partial": self.partial,
            "reasons": dict(self.reasons),
            "progress": dict(self.progress),
            "errors": list(self.errors),
        }

    def _unit_stored(self, unit: WriteUnit) -> None:
        counts = unit.counts
        self.stored.add(counts)
        self.count("details", unit.details)
        if counts.held:
            self.count("offers_quarantined", counts.held)
            self.count("offers_valid", -counts.held_offers)
            self.note("quarantined/price_jump", counts.held)
            labels = *unit.read_from, QuarantineReason.VALIDATION_FAILED
            self.figure("scrape_offers_quarantined_total", *labels, amount=counts.held)
        self._count_refused(unit)
        for pipeline in self.pipelines:
            pipeline.committed(unit)

    def _unit_refused(self, unit: WriteUnit, error: BaseException) -> None:
        self._count_refused(unit)
        self.lost(f"part of the crawl could not be stored ({why(error)})")

    def _count_refused(self, unit: WriteUnit) -> None:
        for row, reason in unit.refused:
            self.count("offers_dropped")
            self.note("refused_by_database")
            self.error("The database refused a row", url=row["url"], reason=reason)

    def lost(self, what: str) -> None:
        """Something was fetched and is not stored, by no fault of its own: such a run has failed."""
        self.note("lost")
        self.error("Lost", reason=what)
        self.conclude(RunStatus.FAILED, f"{what}; see the log")

    def _database_lost(self, error: DatabaseUnavailable) -> None:
        self.conclude(RunStatus.FAILED, str(error))
        self.end_crawl("database_unavailable")

    def end_crawl(self, scrapy_reason: str) -> None:
        """Let what is under way come to an end, and start nothing more."""
        engine = self.crawler.engine
        if self._closing is None and engine is not None and engine.spider is not None:
            self._closing = asyncio.ensure_future(engine.close_spider_async(reason=scrapy_reason))
