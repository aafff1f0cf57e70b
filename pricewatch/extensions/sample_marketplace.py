"""Lets the sample market be crawled with nothing set up: its marketplace runs as long as the crawl does."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from pricewatch import clock

if TYPE_CHECKING:
    from pricewatch.bazaar.client import Bazaar
    from pricewatch.spiders.overview import OverviewSpider


class SampleMarketplaceExtension:
    def __init__(self, crawler: Crawler):
        if getattr(getattr(crawler.spider, "adapter", None), "id", None) != "bazaar":
            raise NotConfigured
        self._bazaar: Bazaar | None = None
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def spider_opened(self, spider: OverviewSpider) -> None:
        self._bazaar = await asyncio.to_thread(_start_if_silent, spider)

    async def spider_closed(self) -> None:
        if self._bazaar is not None:
            await asyncio.to_thread(self._bazaar.stop)


def _start_if_silent(spider: OverviewSpider) -> Bazaar | None:
    from pricewatch.bazaar.client import Bazaar

    base_url = spider.market.base_url
    try:
        urllib.request.urlopen(f"{base_url}/_control/clock", timeout=5).close()  # noqa: S310 - our own
    except urllib.error.HTTPError:
        return None
    except OSError:
        # Its world began when this database was made, and goes on with the real time.
        port = urlsplit(base_url).port or 0
        bazaar = Bazaar.start(port=port, start=spider.market.source_created_at, live=1)
        bazaar.set_clock(clock.now())
        return bazaar
    return None
