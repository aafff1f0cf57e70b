"""A few reader processes that wait for pages; started when needed, one page at a time in each."""

from __future__ import annotations

import asyncio
import atexit
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from scrapy.utils.project import get_project_settings

from pricewatch.errors import UserError
from pricewatch.reading.page_task import PageTask
from pricewatch.reading.read_limits import ReadLimits, read_limits
from pricewatch.reading.reader_process import ReaderEnded, ReaderProcess

R = TypeVar("R")
# A person waits no longer than this for a free reader.
MAX_WAIT_SECONDS = 30.0


class ReaderPool:
    def __init__(self, limits: ReadLimits):
        self.limits = limits
        self._slots = threading.BoundedSemaphore(limits.processes)
        self._waiting: list[ReaderProcess] = []
        # Waiting pages must not take the threads of the event loop, which also resolve names.
        self._threads = ThreadPoolExecutor(limits.processes, thread_name_prefix="reader")
        atexit.register(self.close)

    def read(self, task: PageTask[R], wait_seconds: float | None = MAX_WAIT_SECONDS) -> R:
        """Read a page in a reader process. Blocks; see `read_async`."""
        if not self._slots.acquire(timeout=wait_seconds):
            raise UserError("Too many pages are being read: try again in a moment.")
        try:
            return self._read(task)
        finally:
            self._slots.release()

    async def read_async(self, task: PageTask[R]) -> R:
        """Read a page without blocking the event loop, however many pages wait."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self.read, task, None)

    def close(self) -> None:
        while self._waiting:
            self._waiting.pop().close()

    def _read(self, task: PageTask[R]) -> R:
        reader = self._take()
        try:
            try:
                return reader.read(task)
            except ReaderEnded:
                reader = ReaderProcess(self.limits)
                return reader.read(task)
        finally:
            if reader.is_running:
                self._waiting.append(reader)

    def _take(self) -> ReaderProcess:
        while self._waiting:
            reader = self._waiting.pop()
            if reader.is_running:
                return reader
            reader.close()
        return ReaderProcess(self.limits)


@cache
def shared_pool(limits: ReadLimits) -> ReaderPool:
    """Return the pool of this process with these limits."""
    return ReaderPool(limits)


def project_pool() -> ReaderPool:
    """Return the pool for pages that no crawl reads, with the settings of the project."""
    return shared_pool(read_limits(get_project_settings()))
