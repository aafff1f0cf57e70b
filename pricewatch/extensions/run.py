"""Opens the run's row before the first request, and closes it however the crawl ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, NotConfigured

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

    async def spider_closed(self, spider: PricewatchSpider, reason: str) -> None:
        await spider.run.close(reason)
