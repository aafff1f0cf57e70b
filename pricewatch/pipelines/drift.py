"""Fourth: how well the adapter reads, as rates of this run."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler

from pricewatch.items import ProductPage
from pricewatch.rules.drift import Rates, rates
from pricewatch.spiders.base import PricewatchSpider


class DriftPipeline:
    def __init__(self, crawler: Crawler):
        spider: Any = crawler.spider
        self.spider: PricewatchSpider = spider
        self.stats = crawler.stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        if isinstance(item, ProductPage) and item.held is not None and item.offer.price_cents == 0:
            self.spider.run.count("zero_price_count")
        return item

    async def close_spider(self) -> None:
        found = self.rates()
        for name in Rates.__slots__:
            if (rate := getattr(found, name)) is not None:
                self.stats.set_value(f"pricewatch/drift/{name}", rate)

    def rates(self) -> Rates:
        return rates(self.spider.run.counters)
