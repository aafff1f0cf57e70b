"""Sweep: follow the prices of a market, one chunk of pages per run, starting at the checkpoint."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import Any

from scrapy.http import Request
from sqlalchemy import Connection

from pricewatch import clock
from pricewatch.items import OverviewPage
from pricewatch.rules.sweep_cycle import Cycle, judge_cycle, shows_prices, window
from pricewatch.runs.list_end_search import confirm_end
from pricewatch.runs.start_page import StartPage
from pricewatch.spiders.arguments import MarketArguments
from pricewatch.spiders.overview import OverviewSpider
from pricewatch.store.operations import alert_rows
from pricewatch.store.writing import detail_queue, sweep_checkpoints
from pricewatch.vocabulary import RunStatus


class SweepSpider(OverviewSpider):
    name = "sweep"
    has_cycle = True

    def prepare(self, arguments: MarketArguments) -> None:
        super().prepare(arguments)
        self._ended = asyncio.Event()
        urls = [start.url for start in self.starts]
        stopped_at = self.market.sweep_start_page
        # A checkpoint in a start page that the market no longer has is ignored.
        self.begins_cycle = stopped_at not in urls or self.market.sweep_page is None
        self._index = urls.index(stopped_at) if stopped_at in urls and not self.begins_cycle else 0
        self._first, self._last = window(
            None if self.begins_cycle else self.market.sweep_page,
            pages=arguments.max_pages or self.settings.getint("SWEEP_PAGES_PER_RUN"),
            overlap=self.settings.getint("SWEEP_OVERLAP_PAGES"),
        )
        self._pages_left = self._last - self._first + 1
        self._stored_page = 0
        self._reading: StartPage | None = None
        # The cards that this run added to the cycle, by page.
        self._counted: dict[int, int] = {}
        self._deadline = time.monotonic() + 60 * self.settings.getfloat("SWEEP_TIME_BUDGET_MINUTES")

    async def start(self) -> AsyncIterator[Any]:
        if self.begins_cycle:
            await self.run.call(self._begin_cycle)
        first = self._first
        for number, start in enumerate(self.starts[self._index :], self._index):
            self._reading, self._stored_page = start, 0
            self._counted.clear()
            self._ended.clear()
            yield self.page_request(start, first)
            await self._ended.wait()
            if start.past_end is not None:
                for page in await confirm_end(self, start):
                    yield page
            if start.failed_page:
                self._fail(start)
                break
            if start.has_next:
                self.run.progress["goes_on_from"] = start.read
                break
            await self._end_list(number)
            if number == len(self.starts) - 1:
                await self._end_cycle()
            if not self._within_budget():
                break
            first = 1
        for detail in await self._details():
            yield self.product_request(detail.url, detail.listing_id, detail.earlier)

    def page_request(self, start: StartPage, number: int, attempt: int = 1) -> Request:
        if attempt == 1:
            self._pages_left -= 1
        return super().page_request(start, number, attempt)

    def next_requests(self, start: StartPage) -> Iterator[Request]:
        if start.requested == start.read and start.has_next and self._within_budget():
            yield self.page_request(start, start.read + 1)

    def on_page_stored(self, start: StartPage, page: OverviewPage | None) -> None:
        if page is not None:
            start.cards_on_pages += page.cards_on_page
            start.collected += len(page.cards)
            start.new_by_page.append(page.new or 0)
            self._stored_page = max(self._stored_page, page.number)
            if page.counted:
                self._counted[page.number] = page.cards_on_page
        self._update_progress(start)
        under_way = start.requested > start.read and start.has_next
        stored = self._stored_page >= start.read
        if start is self._reading and (start.failed_page or (stored and not under_way)):
            self._ended.set()

    def work_done(self) -> tuple[int, int | None]:
        return self.run.pages, min(self._last, self.market.sweep_last_pages or self._last) - self._first + 1

    def _within_budget(self) -> bool:
        return self._pages_left > 0 and time.monotonic() < self._deadline

    def _begin_cycle(self, connection: Connection) -> None:
        sweep_checkpoints.begin_cycle(connection, self.market.id, self.starts[0].url, clock.now())

    async def _end_list(self, number: int) -> None:
        """Record the end of a start page, and move the checkpoint to the next one if there is one."""
        start, last = self.starts[number], self.starts[number].read
        following = self.starts[number + 1].url if number + 1 < len(self.starts) else None
        start.completed = True
        cards_past_end = sum(cards for page, cards in self._counted.items() if page > last)

        def end(connection: Connection) -> None:
            sweep_checkpoints.end_list(connection, self.market.id, start.url, last, cards_past_end)
            if following is not None:
                sweep_checkpoints.start_next_list(connection, self.market.id, following)

        await self.run.call(end)
        before = self._previous_last_page(start)
        if last < before:
            self.run.note("sweep/list_shrunk")
            self.run.progress["list_ends"] = f"page {last} (was {before})"
            self.logger.info("%s: the list now ends at page %d (was %d)", start.url, last, before)
        self._update_progress(start)

    def _previous_last_page(self, start: StartPage) -> int:
        """Return the last page of a start page that is known from earlier runs."""
        checkpoint = self.market.sweep_page if start.url == self.market.sweep_start_page else None
        end = self.market.sweep_last_pages if start is self.starts[-1] else None
        return max(checkpoint or 0, end or 0)

    async def _end_cycle(self) -> None:
        """End the cycle, and decide whether it saw enough of the market to count as complete."""

        def end(connection: Connection) -> tuple[sweep_checkpoints.CycleCounts, Cycle, str]:
            counts = sweep_checkpoints.cycle_counts(connection, self.market.id)
            cycle = judge_cycle(
                counts.seen,
                counts.last_complete,
                counts.last_partial,
                least=self.settings.getfloat("SWEEP_LEAST_COVERAGE"),
                agreement=self.settings.getfloat("SWEEP_AGREEMENT"),
            )
            now = clock.now()
            if cycle is Cycle.PARTIAL:
                self._alert_partial(connection, counts, now)
                doubt = "The cycle saw too little of the market to count as complete"
            else:
                alert_rows.resolve_alert(connection, kind="sweep_partial", subject=self.market.id, now=now)
                doubt = self._check_prices(connection, now)
            sweep_checkpoints.end_cycle(connection, self.market.id, now, cycle, counts_as_complete=not doubt)
            return counts, cycle, doubt

        counts, cycle, doubt = await self.run.call(end)
        self.run.note(f"sweep/cycle_{Cycle.PARTIAL if doubt else cycle}")
        self.run.progress["cycle"] = {
            "seen": counts.seen,
            "last_complete": counts.last_complete,
            "complete": not doubt,
        }
        if doubt:
            self.run.partial = True
            self.run.error(doubt, seen=counts.seen, before=counts.last_complete)
        elif cycle is Cycle.SHRUNK:
            message = f"two cycles agree: {counts.seen} cards now, {counts.last_complete} before"
            self.run.progress["market_shrank"] = message
            self.logger.info("%s is accepted as smaller: %s", self.market.id, message)

    def _alert_partial(
        self, connection: Connection, counts: sweep_checkpoints.CycleCounts, now: datetime
    ) -> None:
        alert_rows.raise_alert(
            connection,
            kind="sweep_partial",
            subject=self.market.id,
            message=f"A sweep of {self.market.id} saw {counts.seen} cards, the last complete one "
            f"{counts.last_complete}. If the next sweep agrees, the smaller size is accepted; "
            f"`scrapy markets believe {self.market.id} --by NAME` accepts it now.",
            severity="P2",
            now=now,
            details={"seen": counts.seen, "before": counts.last_complete, "run_id": self.run.id},
        )

    def _check_prices(self, connection: Connection, now: datetime) -> str:
        """Return why the share of cards with a price is doubtful; empty if it is about the same as before.

        A second cycle with the same share is accepted.
        """
        shares = sweep_checkpoints.price_shares(connection, self.market.id)
        drop = self.settings.getfloat("SWEEP_PRICE_SHARE_DROP")
        if shows_prices(*shares, drop=drop):
            sweep_checkpoints.set_doubted_price_share(connection, self.market.id, None)
            alert_rows.resolve_alert(connection, kind="cards_without_price", subject=self.market.id, now=now)
            return ""
        sweep_checkpoints.set_doubted_price_share(connection, self.market.id, shares.now)
        summary = (
            f"{shares.now:.0%} of the cards show a price, {shares.last_complete:.0%} in the last complete one"
        )
        alert_rows.raise_alert(
            connection,
            kind="cards_without_price",
            subject=self.market.id,
            message=f"In the last sweep of {self.market.id}, only {summary}.",
            severity="P2",
            now=now,
            details={"share": shares.now, "before": shares.last_complete, "run_id": self.run.id},
        )
        return f"In this cycle, {summary}"

    def _fail(self, start: StartPage) -> None:
        error = start.failures[-1]["error"]
        self.run.conclude(
            RunStatus.FAILED,
            f"page {start.failed_page} of {start.url} could not be read ({error}); "
            "all pages before it are stored, and the next run continues there",
        )

    async def _details(self) -> list[detail_queue.DetailPage]:
        most = self.arguments.max_details
        if most is None:
            most = self.settings.getint("SWEEP_MAX_DETAILS")
        now = clock.now()
        return await self.run.call(
            lambda connection: detail_queue.next_pages(connection, self.market.id, now, most)
        )

    def _update_progress(self, start: StartPage) -> None:
        self.show_progress()
        self.run.progress |= {
            "first_page": self._first,
            "last_page": self._last,
            "page": start.read,
            "pages_in_market": self.market.sweep_last_pages,
        }
