"""Scrapy's feeds (`-O out.jsonl`) with one row per listing, written when it is committed."""

from __future__ import annotations

from typing import Any, Self

from itemadapter import ItemAdapter
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.extensions.feedexport import FeedExporter

from pricewatch.adapters.item_reader import is_offer
from pricewatch.items import CheckedListings, CollectedMarket, OverviewPage, ProductPage
from pricewatch.runs.crawl_run import run_of

# Sent for every accepted listing after its transaction; `listing` is a dict of its fields.
listing_stored = object()


class ListingFeedExporter(FeedExporter):
    """Export one row per committed listing; other items are exported as Scrapy does."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        exporter = super().from_crawler(crawler)
        try:
            run_of(crawler)
        except NotConfigured:
            return exporter
        exporter.stores = True
        crawler.signals.connect(exporter.listing_stored, listing_stored)
        return exporter

    def __init__(self, crawler: Crawler):
        self.stores = False
        super().__init__(crawler)

    def item_scraped(self, item: Any, spider: Spider) -> None:
        if not self.stores or not _is_stored(item):
            super().item_scraped(item, spider)

    def listing_stored(self, listing: dict[str, Any], spider: Spider) -> None:
        super().item_scraped(listing, spider)


def _is_stored(item: Any) -> bool:
    """Return whether pricewatch stores an item, so that `listing_stored` is sent for its listings."""
    if isinstance(item, OverviewPage | ProductPage | CollectedMarket | CheckedListings):
        return True
    return ItemAdapter.is_item(item) and is_offer(ItemAdapter(item))
