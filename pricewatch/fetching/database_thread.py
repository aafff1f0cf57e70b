"""A thread with its own connection, for the short database queries of the fetching components."""

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
    """Run blocking functions on one thread, and repeat them while the database is unavailable."""

    def __init__(self, crawler: Crawler):
        self._sleep = per_crawl(crawler, InterruptibleSleep)
        self._retry_seconds = crawler.settings.getfloat("DATABASE_RETRY_SECONDS", 120.0)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pricewatch-fetch")
        self._connection: Connection | None = None
        self._crawler = crawler
        crawler.signals.connect(self.close, signals.engine_stopped)
        crawler.signals.connect(self._close_unused, signals.spider_closed)

    async def query(self, function: Callable[[Connection], T]) -> T:
        """Call a function with a connection, in its own transaction."""

        def in_transaction() -> T:
            with self.connection().begin() as transaction:
                return function(transaction.connection)

        return await self.run(in_transaction)

    async def run(self, function: Callable[[], T]) -> T:
        """Run a function on the thread; after a ConnectionError, retry it for DATABASE_RETRY_SECONDS."""
        loop = asyncio.get_running_loop()
        deadline, pause = loop.time() + self._retry_seconds, 0.2
        while True:
            try:
                return await loop.run_in_executor(self._executor, self._call, function)
            except ConnectionError as error:
                if loop.time() + pause > deadline:
                    raise DatabaseUnavailable(
                        f"No answer for {self._retry_seconds:.0f} seconds: {error}"
                    ) from error
                logger.warning("%s; retrying in %.1f s", error, pause)
                await self._sleep.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)

    async def close(self) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._executor, self._disconnect)
        finally:
            self._executor.shutdown(wait=False)

    async def _close_unused(self) -> None:
        """Close if the engine never started: then it does not send `engine_stopped` either."""
        if self._crawler.engine is not None and self._crawler.engine.start_time is None:
            await self.close()

    # The methods below run on the thread.

    def connection(self) -> Connection:
        if self._connection is None:
            self._connection = engine().connect()
        return self._connection

    def _call(self, function: Callable[[], T]) -> T:
        try:
            return function()
        except DBAPIError as error:
            if not is_outage(error):
                raise
            self._disconnect()
            raise ConnectionError(f"The database is unavailable ({reason(error)})") from error
        except DatabaseUnavailable as error:
            raise ConnectionError(str(error)) from error

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except DBAPIError:
                connection.invalidate()
