"""Custom pipelines that tests insert between pricewatch's."""

from __future__ import annotations

from typing import Any

from scrapy.exceptions import DropItem
from sqlalchemy import Connection, text

from pricewatch.items import OverviewPage, ProductPage
from pricewatch.pipelines.base import RunPipeline
from pricewatch.store.writing.batch import Batch

_MISSING = text("""
SELECT count(*) FILTER (WHERE l.id IS NULL), count(*) FILTER (WHERE h.listing_id IS NULL)
FROM incoming i LEFT JOIN listings l ON l.id = i.listing_id
LEFT JOIN price_history h ON h.listing_id = i.listing_id WHERE i.is_new AND i.price_cents IS NOT NULL
""")


class Between(RunPipeline):
    """After the upsert and before the history: new listings exist, their first price does not."""

    def write(self, connection: Connection, batch: Batch) -> None:
        if batch.has_rows:
            without_listing, without_history = connection.execute(_MISSING).one()
            new = connection.execute(
                text("SELECT count(*) FROM incoming WHERE is_new AND price_cents > 0")
            ).scalar_one()
            self.run.note("between/without_listing", without_listing)
            self.run.note("between/without_history", without_history)
            self.run.note("between/new", new)


class After(RunPipeline):
    """After the history: listings and prices exist."""

    def write(self, connection: Connection, batch: Batch) -> None:
        if batch.has_rows:
            without_listing, without_history = connection.execute(_MISSING).one()
            self.run.note("after/missing", without_listing + without_history)


class RefusesOneCard(RunPipeline):
    """Make the transaction fail because of one row of each page."""

    def write(self, connection: Connection, batch: Batch) -> None:
        for unit, _ in batch.of(OverviewPage):
            if any(row["title"].startswith("refuse me") for row in unit.rows):
                connection.execute(text("SELECT 1 / 0"))


class MarksOneCard:
    """Runs before pricewatch's pipelines, so it can change items."""

    async def process_item(self, item: Any) -> Any:
        if isinstance(item, OverviewPage):
            item.cards[3].title = f"refuse me {item.cards[3].title}"
        return item


class DropsAll:
    async def process_item(self, item: Any) -> Any:
        if isinstance(item, ProductPage):
            raise DropItem("not today")
        return item
