"""Last: pass each item to the writer, and drop items that were not accepted."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from scrapy.exceptions import DropItem

from pricewatch.errors import DatabaseUnavailable, UserError
from pricewatch.items import CheckedListings, CollectedMarket, OverviewPage, ProductPage, UnreadPage
from pricewatch.pipelines.base import RunPipeline
from pricewatch.store.writing.batch import WriteUnit
from pricewatch.store.writing.collected_cards import CollectedUnit
from pricewatch.vocabulary import RunStatus


class CommitPipeline(RunPipeline):
    """Items whose spider waits for their commit (`waits`) are returned only after it."""

    async def process_item(self, item: Any) -> Any:
        unit = self._unit(item)
        if unit is None:
            return item
        try:
            await self.run.write(unit)
        except DatabaseUnavailable as error:
            # The run has failed already with this reason.
            self.run.note("dropped/database_unavailable")
            raise DropItem(str(error)) from None
        except UserError as error:
            self.run.conclude(RunStatus.FAILED, str(error))
            self.run.end_crawl("store")
            raise DropItem(str(error)) from None
        if isinstance(item, OverviewPage):
            self.run.pages += 1
            self.run.cards += unit.counts.cards
            self.run.note("page/ok")
        return self._accepted_item(item)

    async def close_spider(self) -> None:
        """Wait until everything is committed and exported to feeds before the crawl closes."""
        # If the database is unavailable, the run has failed already with this reason.
        with suppress(DatabaseUnavailable):
            if self.run.id:
                await self.run.flush()

    def _unit(self, item: Any) -> WriteUnit | None:
        if isinstance(item, OverviewPage):
            read_from = item.adapter_id, item.source
            return WriteUnit(item.rows, item, waits=True, collect_only=not item.in_cycle, read_from=read_from)
        if isinstance(item, ProductPage):
            return WriteUnit(item.rows, item, read_from=(item.adapter_id, item.offer.source))
        if isinstance(item, UnreadPage):
            return WriteUnit([], item)
        if isinstance(item, CollectedMarket):
            read_from = item.adapter_id, item.source
            return CollectedUnit([], item, waits=True, read_from=read_from, run_id=self.run.id)
        return WriteUnit([], item, waits=True) if isinstance(item, CheckedListings) else None

    def _accepted_item(self, item: Any) -> Any:
        if isinstance(item, UnreadPage):
            raise DropItem(f"no offer: {item.reason}")
        if isinstance(item, ProductPage):
            if item.quarantine is not None:
                raise DropItem(f"quarantined: {item.quarantine.reason}")
            if item.dropped is not None:
                raise DropItem(f"{item.dropped.reason} {item.dropped.details}".strip())
            return item if item.original_item is None else item.original_item
        return item
