"""Own the run of a crawl: open its row before the first request, and close it however the crawl ends."""

from __future__ import annotations

import os
from functools import partial
from typing import Self

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, NotConfigured
from scrapy.utils.spider import DefaultSpider
from twisted.python.failure import Failure

from pricewatch.errors import UserError
from pricewatch.pipelines.base import RunPipeline
from pricewatch.runs.crawl_run import CrawlRun
from pricewatch.runs.custom_spider import find_source, run_fields
from pricewatch.vocabulary import RunStatus


class RunExtension:
    """`RUN_ENABLED = False` disables the run, and with it everything that is stored."""

    def __init__(self, crawler: Crawler):
        spider = crawler.spider
        # `scrapy shell` and `scrapy fetch` use a placeholder spider, `scrapy check` only tests callbacks.
        if spider is None or isinstance(spider, DefaultSpider) or "SCRAPY_CHECK" in os.environ:
            raise NotConfigured
        if not crawler.settings.getbool("RUN_ENABLED", True):
            raise NotConfigured
        self.crawler = crawler
        # Pricewatch's spiders provide the fields of their run; for custom spiders they are derived.
        spider_fields = getattr(spider, "run_fields", None)
        self.is_custom_spider = spider_fields is None
        fields = run_fields(spider) if spider_fields is None else spider_fields()
        self.run = CrawlRun(crawler, spider.name, **fields)
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.item_error, signals.item_error)
        crawler.signals.connect(self.spider_error, signals.spider_error)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def spider_opened(self, spider: Spider) -> None:
        source = partial(find_source, spider=spider) if self.is_custom_spider else None
        try:
            await self.run.open(self._pipelines(), source)
        except UserError as error:
            self.run.conclude(RunStatus.FAILED, str(error))
            raise CloseSpider(str(error)) from error

    def _pipelines(self) -> list[RunPipeline]:
        """Return the pipelines that take part in the run's transactions, in the order of ITEM_PIPELINES."""
        engine = self.crawler.engine
        components = engine.scraper.itemproc.middlewares if engine else ()
        return [component for component in components if isinstance(component, RunPipeline)]

    def item_error(self, failure: Failure) -> None:
        """End the run: the item is lost, and a spider that waits for it to be stored would wait forever."""
        self.run.lost(f"a pipeline failed on an item ({type(failure.value).__name__}: {failure.value})")
        self.run.end_crawl("item_error")

    def spider_error(self, failure: Failure) -> None:
        """End the run of one of pricewatch's spiders, which might wait forever; a custom spider continues."""
        reason = f"the spider's code failed ({type(failure.value).__name__}: {failure.value})"
        if self.is_custom_spider:
            self.run.partial = True
            self.run.error("A page was lost", reason=reason)
        else:
            self.run.lost(reason)
            self.run.end_crawl("spider_error")

    async def spider_closed(self, reason: str) -> None:
        await self.run.close(reason)
