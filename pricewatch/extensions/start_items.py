"""Lets a crawl go on, or close, at once when an item that `start()` yielded has been processed.

Scrapy looks whether there is something left to do when a response ends. After an item without a response it
would find out five seconds later, and if it is closing at that time, never.
"""

from __future__ import annotations

import asyncio
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler

from pricewatch.fetching.engine_slot import engine_slot

SECONDS_BETWEEN = 0.02


class StartItemsExtension:
    def __init__(self, crawler: Crawler):
        self.crawler = crawler
        self._watching: asyncio.Task[None] | None = None
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(self.item_ended, signal)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def item_ended(self, response: Any) -> None:
        if response is None and (self._watching is None or self._watching.done()):
            self._watching = asyncio.ensure_future(self._look_again())

    async def _look_again(self) -> None:
        """When no item is left: the signal comes before Scrapy has counted the item as done."""
        engine, spider = self.crawler.engine, self.crawler.spider
        while engine is not None and spider is not None and (slot := engine.scraper.slot) is not None:
            if not slot.itemproc_size:
                if slot.closing is not None:
                    if slot.is_idle() and not slot.closing.called:
                        slot.closing.callback(spider)
                elif running := engine_slot(self.crawler):
                    running.nextcall.schedule()
                return
            await asyncio.sleep(SECONDS_BETWEEN)
