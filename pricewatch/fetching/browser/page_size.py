"""The decompressed size of all that a page loads in the browser, counted while it arrives."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from typing import Any, Self

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

# How much larger than one response a page with its scripts and data may be.
PAGE_FACTOR = 8
_LENGTH = "document.documentElement ? document.documentElement.outerHTML.length : 0"


class PageSize:
    """Close a page that is too large; the browser would load the rest of it."""

    def __init__(self, page: Page, max_bytes: int):
        self.is_too_large = False
        self._page = page
        self._max_bytes = max_bytes
        self._received: Counter[str] = Counter()
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    async def watch(cls, page: Page, max_bytes: int) -> Self:
        size = cls(page, max_bytes)
        session = await page.context.new_cdp_session(page)
        session.on("Network.dataReceived", size._count)
        await session.send("Network.enable")
        return size

    def _count(self, event: dict[str, Any]) -> None:
        self._received[event["requestId"]] += event["dataLength"]
        too_large = (
            self._received[event["requestId"]] > self._max_bytes
            or self._received.total() > PAGE_FACTOR * self._max_bytes
        )
        if too_large and self._closing is None:
            self.is_too_large = True
            self._closing = asyncio.create_task(self._close())

    async def check_document(self) -> None:
        """Close the page if the document that its scripts built is too large to be copied."""
        session = await self._page.context.new_cdp_session(self._page)
        # From here on, the document stays as it is.
        await session.send("Emulation.setScriptExecutionDisabled", {"value": True})
        tree = await session.send("Page.getFrameTree")
        # In a world of its own, where the page has not replaced anything.
        world = await session.send("Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]})
        measured = await session.send(
            "Runtime.evaluate",
            {"expression": _LENGTH, "contextId": world["executionContextId"], "returnByValue": True},
        )
        await session.detach()
        if measured["result"].get("value", 0) > self._max_bytes:
            self.is_too_large = True
            await self._page.close()

    async def _close(self) -> None:
        with suppress(PlaywrightError):
            await self._page.close()
