"""Exclude long-lived objects (modules, models, settings) from garbage collection."""

from __future__ import annotations

import gc
from typing import ClassVar, Self

from scrapy import signals
from scrapy.crawler import Crawler


class GcFreezeExtension:
    """Call `gc.freeze()`, so that collections of short-lived pages do not scan the long-lived objects."""

    _is_frozen: ClassVar[bool] = False

    def __init__(self, crawler: Crawler):
        crawler.signals.connect(self.engine_started, signals.engine_started)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def engine_started(self) -> None:
        # Once per process: garbage of an earlier crawl must not be frozen.
        if not GcFreezeExtension._is_frozen:
            GcFreezeExtension._is_frozen = True
            gc.freeze()
