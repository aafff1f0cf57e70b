"""Start the sample marketplace for crawls of the sample market, and stop it when no crawl needs it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from pricewatch import clock
from pricewatch.adapters import SAMPLE_ADAPTER
from pricewatch.store.source_registry.market_rows import MarketRecord

if TYPE_CHECKING:
    from pricewatch.bazaar.client import Bazaar

logger = logging.getLogger(__name__)
# Of several crawls that start together, only one can start the marketplace.
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class MarketplaceAddress:
    """The URL of the sample marketplace, and the start time of its simulated world."""

    base_url: str
    since: datetime


class SampleMarketplaceExtension:
    """Commands that fetch a single page of the marketplace set `SAMPLE_MARKETPLACE`."""

    def __init__(self, crawler: Crawler):
        address = _address(crawler)
        if address is None:
            raise NotConfigured
        self._address = address
        self._bazaar: Bazaar | None = None
        self._connection: HTTPConnection | None = None
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def spider_opened(self) -> None:
        await asyncio.to_thread(self._connect)

    async def spider_closed(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._bazaar is not None:
            self._bazaar.detach()

    def _connect(self) -> None:
        """Connect until the crawl ends: the marketplace stops when the last connection is closed."""
        from pricewatch.bazaar.client import BazaarError

        url = urlsplit(self._address.base_url)
        for _ in range(ATTEMPTS):
            connection = HTTPConnection(url.hostname or "", url.port, timeout=5)
            try:
                connection.request("GET", "/_control/clock")
                connection.getresponse().read()
            except (OSError, HTTPException):
                connection.close()
            else:
                self._connection = connection
                return
            with suppress(BazaarError):
                self._bazaar = _start(url.port or 0, self._address.since)
        logger.warning("The sample marketplace cannot be started at %s", self._address.base_url)


def _address(crawler: Crawler) -> MarketplaceAddress | None:
    market = getattr(crawler.spider, "market", None)
    if isinstance(market, MarketRecord) and market.adapter_id == SAMPLE_ADAPTER:
        return MarketplaceAddress(market.base_url, market.source_created_at)
    if setting := crawler.settings.getdict("SAMPLE_MARKETPLACE"):
        return MarketplaceAddress(setting["base_url"], datetime.fromisoformat(setting["since"]))
    return None


def _start(port: int, since: datetime) -> Bazaar:
    """Start a world that began when the source was created, and runs in real time."""
    from pricewatch.bazaar.client import Bazaar

    bazaar = Bazaar.start_shared(port=port, start=since, live=1)
    bazaar.set_clock(clock.now())
    return bazaar
