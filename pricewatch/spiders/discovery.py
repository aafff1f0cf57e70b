"""Discovery: find new listings. Collect all cards, commit them once, then read the new product pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar

from scrapy.http import Request

from pricewatch.items import CollectedMarket, OverviewPage
from pricewatch.rules.pagination import should_continue
from pricewatch.runs.list_end_search import confirm_end
from pricewatch.runs.start_page import StartPage
from pricewatch.spiders.arguments import MarketArguments
from pricewatch.spiders.overview import OverviewSpider
from pricewatch.store.writing import collected_cards
from pricewatch.vocabulary import RunStatus


class DiscoverySpider(OverviewSpider):
    name = "discovery"
    extra_pipelines: ClassVar[dict[str, int]] = {
        **OverviewSpider.extra_pipelines,
        "pricewatch.pipelines.collect.CollectPipeline": 360,
    }

    def prepare(self, arguments: MarketArguments) -> None:
        super().prepare(arguments)
        self._all_read = asyncio.Event()
        self._stored = asyncio.Event()
        self.first_run = self.market.first_read_at is None

    async def start(self) -> AsyncIterator[Any]:
        for start in self.starts:
            yield self.page_request(start, 1)
        await self._all_read.wait()
        if not self._may_commit():
            await self.run.call(lambda connection: collected_cards.clear(connection, self.run.id))
            return
        self._remark_on_single_pages()
        market = self._collected()
        yield market
        await self._stored.wait()
        self._report_stored(market)
        for listing_id, url in market.new_listings:
            yield self.product_request(url, listing_id)

    def next_requests(self, start: StartPage) -> Iterator[Request]:
        if start.requested == start.read and self._should_continue(start):
            yield self.page_request(start, start.read + 1)

    async def on_end(self, start: StartPage) -> None:
        # Discovery has read every page before the end, so there are no pages to store.
        await confirm_end(self, start)

    def on_page_stored(self, start: StartPage, page: OverviewPage | None) -> None:
        if page is not None:
            start.cards_on_pages += page.cards_on_page
            start.collected += len(page.cards)
            start.new_by_page.append(page.new or 0)
            for request in self.next_requests(start):
                self.crawler.engine.crawl(request)
        under_way = start.requested > start.read and start.has_next
        compared = start.failed_page is not None or len(start.new_by_page) == start.read
        start.completed = start.failed_page is None and compared and not under_way
        self.show_progress()
        if all(each.completed or each.failed_page for each in self.starts):
            self._all_read.set()

    def _should_continue(self, start: StartPage) -> bool:
        return should_continue(
            start.new_by_page,
            has_next=start.has_next,
            pages_read=start.read,
            first_run=self.first_run,
            max_pages=self.arguments.max_pages or self.market.max_pages,
            stop_after=self.adapter.stop_after_familiar_pages
            or self.settings.getint("STOP_AFTER_FAMILIAR_PAGES"),
        )

    def _is_complete(self, start: StartPage) -> bool:
        """Return whether the list was read to its end or to the page limit of the market."""
        limit = self.market.max_pages
        return not start.has_next or (limit is not None and start.read >= limit)

    def _may_commit(self) -> bool:
        for start in self.starts:
            if start.failed_page:
                last = start.failures[-1]["error"]
                self.run.conclude(
                    RunStatus.FAILED,
                    f"page {start.failed_page} of {start.url} could not be read ({last}); nothing was stored",
                )
                return False
            if not start.cards_on_pages:
                self.run.conclude(RunStatus.ABORTED, f"{start.url} has no listings; nothing was stored")
                return False
        return True

    def _remark_on_single_pages(self) -> None:
        """Warn if a first crawl ended after one page of a longer list: a selector may be wrong."""
        most = self.arguments.max_pages or self.market.max_pages
        for start in self.starts if self.first_run and most != 1 else ():
            if start.read == 1 and start.more_pages_hint:
                what = "`pages`" if start.requested > 1 else "`next`"
                self.run.remark(
                    f"1 page of {start.url} was read, but {start.more_pages_hint}; is {what} right?"
                )

    def _collected(self) -> CollectedMarket:
        most = self.arguments.max_details
        return CollectedMarket(
            source=self.source_id,
            adapter_id=self.adapter.id,
            market=self.market,
            complete=all(self._is_complete(start) for start in self.starts),
            most_details=self.market.max_listings_per_scrape if most is None else most,
        )

    def on_item_stored(self, item: Any) -> None:
        if isinstance(item, CollectedMarket):
            self._stored.set()
        else:
            super().on_item_stored(item)

    def _report_stored(self, market: CollectedMarket) -> None:
        self.run.progress["committed"] = True
        for what, count in market.synced.items():
            self.run.note(what, count)
        self.logger.info(
            "Committed %d new and %d known listings; %d product pages to read",
            market.new,
            market.updated,
            len(market.new_listings),
        )
