"""Third: a history row for every price, currency or availability that is not the last stored one."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler

from pricewatch.store import history


class PriceHistoryPipeline:
    """Adds its step behind the upsert's, in the same transaction."""

    def __init__(self, crawler: Crawler):
        spider: Any = crawler.spider
        spider.run.steps.append(history.append)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)
