"""Lets a crawl close while an item that `start()` yielded is being processed.

Scrapy waits for such an item when it closes, and only looks again when a response ends: without one, it would
wait for ever.
"""

from __future__ import annotations

import asyncio
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler

SECONDS_BETWEEN = 0.05


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
        engine, spider = self.crawler.engine, self.crawler.spider
        while engine is not None and spider is not None and (slot := engine.scraper.slot) is not None:
            if not slot.itemproc_size:
                if slot.closing is not None and slot.is_idle() and not slot.closing.called:
                    slot.closing.callback(spider)
                return
            await asyncio.sleep(SECONDS_BETWEEN)
