"""What product pages told is tied to products: some at a time, and the rest when the crawl ends."""

from __future__ import annotations

import logging
from typing import Any

from scrapy.crawler import Crawler
from sqlalchemy import Connection

from pricewatch import clock
from pricewatch.errors import DatabaseUnavailable
from pricewatch.items import ProductPage
from pricewatch.pipelines.base import RunPipeline
from pricewatch.store.writing import product_links
from pricewatch.store.writing.batch import Batch

logger = logging.getLogger(__name__)
MOST_RESOLVED = 10_000


class ProductsPipeline(RunPipeline):
    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        self._every = crawler.settings.getint("RESOLVE_EVERY_PAGES")
        self._pages = 0

    async def process_item(self, item: Any) -> Any:
        """While the crawl goes on, the database thread has time for it; at the end, everybody would wait."""
        if isinstance(item, ProductPage):
            self._pages += 1
            if self._every and self._pages % self._every == 0:
                await self._resolve(most_chunks=1)
        return item

    def write(self, connection: Connection, batch: Batch) -> None:
        """Whatever a page told for the first time asks to be resolved."""
        if batch.has_details:
            product_links.request(connection, batch)

    async def close_spider(self) -> None:
        """Bounded, so that a backlog does not keep a run from ending; `scrapy resolve` does the rest."""
        await self._resolve(most_chunks=MOST_RESOLVED // product_links.CHUNK)

    async def _resolve(self, most_chunks: int) -> None:
        run = self.run
        try:
            if run.id:
                await run.flush()
            if run.counters["details"]:
                await self._resolve_chunks(most_chunks)
        except DatabaseUnavailable:
            # The run has failed already, and says so.
            run.note("resolver_error")
        except Exception:
            # What the run brought is stored: what could not be resolved asks again by itself.
            logger.exception("Listings could not be tied to products")
            run.note("resolver_error")

    async def _resolve_chunks(self, most: int) -> None:
        for _ in range(most):
            done = await self.run.writer.call(
                lambda connection: product_links.resolve(connection, clock.now())
            )
            if done < product_links.CHUNK:
                return
