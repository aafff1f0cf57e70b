"""Fourth: what product pages told is tied to products: some at a time, and the rest when the crawl ends."""

from __future__ import annotations

import logging
from typing import Any, Self

from scrapy.crawler import Crawler

from pricewatch import clock
from pricewatch.errors import DatabaseUnavailable
from pricewatch.items import ProductPage
from pricewatch.spiders.base import PricewatchSpider
from pricewatch.store import resolver

logger = logging.getLogger(__name__)
MOST_RESOLVED = 10_000


class ProductsPipeline:
    """Adds its step behind the upsert's: whatever a page told anew asks to be resolved."""

    def __init__(self, crawler: Crawler):
        spider: Any = crawler.spider
        self.spider: PricewatchSpider = spider
        self.spider.run.steps.append(resolver.request)
        self._every = crawler.settings.getint("RESOLVE_EVERY_PAGES")
        self._pages = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        """While the crawl goes on, the database thread has time for it; at the end, everybody would wait."""
        if isinstance(item, ProductPage):
            self._pages += 1
            if self._every and self._pages % self._every == 0:
                await self._resolve(most_chunks=1)
        return item

    async def close_spider(self) -> None:
        """Bounded, so that a backlog does not keep a run from ending; `scrapy resolve` does the rest."""
        await self._resolve(most_chunks=MOST_RESOLVED // resolver.CHUNK)

    async def _resolve(self, most_chunks: int) -> None:
        run = self.spider.run
        try:
            if run.id:
                await run.writer.flush()
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
        writer = self.spider.run.writer
        for _ in range(most):
            done = await writer.call(lambda connection: resolver.resolve(connection, clock.now()))
            if done < resolver.CHUNK:
                return
