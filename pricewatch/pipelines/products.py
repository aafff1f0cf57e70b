"""Fourth: what product pages told is tied to products when the crawl has come to its end."""

from __future__ import annotations

import logging
from typing import Any, Self

from scrapy.crawler import Crawler

from pricewatch import clock
from pricewatch.errors import DatabaseUnavailable
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

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def close_spider(self) -> None:
        run = self.spider.run
        try:
            if run.id:
                await run.writer.flush()
            if run.counters["details"]:
                await self._resolve()
        except DatabaseUnavailable:
            # The run has failed already, and says so.
            run.note("resolver_error")
        except Exception:
            # What the run brought is stored: what could not be resolved asks again by itself.
            logger.exception("Listings could not be tied to products")
            run.note("resolver_error")

    async def _resolve(self) -> None:
        """Bounded, so that a backlog does not keep a run from ending; `scrapy resolve` does the rest."""
        writer = self.spider.run.writer
        for _ in range(MOST_RESOLVED // resolver.CHUNK):
            done = await writer.call(lambda connection: resolver.resolve(connection, clock.now()))
            if done < resolver.CHUNK:
                return
