"""For discovery: collect the cards of its pages, and store them when the whole market has been read."""

from __future__ import annotations

from sqlalchemy import Connection

from pricewatch import clock
from pricewatch.items import CollectedMarket, OverviewPage
from pricewatch.pipelines.base import RunPipeline
from pricewatch.store.writing import collected_cards, market_sync
from pricewatch.store.writing.batch import Batch


class CollectPipeline(RunPipeline):
    def write(self, connection: Connection, batch: Batch) -> None:
        for unit, page in batch.of(OverviewPage):
            page.new = collected_cards.collect(
                connection, batch.run_id, page.start_page, page.number, unit.rows
            )
        for unit, market in batch.of(CollectedMarket):
            batch.count(connection)
            market.new, market.updated = unit.counts.new, unit.counts.updated
            self._conclude(connection, batch.run_id, market)

    def _conclude(self, connection: Connection, run_id: int, market: CollectedMarket) -> None:
        """Choose the new listings to read; after a complete search, sync the listings it did not return."""
        now = clock.now()
        market.new_listings = collected_cards.new_listings(connection, run_id, market.most_details)
        collected_cards.clear(connection, run_id)
        if market.complete:
            if market.market.is_search:
                market.synced = market_sync.sync(connection, market.market, now)
            collected_cards.mark_market_read(connection, market.market.id, now)
