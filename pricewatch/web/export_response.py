"""The response of an export: sent as fast as the client reads it, and only to a few clients at a time."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

import anyio
from fastapi import HTTPException
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

logger = logging.getLogger(__name__)
AT_ONCE = 2
RETRY_SECONDS = 30
# Of one export, however slowly its client reads.
MOST_SECONDS = 1_800


class ExportSlots:
    """The number of exports that this process sends."""

    def __init__(self, at_once: int = AT_ONCE):
        self._free = threading.BoundedSemaphore(at_once)
        self._at_once = at_once

    def take(self) -> None:
        if not self._free.acquire(blocking=False):
            raise HTTPException(
                429,
                f"{self._at_once} exports are running, which is the limit: try again later.",
                headers={"Retry-After": str(RETRY_SECONDS)},
            )

    def release(self) -> None:
        self._free.release()


class ExportResponse(StreamingResponse):
    """Ends early if the client leaves or takes too long; the client then sees an incomplete response."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        slots: ExportSlots = scope["app"].state.export_slots
        slots.take()
        try:
            with anyio.fail_after(MOST_SECONDS):
                # A query that fails at once gets an error response.
                first = await anext(aiter(self.body_iterator), b"")
                self.body_iterator = _chain(first, self.body_iterator)
                await self.stream_response(send)
        except TimeoutError:
            logger.warning("An export took over %s seconds and was ended: %s", MOST_SECONDS, scope["path"])
        except ConnectionError:
            logger.info("A client left before its export was complete: %s", scope["path"])
        finally:
            slots.release()


async def _chain(first: Any, rest: AsyncIterable[Any]) -> AsyncIterator[Any]:
    yield first
    async for chunk in rest:
        yield chunk
