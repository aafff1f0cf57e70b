"""The base of the pipelines, which write in the transactions of the run."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler
from sqlalchemy import Connection

from pricewatch.runs.crawl_run import run_of
from pricewatch.store.writing.batch import Batch, WriteUnit


class RunPipeline:
    """An item pipeline that takes part in the transaction of every batch.

    `process_item` runs on the event loop, `write` and `end` on the thread that owns the connection.
    """

    def __init__(self, crawler: Crawler):
        self.run = run_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        """Process an item; most pipelines only write."""
        return item

    def write(self, connection: Connection, batch: Batch) -> None:
        """Write this pipeline's part of a batch, after the pipelines before it.

        It is called again with the same items if the transaction is rolled back. An empty batch is a
        heartbeat of a run that has nothing to write.
        """

    def committed(self, unit: WriteUnit) -> None:
        """Called on the event loop for every committed unit."""

    def end(self, connection: Connection) -> None:
        """Write the conclusions of the run, in the transaction that ends it."""
