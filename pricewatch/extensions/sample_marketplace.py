"""Lets the sample market be crawled with nothing set up: its marketplace runs as long as a crawl needs it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from pricewatch import clock

if TYPE_CHECKING:
    from pricewatch.bazaar.client import Bazaar
    from pricewatch.spiders.overview import OverviewSpider

logger = logging.getLogger(__name__)
# Crawls that begin together all find it silent, and only one can start it.
ATTEMPTS = 3


class SampleMarketplaceExtension:
    def __init__(self, crawler: Crawler):
        if getattr(getattr(crawler.spider, "adapter", None), "id", None) != "bazaar":
            raise NotConfigured
        self._bazaar: Bazaar | None = None
        self._held: HTTPConnection | None = None
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def spider_opened(self, spider: OverviewSpider) -> None:
        await asyncio.to_thread(self._hold, spider)

    async def spider_closed(self) -> None:
        if self._held is not None:
            self._held.close()
        if self._bazaar is not None:
            self._bazaar.leave()

    def _hold(self, spider: OverviewSpider) -> None:
        """Stay connected to it until the crawl is over, so that it does not end with who started it."""
        from pricewatch.bazaar.client import BazaarError

        place = urlsplit(spider.market.base_url)
        for _ in range(ATTEMPTS):
            connection = HTTPConnection(place.hostname or "", place.port, timeout=5)
            try:
                connection.request("GET", "/_control/clock")
                connection.getresponse().read()
            except (OSError, HTTPException):
                connection.close()
            else:
                self._held = connection
                return
            with suppress(BazaarError):
                self._bazaar = _start(spider, place.port or 0)
        logger.warning("The sample marketplace cannot be started at %s", spider.market.base_url)


def _start(spider: OverviewSpider, port: int) -> Bazaar:
    """Its world began when this database was made, and goes on with the real time."""
    from pricewatch.bazaar.client import Bazaar

    bazaar = Bazaar.start_for_all(port=port, start=spider.market.source_created_at, live=1)
    bazaar.set_clock(clock.now())
    return bazaar
