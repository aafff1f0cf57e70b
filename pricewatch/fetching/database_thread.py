"""A thread with a connection of its own, for the short questions that fetching asks the database."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from scrapy import signals
from scrapy.crawler import Crawler
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from pricewatch.errors import DatabaseUnavailable
from pricewatch.fetching.interruptible_sleep import InterruptibleSleep
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.store.engine.database import engine
from pricewatch.store.writing.batch import is_outage, reason

logger = logging.getLogger(__name__)
T = TypeVar("T")
LONGEST_PAUSE = 5.0


class DatabaseThread:
    """The event loop asks, the thread waits. While the database is away, questions are asked again."""

    def __init__(self, crawler: Crawler):
        self._sleep = per_crawl(crawler, InterruptibleSleep)
        self._retry_seconds = crawler.settings.getfloat("DATABASE_RETRY_SECONDS", 120.0)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pricewatch-fetch")
        self._connection: Connection | None = None
        self._crawler = crawler
        crawler.signals.connect(self.close, signals.engine_stopped)
        crawler.signals.connect(self._close_unused, signals.spider_closed)

    async def ask(self, question: Callable[[Connection], T]) -> T:
        """Ask the database in a transaction of its own."""

        def ask() -> T:
            with self.connection().begin() as transaction:
                return question(transaction.connection)

        return await self.run(ask)

    async def run(self, function: Callable[[], T]) -> T:
        """Run a function on the thread, again and again while what it needs is away, up to a limit."""
        loop = asyncio.get_running_loop()
        deadline, pause = loop.time() + self._retry_seconds, 0.2
        while True:
            try:
                return await loop.run_in_executor(self._executor, self._guarded, function)
            except ConnectionError as error:
                if loop.time() + pause > deadline:
                    raise DatabaseUnavailable(
                        f"No answer for {self._retry_seconds:.0f} seconds: {error}"
                    ) from error
                logger.warning("%s; asking again in %.1f s", error, pause)
                await self._sleep.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)

    async def close(self) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._executor, self._disconnect)
        finally:
            self._executor.shutdown(wait=False)

    async def _close_unused(self) -> None:
        """A crawl that was refused when it opened is never stopped, because it never started."""
        if self._crawler.engine is not None and self._crawler.engine.start_time is None:
            await self.close()

    # From here on: the thread.

    def connection(self) -> Connection:
        if self._connection is None:
            self._connection = engine().connect()
        return self._connection

    def _guarded(self, function: Callable[[], T]) -> T:
        try:
            return function()
        except DBAPIError as error:
            if not is_outage(error):
                raise
            self._disconnect()
            raise ConnectionError(f"The database is away ({reason(error)})") from error
        except DatabaseUnavailable as error:
            raise ConnectionError(str(error)) from error

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except DBAPIError:
                connection.invalidate()
