"""Objects that the components of a crawl share."""

from __future__ import annotations

import gc
import weakref

from scrapy import Spider
from scrapy.crawler import Crawler

from pricewatch.fetching.per_crawl import per_crawl


class Part:
    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler


def test_object_is_created_once_per_crawl_and_freed_with_it() -> None:
    crawler = Crawler(Spider)
    assert per_crawl(crawler, Part) is per_crawl(crawler, Part)
    assert per_crawl(Crawler(Spider), Part) is not per_crawl(crawler, Part)
    gone = weakref.ref(crawler)
    del crawler
    gc.collect()
    assert gone() is None
