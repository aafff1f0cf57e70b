"""Spares the garbage collector what lives as long as the process: modules, models and settings."""

from __future__ import annotations

import gc
from typing import ClassVar, Self

from scrapy import signals
from scrapy.crawler import Crawler


class GcFreezeExtension:
    """Else the collector goes through all of it again and again, while pages come and go beside it."""

    _is_set_aside: ClassVar[bool] = False

    def __init__(self, crawler: Crawler):
        crawler.signals.connect(self.engine_started, signals.engine_started)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def engine_started(self) -> None:
        # Once: a process that crawls again has waste of its last crawl, which must not be kept with the rest.
        if not GcFreezeExtension._is_set_aside:
            GcFreezeExtension._is_set_aside = True
            gc.freeze()
