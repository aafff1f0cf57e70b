"""How much a page loads in the browser, counted as it comes: unpacked, and whichever way it came."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from typing import Any, Self

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

# A page comes with scripts and data.
WITH_EVERYTHING = 8


class PageSize:
    """Closes a page that has grown too large: a browser would wait for the rest of it."""

    def __init__(self, page: Page, most_bytes: int):
        self.is_too_large = False
        self._page = page
        self._most_bytes = most_bytes
        self._came: Counter[str] = Counter()
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    async def watch(cls, page: Page, most_bytes: int) -> Self:
        size = cls(page, most_bytes)
        session = await page.context.new_cdp_session(page)
        session.on("Network.dataReceived", size._count)
        await session.send("Network.enable")
        return size

    def _count(self, event: dict[str, Any]) -> None:
        self._came[event["requestId"]] += event["dataLength"]
        too_large = (
            self._came[event["requestId"]] > self._most_bytes
            or self._came.total() > WITH_EVERYTHING * self._most_bytes
        )
        if too_large and self._closing is None:
            self.is_too_large = True
            self._closing = asyncio.create_task(self._close())

    async def _close(self) -> None:
        with suppress(PlaywrightError):
            await self._page.close()
