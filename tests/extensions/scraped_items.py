"""Count the scraped items of a run by their type."""

from __future__ import annotations

from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler

from pricewatch.runs.crawl_run import run_of


class ScrapedExtension:
    def __init__(self, crawler: Crawler):
        self.run = run_of(crawler)
        crawler.signals.connect(self.item_scraped, signals.item_scraped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def item_scraped(self, item: Any) -> None:
        self.run.note(f"scraped/{type(item).__name__}")
