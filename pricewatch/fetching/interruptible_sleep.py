"""Waiting that holds nobody up and ends with the crawl."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TypeVar

from scrapy.crawler import Crawler

from pricewatch.fetching.failures import CrawlEnding

T = TypeVar("T")
# How soon a waiting request notices that the crawl is being closed.
NOTICE_SECONDS = 0.25


class InterruptibleSleep:
    def __init__(self, crawler: Crawler):
        self._crawler = crawler

    async def sleep(self, seconds: float) -> None:
        await self.until(monotonic() + seconds)

    async def until(self, moment: float) -> None:
        """Wait for a moment of the monotonic clock; never a bit too early."""
        while (left := moment - monotonic()) > 0:
            self._check()
            await asyncio.sleep(min(left, NOTICE_SECONDS))

    async def wait(self, future: asyncio.Future[T], moment: float) -> T:
        """Wait for a future until a moment; raises `TimeoutError` then."""
        while not future.done():
            self._check()
            if (left := moment - monotonic()) <= 0:
                raise TimeoutError
            await asyncio.wait((future,), timeout=min(left, NOTICE_SECONDS))
        return future.result()

    def _check(self) -> None:
        engine = self._crawler.engine
        slot = engine._slot if engine else None  # noqa: SLF001 - nothing public says that it is closing
        if slot is None or slot.closing is not None:
            raise CrawlEnding("the crawl ended while this request waited")
