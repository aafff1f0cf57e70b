"""Spares the garbage collector what lives as long as the crawl: modules, models and the crawl's own parts."""

from __future__ import annotations

import gc
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler


class LongLivedExtension:
    """Else the collector goes through all of it again and again, while pages come and go beside it."""

    _has_crawled = False

    def __init__(self, crawler: Crawler):
        crawler.signals.connect(self.engine_started, signals.engine_started)
        crawler.signals.connect(self.engine_stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def engine_started(self) -> None:
        # What an earlier crawl of this process has left is waste, and must not be kept with the rest.
        if LongLivedExtension._has_crawled:
            gc.collect()
        LongLivedExtension._has_crawled = True
        gc.freeze()

    def engine_stopped(self) -> None:
        # A process may crawl more than once: what this crawl was made of must not stay for ever.
        gc.unfreeze()
