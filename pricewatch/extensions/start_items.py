"""Continue or close a crawl immediately after an item that `start()` yielded has been processed.

Scrapy checks for remaining work when a response has been processed. After an item without a response, it
checks up to five seconds later, or never if the crawl is closing.
"""

from __future__ import annotations

import asyncio
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler

from pricewatch.fetching.engine_slot import engine_slot

POLL_SECONDS = 0.02


class StartItemsExtension:
    def __init__(self, crawler: Crawler):
        self.crawler = crawler
        self._task: asyncio.Task[None] | None = None
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(self.item_ended, signal)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def item_ended(self, response: Any) -> None:
        if response is None and (self._task is None or self._task.done()):
            self._task = asyncio.ensure_future(self._wake_engine())

    async def _wake_engine(self) -> None:
        """Wait until no item is left, because Scrapy counts an item as done only after its signal."""
        engine, spider = self.crawler.engine, self.crawler.spider
        while engine is not None and spider is not None and (slot := engine.scraper.slot) is not None:
            if not slot.itemproc_size:
                if slot.closing is not None:
                    if slot.is_idle() and not slot.closing.called:
                        slot.closing.callback(spider)
                elif running := engine_slot(self.crawler):
                    running.nextcall.schedule()
                return
            await asyncio.sleep(POLL_SECONDS)
