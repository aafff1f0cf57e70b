"""Second: listings, sellers and what a page brought go into one transaction."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from sqlalchemy import Connection

from pricewatch import clock
from pricewatch.errors import DatabaseUnavailable
from pricewatch.items import OverviewPage, PageOutcome, ProductPage
from pricewatch.rules.details import due_after_answer
from pricewatch.spiders.base import PricewatchSpider
from pricewatch.store import collection, listings, price_jump, quarantine, runs
from pricewatch.store.batch import Tally, Unit
from pricewatch.store.details import put_off
from pricewatch.store.incoming import Row, card_row, offer_row


class UpsertPipeline:
    def __init__(self, crawler: Crawler):
        spider: Any = crawler.spider
        self.spider: PricewatchSpider = spider
        self.spider.run.steps += [listings.upsert, quarantine.settle_read]
        self.refresh_hours = crawler.settings.getfloat("DETAIL_REFRESH_HOURS")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        try:
            if isinstance(item, OverviewPage):
                await self._store_page(item)
            elif isinstance(item, ProductPage):
                await self._store_product(item)
        except DatabaseUnavailable as error:
            # The run has failed already, and says so.
            self.spider.run.note("dropped/database_unavailable")
            raise DropItem(str(error)) from None
        return item

    async def _store_page(self, page: OverviewPage) -> None:
        """Cards that a spider collects are kept aside; all others are stored, with the page's own row."""
        run, spider = self.spider.run, self.spider
        observed_at = page.observed_at.isoformat()
        rows: list[Row] = [
            card_row(card, spider.source_id, observed_at, spider.adapter.version) for card in page.cards
        ]

        def also(connection: Connection, tally: Tally) -> None:
            if spider.collects:
                given = (run.id, page.start_page, page.number, rows)
                page.new, tally.refused = collection.collect(connection, *given)
            else:
                page.new = tally.new
            tally.pages, tally.cards = 1, len(rows) - len(tally.refused)
            spider.page_stored(connection, page)
            runs.add_page(
                connection,
                run.id,
                url=page.url,
                outcome=PageOutcome.OK,
                fetched_at=page.observed_at,
                start_page=page.start_page,
                page=page.number,
                http_status=page.http_status,
                cards=tally.cards,
                new_listings=page.new,
                updated_listings=tally.updated,
                price_rows=tally.price_rows,
                dropped=page.dropped,
                duration_ms=page.duration_ms,
            )

        labels = spider.adapter.id, spider.source_id
        unit = Unit([] if spider.collects else rows, also, waits=True, read_from=labels)
        tally = await run.write(unit)
        run.pages += 1
        run.cards += tally.cards
        run.note("page/ok")

    async def _store_product(self, item: ProductPage) -> None:
        run = self.spider.run

        def also(connection: Connection, tally: Tally) -> None:
            if item.held is not None:
                quarantine.hold(connection, item, run_id=run.id, at=clock.now())
                if item.listing_id is not None:
                    put_off(connection, item.listing_id, due_at, unread_at=observed_at)
            elif tally.held:
                price_jump.attach_page(connection, item, run_id=run.id)
            self.spider.product_stored(connection, item, tally)

        observed_at = item.offer.observed_at or clock.now()
        due_at = due_after_answer(observed_at, refresh_hours=self.refresh_hours)
        rows = [] if item.held else [offer_row(item.offer, due_at)]
        await run.write(Unit(rows, also, read_from=(item.adapter_id, item.offer.source)))
