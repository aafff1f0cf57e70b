"""Owns the run of a crawl: opens its row before the first request, and closes it however the crawl ends."""

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
    """`RUN_ENABLED = False` switches it off, and with it everything that stores something."""

    def __init__(self, crawler: Crawler):
        spider = crawler.spider
        # `scrapy shell` and `scrapy fetch` have a spider that crawls nothing, `scrapy check` tries callbacks.
        if spider is None or isinstance(spider, DefaultSpider) or "SCRAPY_CHECK" in os.environ:
            raise NotConfigured
        if not crawler.settings.getbool("RUN_ENABLED", True):
            raise NotConfigured
        self.crawler = crawler
        # Ours say themselves whose run it is.
        own_fields = getattr(spider, "run_fields", None)
        self.is_ours = own_fields is not None
        fields = own_fields() if own_fields is not None else run_fields(spider)
        self.run = CrawlRun(crawler, spider.name, **fields)
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.item_error, signals.item_error)
        crawler.signals.connect(self.spider_error, signals.spider_error)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def spider_opened(self, spider: Spider) -> None:
        source = None if self.is_ours else partial(find_source, spider=spider)
        try:
            await self.run.open(self._pipelines(), source)
        except UserError as error:
            self.run.conclude(RunStatus.FAILED, str(error))
            raise CloseSpider(str(error)) from error

    def _pipelines(self) -> list[RunPipeline]:
        """Those that take part in the run's transactions, in the order of ITEM_PIPELINES."""
        engine = self.crawler.engine
        components = engine.scraper.itemproc.middlewares if engine else ()
        return [component for component in components if isinstance(component, RunPipeline)]

    def item_error(self, failure: Failure) -> None:
        """An item that broke a pipeline is gone; whoever waits for it to be stored would wait for ever."""
        self.run.lost(f"an item broke a pipeline ({type(failure.value).__name__}: {failure.value})")
        self.run.end_crawl("item_error")

    def spider_error(self, failure: Failure) -> None:
        """One of ours that failed in its own code may never come to its end by itself; others go on."""
        what = f"the spider's own code failed ({type(failure.value).__name__}: {failure.value})"
        if self.is_ours:
            self.run.lost(what)
            self.run.end_crawl("spider_error")
        else:
            self.run.partial = True
            self.run.error("A page was lost", reason=what)

    async def spider_closed(self, reason: str) -> None:
        await self.run.close(reason)
