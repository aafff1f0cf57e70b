"""Export one row to the feeds for each accepted listing, after it is committed."""

from __future__ import annotations

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from sqlalchemy import Connection

from pricewatch.extensions.feeds import listing_stored
from pricewatch.items import CheckedListings
from pricewatch.pipelines.base import RunPipeline
from pricewatch.store.writing import feed_rows
from pricewatch.store.writing.batch import Batch, WriteUnit


class FeedPipeline(RunPipeline):
    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        if not crawler.settings["FEEDS"] and not crawler.settings["FEED_URI"]:
            raise NotConfigured
        self.crawler = crawler

    def write(self, connection: Connection, batch: Batch) -> None:
        for unit in batch.units:
            unit.exported = []
        if batch.has_rows:
            for number, row in feed_rows.accepted(connection):
                batch.units[number].exported.append(row)
        for unit, checked in batch.of(CheckedListings):
            checks = {check.listing_id: check for check in checked.checks}
            unit.exported = feed_rows.checked(connection, checks)

    def committed(self, unit: WriteUnit) -> None:
        for row in unit.exported:
            self.crawler.signals.send_catch_log(
                signal=listing_stored, listing=row, spider=self.crawler.spider
            )
