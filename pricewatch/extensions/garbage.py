"""Keeps memory flat: a page and its parsed tree refer to each other, and only the collector frees them.

It looks at everything only when a quarter of what it knows is new. What was imported is most of that and
stays for good, so it is taken out of the count: then pages are freed soon, and each look is short.
"""

from __future__ import annotations

import gc
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler

_settled = False


class GarbageExtension:
    def __init__(self, crawler: Crawler):
        crawler.signals.connect(self.spider_opened, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def spider_opened(self) -> None:
        """Once in a process: a second crawl would take the rubbish of the first for good."""
        global _settled
        if not _settled:
            _settled = True
            gc.collect()
            gc.freeze()
