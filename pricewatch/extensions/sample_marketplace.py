"""Lets the sample market be crawled with nothing set up: its marketplace runs as long as a crawl needs it."""

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
from pricewatch.adapters import SAMPLE
from pricewatch.store.writing.market_rows import MarketRecord

if TYPE_CHECKING:
    from pricewatch.bazaar.client import Bazaar

logger = logging.getLogger(__name__)
# Crawls that begin together all find it silent, and only one can start it.
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class MarketplaceAddress:
    """Where the sample marketplace answers, and since when its world goes on."""

    base_url: str
    since: datetime


class SampleMarketplaceExtension:
    """`SAMPLE_MARKETPLACE` is set by commands that look at one page of it, whichever spider they use."""

    def __init__(self, crawler: Crawler):
        place = _place(crawler)
        if place is None:
            raise NotConfigured
        self._place = place
        self._bazaar: Bazaar | None = None
        self._held: HTTPConnection | None = None
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def spider_opened(self) -> None:
        await asyncio.to_thread(self._hold)

    async def spider_closed(self) -> None:
        if self._held is not None:
            self._held.close()
        if self._bazaar is not None:
            self._bazaar.detach()

    def _hold(self) -> None:
        """Stay connected to it until the crawl is over, so that it does not end with who started it."""
        from pricewatch.bazaar.client import BazaarError

        at = urlsplit(self._place.base_url)
        for _ in range(ATTEMPTS):
            connection = HTTPConnection(at.hostname or "", at.port, timeout=5)
            try:
                connection.request("GET", "/_control/clock")
                connection.getresponse().read()
            except (OSError, HTTPException):
                connection.close()
            else:
                self._held = connection
                return
            with suppress(BazaarError):
                self._bazaar = _start(at.port or 0, self._place.since)
        logger.warning("The sample marketplace cannot be started at %s", self._place.base_url)


def _place(crawler: Crawler) -> MarketplaceAddress | None:
    market = getattr(crawler.spider, "market", None)
    if isinstance(market, MarketRecord) and market.adapter_id == SAMPLE:
        return MarketplaceAddress(market.base_url, market.source_created_at)
    if given := crawler.settings.getdict("SAMPLE_MARKETPLACE"):
        return MarketplaceAddress(given["base_url"], datetime.fromisoformat(given["since"]))
    return None


def _start(port: int, since: datetime) -> Bazaar:
    """Its world began when this database was made, and goes on with the real time."""
    from pricewatch.bazaar.client import Bazaar

    bazaar = Bazaar.start_shared(port=port, start=since, live=1)
    bazaar.set_clock(clock.now())
    return bazaar
