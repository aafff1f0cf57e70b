"""Link listings to products: in chunks during the crawl, and the rest when it ends."""

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
        """Link one chunk while the database thread has spare time, so that less is left at the end."""
        if isinstance(item, ProductPage):
            self._pages += 1
            if self._every and self._pages % self._every == 0:
                await self._resolve(most_chunks=1)
        return item

    def write(self, connection: Connection, batch: Batch) -> None:
        """Request resolution for listings whose identifying fields are new."""
        if batch.has_details:
            product_links.request_changed(connection, batch)

    async def close_spider(self) -> None:
        """Resolve a limited number, so that a backlog does not delay the end of the run."""
        await self._resolve(most_chunks=MOST_RESOLVED // product_links.CHUNK_SIZE)

    async def _resolve(self, most_chunks: int) -> None:
        run = self.run
        try:
            if run.id:
                await run.flush()
            if run.counters["details"]:
                await self._resolve_chunks(most_chunks)
        except DatabaseUnavailable:
            # The run has failed already with this reason.
            run.note("resolver_error")
        except Exception:
            # The items are stored; listings that could not be resolved are tried again later.
            logger.exception("Listings could not be linked to products")
            run.note("resolver_error")

    async def _resolve_chunks(self, most: int) -> None:
        for _ in range(most):
            done = await self.run.writer.call(
                lambda connection: product_links.resolve(connection, clock.now())
            )
            if done < product_links.CHUNK_SIZE:
                return
