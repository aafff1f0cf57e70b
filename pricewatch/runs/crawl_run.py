"""The run of a crawl: its row in the database and the writer that stores its items."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, NotConfigured
from sqlalchemy import Connection

from pricewatch import clock
from pricewatch.errors import DatabaseUnavailable, UserError
from pricewatch.rules.drift_thresholds import rates
from pricewatch.runs.run_counters import RunCounters
from pricewatch.store.engine.database import engine
from pricewatch.store.operations import adapter_status
from pricewatch.store.source_registry import market_rows, source_rows
from pricewatch.store.source_registry.source_rows import SourceRecord
from pricewatch.store.writing import run_rows
from pricewatch.store.writing.batch import Batch, WriteCounts, WriteUnit
from pricewatch.store.writing.batch import reason as why
from pricewatch.store.writing.writer import Writer
from pricewatch.vocabulary import PageOutcome, RunStatus

if TYPE_CHECKING:
    from pricewatch.pipelines.base import RunPipeline

logger = logging.getLogger(__name__)
T = TypeVar("T")
# An attribute of the crawler, so that the run is freed together with the crawler.
ATTRIBUTE = "_pricewatch_run"


def run_of(crawler: Crawler) -> CrawlRun:
    """Return the run of this crawl; raise `NotConfigured` if it has none, which disables the component."""
    run: CrawlRun | None = crawler.__dict__.get(ATTRIBUTE)
    if run is None:
        raise NotConfigured
    return run


class CrawlRun(RunCounters):
    """One execution of a spider: its row in `runs`, and the writer thread that stores its items."""

    def __init__(self, crawler: Crawler, spider: str, **fields: Any):
        super().__init__(crawler, spider, **fields)
        # The pipelines that take part in this run's transactions, in the order of ITEM_PIPELINES.
        self.pipelines: Sequence[RunPipeline] = ()
        # Called inside transactions: with every batch and heartbeat, and at the end of the run.
        self.with_batch: list[Callable[[Connection], None]] = []
        self.with_end: list[Callable[[Connection], None]] = []
        self._writer: Writer | None = None
        self._closing: asyncio.Future[None] | None = None
        crawler.__dict__[ATTRIBUTE] = self

    async def open(
        self,
        pipelines: Sequence[RunPipeline],
        find_source: Callable[[Connection], SourceRecord] | None = None,
    ) -> None:
        """Start the writer and insert the run's row; `find_source` returns the source of a custom spider."""
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
            # Committed even if the run is refused, so that there is a source to approve.
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
        watched = adapter_status.check_enabled(
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
        """Run a store function on the database thread; if it raises `UserError`, the run fails and ends."""
        try:
            return await self.writer.call(function)
        except UserError as error:
            self.conclude(RunStatus.FAILED, str(error))
            raise CloseSpider("store") from error

    async def write(self, unit: WriteUnit) -> None:
        """Queue an item for the writer, whose thread calls the pipelines to write it."""
        await self.writer.write(unit)

    async def flush(self) -> None:
        """Wait until everything that was queued is committed."""
        await self.writer.flush()

    async def page(self, *, url: str, outcome: PageOutcome, **fields: Any) -> None:
        """Record a page with nothing to store."""
        at = clock.now()
        self.pages += 1
        self.note(f"page/{outcome}")

        def add(connection: Connection) -> None:
            run_rows.add_page(connection, self.id, url=url, outcome=outcome, fetched_at=at, **fields)
            run_rows.update_run(connection, self.id, {"pages": 1}, self.row_values())

        try:
            await self.call(add)
        except CloseSpider as error:
            # Not raised: this runs inside an errback, where Scrapy would report a download error.
            self.end_crawl(error.reason)

    async def close(self, scrapy_reason: str) -> None:
        """Write the queued items, then the end of the run."""
        try:
            if self._writer is not None and self.id:
                # The counters are final only now.
                await self._writer.flush()
                outcome = self.outcome_for(scrapy_reason)
                await self._writer.call(lambda connection: self._close_row(connection, *outcome))
        except DatabaseUnavailable as error:
            self.conclude(RunStatus.FAILED, str(error))
        finally:
            self.status, self.outcome = self.outcome_for(scrapy_reason)
            if self._writer is not None:
                await self._writer.close()
        logger.info("Run %d %s%s", self.id, self.status, f": {self.outcome}" if self.outcome else "")
        logger.info(self.summary())

    def _close_row(self, connection: Connection, status: RunStatus, reason: str | None) -> None:
        now = clock.now()
        measured = rates(self.counters)
        run_rows.close_run(
            connection,
            self.id,
            status,
            reason,
            finished_at=now,
            failure_rate=measured.failure_rate,
            drop_rate=measured.drop_rate,
            yield_rate=measured.yield_rate,
            **self.row_values(),
        )
        for pipeline in self.pipelines:
            pipeline.end(connection)
        for write in self.with_end:
            write(connection)
        if self.market_id is not None and status is not RunStatus.CANCELLED:
            failed = status is not RunStatus.FINISHED
            market_rows.record_run(
                connection,
                self.market_id,
                spider=self.spider,
                status="failed" if failed else "partial" if self.partial else "completed",
                at=now,
                failed=failed,
            )

    def _record_batch(self, connection: Connection, batch: Batch) -> None:
        """Update the run's row at the end of every transaction."""
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
        run_rows.update_run(connection, self.id, added, self.row_values())
        for write in self.with_batch:
            write(connection)

    def _unit_stored(self, unit: WriteUnit) -> None:
        self.count_stored(unit)
        for pipeline in self.pipelines:
            pipeline.committed(unit)

    def _unit_refused(self, unit: WriteUnit, error: BaseException) -> None:
        self.count_refused(unit)
        self.lost(f"part of the crawl could not be stored ({why(error)})")

    def _database_lost(self, error: DatabaseUnavailable) -> None:
        self.conclude(RunStatus.FAILED, str(error))
        self.end_crawl("database_unavailable")

    def end_crawl(self, scrapy_reason: str) -> None:
        """Finish the requests and items in progress, and start no more."""
        engine = self.crawler.engine
        if self._closing is None and engine is not None and engine.spider is not None:
            self._closing = asyncio.ensure_future(engine.close_spider_async(reason=scrapy_reason))
