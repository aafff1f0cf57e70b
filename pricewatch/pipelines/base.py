"""What the pipelines of a run share: they find the run by the crawler, and write in its transactions."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler
from sqlalchemy import Connection

from pricewatch.runs.crawl_run import run_of
from pricewatch.store.writing.batch import Batch, WriteUnit


class RunPipeline:
    """An item pipeline with a part in the transaction of every batch.

    `process_item` runs on the event loop, `write` and `end` on the thread that owns the connection.
    """

    def __init__(self, crawler: Crawler):
        self.run = run_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        """Look at an item on its way; most pipelines only write."""
        return item

    def write(self, connection: Connection, batch: Batch) -> None:
        """Write this pipeline's part of a batch, after the pipelines before it.

        It may be called again with the same items, if the transaction is rolled back. An empty batch is a
        sign of life of a run that has nothing to write.
        """

    def committed(self, unit: WriteUnit) -> None:
        """Called on the event loop for every unit that was committed."""

    def end(self, connection: Connection) -> None:
        """Write what concludes the run, in the transaction that ends it."""
