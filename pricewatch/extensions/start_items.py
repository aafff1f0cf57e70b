"""Let a crawl continue or close at once after the items that `start()` yielded.

Scrapy checks for more work when a response has been processed. After an item without a response it checks up
to five seconds later, and while it is closing, never.
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
        self._waiting: asyncio.Task[None] | None = None
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(self.item_ended, signal)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def item_ended(self, response: Any) -> None:
        if response is None and (self._waiting is None or self._waiting.done()):
            self._waiting = asyncio.ensure_future(self._continue())

    async def _continue(self) -> None:
        """Wait until no item is left: Scrapy sends the signal before it counts the item as done."""
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
