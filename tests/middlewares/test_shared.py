"""What is shared within a crawl ends with it."""

from __future__ import annotations

import gc
import weakref

from scrapy import Spider
from scrapy.crawler import Crawler

from pricewatch.fetching.per_crawl import per_crawl


class Part:
    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler


def test_made_once_and_not_kept_beyond_the_crawl() -> None:
    crawler = Crawler(Spider)
    assert per_crawl(crawler, Part) is per_crawl(crawler, Part)
    assert per_crawl(Crawler(Spider), Part) is not per_crawl(crawler, Part)
    gone = weakref.ref(crawler)
    del crawler
    gc.collect()
    assert gone() is None
