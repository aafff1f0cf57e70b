"""Read a page with an adapter, within limits: here if a signal can interrupt it, else in a reader process."""

from __future__ import annotations

from typing import TypeVar

from scrapy.http import TextResponse
from scrapy.settings import BaseSettings

from pricewatch.adapters.base import Adapter
from pricewatch.parsing.pages.slow_markup import is_slow_to_parse
from pricewatch.reading.deadline import is_main_thread, run_within
from pricewatch.reading.page_calls import PageCall
from pricewatch.reading.page_task import adapter_task
from pricewatch.reading.read_limits import ReadLimits, read_limits
from pricewatch.reading.reader_pool import ReaderPool, shared_pool
from pricewatch.reading.reader_process import AdapterError

R = TypeVar("R")


class PageReader:
    """Reads pages for a crawl or a command. `ReadTimeout` is raised for a page that exceeds a limit."""

    def __init__(self, settings: BaseSettings):
        self.limits = read_limits(settings)

    @property
    def pool(self) -> ReaderPool:
        return shared_pool(self.limits)

    def needs_process(self, adapter: Adapter, response: TextResponse) -> bool:
        """Return whether a signal may not interrupt the reading of this page: parsers are written in C."""
        return adapter.uses_selectors or may_block(response.body, self.limits)

    def read(self, call: PageCall[R], adapter: Adapter, response: TextResponse) -> R:
        if self.needs_process(adapter, response):
            return self.pool.read(adapter_task(call, adapter, response))
        return self._read_here(call, adapter, response)

    async def read_async(self, call: PageCall[R], adapter: Adapter, response: TextResponse) -> R:
        """Read a page; the event loop goes on while a process reads it."""
        if self.needs_process(adapter, response):
            return await self.pool.read_async(adapter_task(call, adapter, response))
        return self._read_here(call, adapter, response)

    def _read_here(self, call: PageCall[R], adapter: Adapter, response: TextResponse) -> R:
        method = getattr(adapter, call.name)
        try:
            found: R = run_within(self.limits.seconds, lambda: method(response))
        finally:
            # A page and its tree refer to each other; both would stay in memory until a garbage collection.
            response._cached_selector = None  # noqa: SLF001 - created again on demand
        return found


def may_block(body: bytes, limits: ReadLimits) -> bool:
    """Return whether this process cannot parse a page within the deadline, or could not stop doing so."""
    return len(body) > limits.process_bytes or not is_main_thread() or is_slow_to_parse(body)


def describe_error(error: Exception) -> str:
    """Return the type and message of an exception of an adapter, also of one in a reader process."""
    return str(error) if isinstance(error, AdapterError) else f"{type(error).__name__}: {error}"
