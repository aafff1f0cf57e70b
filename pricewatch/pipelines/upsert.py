"""Second: convert accepted items to rows, and upsert the rows as listings."""

from __future__ import annotations

from typing import Any

from scrapy.crawler import Crawler
from sqlalchemy import Connection

from pricewatch import clock
from pricewatch.items import OverviewPage, ProductPage
from pricewatch.pipelines.base import RunPipeline
from pricewatch.rules.detail_pages import due_after_answer
from pricewatch.store.writing import listing_upsert
from pricewatch.store.writing.batch import Batch
from pricewatch.store.writing.incoming_rows import card_row, offer_row


class UpsertPipeline(RunPipeline):
    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        self.refresh_hours = crawler.settings.getfloat("DETAIL_REFRESH_HOURS")

    async def process_item(self, item: Any) -> Any:
        if isinstance(item, OverviewPage):
            at = item.observed_at.isoformat()
            item.rows = [card_row(card, item.source, at, item.adapter_version) for card in item.cards]
        elif isinstance(item, ProductPage) and item.is_accepted:
            observed_at = item.offer.observed_at or clock.now()
            due_at = due_after_answer(observed_at, refresh_hours=self.refresh_hours)
            item.rows = [offer_row(item.offer, due_at)]
        return item

    def write(self, connection: Connection, batch: Batch) -> None:
        if batch.has_rows:
            listing_upsert.upsert(connection, batch)
