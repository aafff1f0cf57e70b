"""Waiting that does not block other requests and ends with the crawl."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from time import monotonic
from typing import Any, TypeVar

from scrapy.crawler import Crawler

from pricewatch.fetching.engine_slot import engine_slot
from pricewatch.fetching.failures import CrawlEnding

T = TypeVar("T")
# How soon a waiting request notices that the crawl is closing.
NOTICE_SECONDS = 0.25


class InterruptibleSleep:
    def __init__(self, crawler: Crawler):
        self._crawler = crawler

    async def sleep(self, seconds: float) -> None:
        await self.until(monotonic() + seconds)

    async def until(self, moment: float) -> None:
        """Sleep until a time of the monotonic clock, not a moment less."""
        while (left := moment - monotonic()) > 0:
            self._check()
            await asyncio.sleep(min(left, NOTICE_SECONDS))

    async def wait(self, coroutine: Coroutine[Any, Any, T], moment: float) -> T:
        """Wait for a coroutine; at the given time, cancel it and raise `TimeoutError`."""
        task = asyncio.ensure_future(coroutine)
        try:
            while not task.done():
                self._check()
                if (left := moment - monotonic()) <= 0:
                    raise TimeoutError
                await asyncio.wait((task,), timeout=min(left, NOTICE_SECONDS))
            return task.result()
        finally:
            task.cancel()

    def _check(self) -> None:
        slot = engine_slot(self._crawler)
        if slot is None or slot.closing is not None:
            raise CrawlEnding("The crawl ended while this request waited")
