"""What product pages teach about their source: that it needs the browser, and where its price stands."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from scrapy.crawler import Crawler
from sqlalchemy import Connection

from pricewatch import clock
from pricewatch.items import ProductPage, UnreadPage
from pricewatch.pipelines.base import RunPipeline
from pricewatch.store.operations import lost_price_places
from pricewatch.store.source_registry import price_places, source_hints
from pricewatch.store.writing.batch import Batch, WriteUnit


class SourceMemoryPipeline(RunPipeline):
    """The places of prices are written once per run and source, because most pages only confirm them."""

    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        # The places of stored prices by source, in order.
        self._places: defaultdict[str, list[str]] = defaultdict(list)
        # By adapter and source: pages with an established place, and how many of them do not have it.
        self._looked: Counter[tuple[str, str]] = Counter()
        self._missing: Counter[tuple[str, str]] = Counter()

    async def process_item(self, item: Any) -> Any:
        if isinstance(item, ProductPage | UnreadPage) and item.price_place_missing is not None:
            source_id = item.source if isinstance(item, UnreadPage) else item.offer.source
            read_from = item.adapter_id, source_id
            self._looked[read_from] += 1
            if item.price_place_missing:
                self._missing[read_from] += 1
                self.run.note(f"price_place_missing/{source_id}")
        return item

    def write(self, connection: Connection, batch: Batch) -> None:
        learned = {
            page.offer.source for _, page in batch.of(ProductPage) if page.needed_browser and page.is_accepted
        }
        if learned:
            source_hints.learn_browser(connection, learned, clock.now())

    def committed(self, unit: WriteUnit) -> None:
        page = unit.item
        if isinstance(page, ProductPage) and page.price_place and page.is_accepted and not unit.jumped:
            self._places[page.offer.source].append(page.price_place)

    def end(self, connection: Connection) -> None:
        now = clock.now()
        if self._places:
            price_places.remember_pages(connection, self._places, now)
        for (adapter_id, source_id), pages in sorted(self._looked.items()):
            missing = self._missing[adapter_id, source_id]
            lost_price_places.judge(connection, adapter_id, source_id, missing=missing, pages=pages, now=now)
