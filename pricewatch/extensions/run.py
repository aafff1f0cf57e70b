"""Opens the run's row before the first request, and closes it however the crawl ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, NotConfigured
from twisted.python.failure import Failure

from pricewatch.errors import UserError
from pricewatch.items import RunStatus

if TYPE_CHECKING:
    from typing import Self

    from pricewatch.spiders.base import PricewatchSpider


class RunExtension:
    def __init__(self, crawler: Crawler):
        if not hasattr(crawler.spider, "run"):
            raise NotConfigured
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.item_error, signals.item_error)
        crawler.signals.connect(self.spider_error, signals.spider_error)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def spider_opened(self, spider: PricewatchSpider) -> None:
        try:
            await spider.run.open()
        except UserError as error:
            spider.run.conclude(RunStatus.FAILED, str(error))
            raise CloseSpider(str(error)) from error

    def item_error(self, spider: PricewatchSpider, failure: Failure) -> None:
        """An item that broke a pipeline is gone; whoever waits for it to be stored would wait for ever."""
        spider.run.lost(f"an item broke a pipeline ({type(failure.value).__name__}: {failure.value})")
        spider.run.end_crawl("item_error")

    def spider_error(self, spider: PricewatchSpider, failure: Failure) -> None:
        """A spider that failed in its own code may never come to its end by itself."""
        spider.run.lost(f"the spider's own code failed ({type(failure.value).__name__}: {failure.value})")
        spider.run.end_crawl("spider_error")

    async def spider_closed(self, spider: PricewatchSpider, reason: str) -> None:
        await spider.run.close(reason)
