"""Last: how well the adapter reads, as rates of this run."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler

from pricewatch.items import ProductPage, QuarantineReason
from pricewatch.rules.drift import Rates, Unread, rates, unread
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
        held = item.held if isinstance(item, ProductPage) else None
        if held is not None and held.reason is QuarantineReason.ZERO_PRICE_EXTRACTED:
            if unread(item.earlier) is Unread.KNOWN:
                self.spider.run.count("zero_price_count")
            else:
                self.spider.run.count_read("zero_price_count", item.adapter_id, item.offer.source)
        return item

    async def close_spider(self) -> None:
        found = self.rates()
        for name in Rates.__slots__:
            if (rate := getattr(found, name)) is not None:
                self.stats.set_value(f"pricewatch/drift/{name}", rate)

    def rates(self) -> Rates:
        return rates(self.spider.run.counters)
