"""Drift: count how well each adapter reads each source, and judge it when the run ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime
from typing import Any

from scrapy.crawler import Crawler
from sqlalchemy import Connection

from pricewatch import clock
from pricewatch.items import ProductPage, UnreadPage
from pricewatch.pipelines.base import RunPipeline
from pricewatch.queued_work import EarlierChecks
from pricewatch.rules.custom_spiders import is_custom_spider
from pricewatch.rules.drift_thresholds import DriftBatch, Rates, Unread, rates, unread
from pricewatch.store.operations import adapter_batches
from pricewatch.vocabulary import DropReason, FailureReason, QuarantineReason

ReadFrom = tuple[str, str]


class DriftPipeline(RunPipeline):
    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        self.stats = crawler.stats
        # By adapter and source.
        self._counters: defaultdict[ReadFrom, Counter[str]] = defaultdict(Counter)
        self._lasting_since: dict[ReadFrom, datetime] = {}
        self._unread_pages: defaultdict[ReadFrom, Counter[bytes]] = defaultdict(Counter)

    async def process_item(self, item: Any) -> Any:
        if isinstance(item, ProductPage) and not is_custom_spider(item.adapter_id):
            self._count_product(item)
        elif isinstance(item, UnreadPage):
            self._count_unread(item)
        elif isinstance(item, ProductPage) and _is_zero(item):
            self.run.count("zero_price_count")
        return item

    def end(self, connection: Connection) -> None:
        adapter_batches.judge_run(connection, self.run.id, self._batches(), clock.now())

    async def close_spider(self) -> None:
        measured = rates(self.run.counters)
        for name in Rates.__slots__:
            if (rate := getattr(measured, name)) is not None:
                self.stats.set_value(f"pricewatch/drift/{name}", rate)

    def _batches(self) -> dict[ReadFrom, DriftBatch]:
        reader, source = self.run.adapter_id, self.run.source_id
        if reader is not None and source is not None and is_custom_spider(reader):
            # A custom spider reads all pages of its run itself.
            return {(reader, source): DriftBatch.of(self.run.counters)}
        return {
            read_from: DriftBatch.of(
                counters,
                self._lasting_since.get(read_from),
                max(self._unread_pages[read_from].values(), default=0),
            )
            for read_from, counters in self._counters.items()
        }

    def _count_product(self, page: ProductPage) -> None:
        read_from = page.adapter_id, page.offer.source
        counters = self._counters[read_from]
        counters["urls_attempted"] += 1
        if page.quarantine is None or page.quarantine.offer is not None:
            counters["offers_extracted"] += 1
        if page.quarantine is not None:
            counters["offers_quarantined"] += 1
            kind = self._note_unread(read_from, page.earlier, failed=False)
            if _is_zero(page):
                self.run.count("zero_price_count")
                counters["zero_price_count"] += kind is not Unread.KNOWN
        elif page.dropped is not None:
            counters["offers_dropped"] += 1
            unknown = page.dropped.reason is DropReason.UNKNOWN_AVAILABILITY
            if unknown:
                self._count(read_from, "availability_unknown")
            if page.dropped.reason is not DropReason.DUPLICATE_WITHIN_RUN:
                self._note_unread(read_from, page.earlier, failed=unknown)
        else:
            counters["offers_valid"] += 1

    def _count_unread(self, page: UnreadPage) -> None:
        read_from = page.adapter_id, page.source
        if not page.has_adapter:
            return
        counters = self._counters[read_from]
        counters["urls_attempted"] += 1
        if not page.requested:
            # Not sent to the site: says nothing about how well the adapter reads.
            counters["urls_failed"] += 1
            counters["urls_not_asked"] += 1
        elif page.reason == FailureReason.OOS_NO_PRICE:
            counters["oos_no_price_count"] += 1
        elif page.is_failure:
            counters["urls_failed"] += 1
            counters["offers_quarantined"] += page.saved_page is not None
            if page.gone and page.listing_id is not None:
                self._count(read_from, "urls_gone")
            else:
                self._note_unread(read_from, page.earlier, failed=True)
            if page.fingerprint:
                self._unread_pages[read_from][page.fingerprint] += 1

    def _note_unread(self, read_from: ReadFrom, earlier: EarlierChecks, *, failed: bool) -> Unread:
        """Count a page without an offer by its earlier checks; `failed` if it counts as a failure."""
        kind = unread(earlier)
        if kind is not Unread.NEW:
            self._count(read_from, f"urls_{kind}")
            self._count(read_from, f"urls_{kind}_failed", int(failed))
        if kind is Unread.LASTING and earlier.unread_since is not None:
            since = self._lasting_since.get(read_from, earlier.unread_since)
            self._lasting_since[read_from] = min(since, earlier.unread_since)
        return kind

    def _count(self, read_from: ReadFrom, counter: str, amount: int = 1) -> None:
        """Count for this adapter and source, and for the run, whose rates use it too."""
        self._counters[read_from][counter] += amount
        self.run.count(counter, amount)


def _is_zero(page: ProductPage) -> bool:
    return page.quarantine is not None and page.quarantine.reason is QuarantineReason.ZERO_PRICE_EXTRACTED
