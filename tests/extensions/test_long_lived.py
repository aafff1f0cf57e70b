"""What lives as long as a crawl is left alone by the garbage collector, and no longer than that."""

from __future__ import annotations

import asyncio
import gc
from weakref import ref

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.spiders import Spider

from pricewatch.extensions.long_lived import LongLivedExtension


def test_frozen_while_the_crawl_lasts() -> None:
    crawler = Crawler(Spider)
    extension = LongLivedExtension.from_crawler(crawler)

    async def counted(signal: object) -> int:
        await crawler.signals.send_catch_log_async(signal)
        return gc.get_freeze_count()

    try:
        assert asyncio.run(counted(signals.engine_started)) > 0
    finally:
        assert asyncio.run(counted(signals.engine_stopped)) == 0
    assert extension is not None


class Part:
    """Of a crawl that is over; it holds itself, so only the collector can end it."""

    def __init__(self) -> None:
        self.me = self


def test_what_an_earlier_crawl_left_is_not_kept() -> None:
    crawler = Crawler(Spider)
    extension = LongLivedExtension.from_crawler(crawler)
    extension.engine_started()
    extension.engine_stopped()
    left = ref(Part())
    # The collector comes by itself only now and then.
    extension.engine_started()
    extension.engine_stopped()
    assert left() is None
