"""Sweep: follow prices through the whole market, a chunk of pages a run, from where the last one stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import Any

from scrapy.http import Request
from sqlalchemy import Connection

from pricewatch import clock
from pricewatch.items import OverviewPage, RunStatus
from pricewatch.rules.sweep import covers, owes_a_price, shows_prices, window
from pricewatch.spiders.arguments import MarketArguments
from pricewatch.spiders.overview import OverviewSpider, StartPage
from pricewatch.store import alerts, details, sweeps


class SweepSpider(OverviewSpider):
    name = "sweep"

    def prepare(self, arguments: MarketArguments) -> None:
        super().prepare(arguments)
        self._ended = asyncio.Event()
        urls = [start.url for start in self.starts]
        stopped_at = self.market.sweep_start_page
        # A checkpoint in a start page that the market no longer has is worth nothing.
        self.begins = stopped_at not in urls or self.market.sweep_page is None
        self._index = urls.index(stopped_at) if stopped_at in urls and not self.begins else 0
        self._first, self._last = window(
            None if self.begins else self.market.sweep_page,
            pages=arguments.max_pages or self.settings.getint("SWEEP_PAGES_PER_RUN"),
            overlap=self.settings.getint("SWEEP_OVERLAP_PAGES"),
        )
        self._pages_left = self._last - self._first + 1
        self._stored_page = 0
        self._why_partial = "The cycle saw too little of the market to conclude anything"
        self._deadline = time.monotonic() + 60 * self.settings.getfloat("SWEEP_TIME_BUDGET_MINUTES")

    async def start(self) -> AsyncIterator[Any]:
        if self.begins:
            await self.run.call(self._begin)
        first = self._first
        for number, start in enumerate(self.starts[self._index :], self._index):
            self._ended.clear()
            self._stored_page = 0
            yield self.page_request(start, first)
            await self._ended.wait()
            if start.failed_page:
                self._fail(start)
                break
            if start.has_next:
                self.run.progress["goes_on_from"] = start.read
                break
            if number == len(self.starts) - 1:
                await self._end_cycle()
            else:
                following = self.starts[number + 1].url
                await self.run.call(lambda connection: sweeps.move_to(connection, self.market.id, following))  # noqa: B023
            if not self._within_budget():
                break
            first = 1
        for listing_id, url in await self._details():
            yield self.product_request(url, listing_id)

    def page_request(self, start: StartPage, number: int, attempt: int = 1) -> Request:
        if attempt == 1:
            self._pages_left -= 1
        return super().page_request(start, number, attempt)

    def next_requests(self, start: StartPage) -> Iterator[Request]:
        if start.requested == start.read and start.has_next and self._within_budget():
            yield self.page_request(start, start.read + 1)

    def page_stored(self, connection: Connection, page: OverviewPage) -> None:
        owing = [card.price_cents for card in page.cards if owes_a_price(card.availability)]
        priced = sum(price is not None for price in owing)
        shown = {"priced": priced, "unpriced": len(owing) - priced}
        sweeps.advance(connection, self.market.id, page.start_page, page.number, len(page.cards), **shown)

    def page_read(self, start: StartPage, page: OverviewPage | None) -> None:
        if page is not None:
            start.collected += len(page.cards)
            start.new_by_page.append(page.new or 0)
            self._stored_page = max(self._stored_page, page.number)
        self._show(start)
        under_way = start.requested > start.read and start.has_next
        stored = self._stored_page >= start.read or not start.collected
        if start.failed_page or (stored and not under_way):
            start.completed = not start.failed_page and not start.has_next
            self._ended.set()

    def work_done(self) -> tuple[int, int | None]:
        return self.run.pages, min(self._last, self.market.sweep_last_pages or self._last) - self._first + 1

    def _within_budget(self) -> bool:
        return self._pages_left > 0 and time.monotonic() < self._deadline

    def _begin(self, connection: Connection) -> None:
        sweeps.begin_cycle(connection, self.market.id, self.starts[0].url, clock.now())

    async def _end_cycle(self) -> None:
        """The end of the market: whether this cycle saw enough of it decides whether it counts."""

        def end(connection: Connection) -> tuple[int, int | None, bool]:
            seen, before = sweeps.cycle_seen(connection, self.market.id)
            covered = covers(seen, before, least=self.settings.getfloat("SWEEP_LEAST_COVERAGE"))
            now = clock.now()
            complete = covered and self._judge_prices(connection, now)
            sweeps.end_cycle(connection, self.market.id, now, complete=complete)
            if covered:
                alerts.resolve_alert(connection, kind="sweep_partial", subject=self.market.id, now=now)
            else:
                alerts.raise_alert(
                    connection,
                    kind="sweep_partial",
                    subject=self.market.id,
                    message=f"A sweep of {self.market.id} saw {seen} cards, the last complete one {before}.",
                    severity="P2",
                    now=now,
                    details={"seen": seen, "before": before, "run_id": self.run.id},
                )
            return seen, before, complete

        seen, before, complete = await self.run.call(end)
        self.run.progress["cycle"] = {"seen": seen, "last_complete": before, "complete": complete}
        if complete:
            self.run.note("sweep/cycle_complete")
        else:
            self.run.note("sweep/cycle_partial")
            self.run.partial = True
            self.run.error(self._why_partial, seen=seen, before=before)

    def _judge_prices(self, connection: Connection, now: datetime) -> bool:
        """Whether the cards showed their prices as before, or a second cycle found that they no longer do."""
        shares = sweeps.price_shares(connection, self.market.id)
        drop = self.settings.getfloat("SWEEP_PRICE_SHARE_DROP")
        if shows_prices(*shares, drop=drop):
            sweeps.doubt_prices(connection, self.market.id, None)
            alerts.resolve_alert(connection, kind="cards_without_price", subject=self.market.id, now=now)
            return True
        sweeps.doubt_prices(connection, self.market.id, shares.now)
        fell = (
            f"{shares.now:.0%} of the cards show a price, {shares.last_complete:.0%} in the last complete one"
        )
        self._why_partial = f"Of this cycle {fell}"
        alerts.raise_alert(
            connection,
            kind="cards_without_price",
            subject=self.market.id,
            message=f"In a sweep of {self.market.id} only {fell}.",
            severity="P2",
            now=now,
            details={"share": shares.now, "before": shares.last_complete, "run_id": self.run.id},
        )
        return False

    def _fail(self, start: StartPage) -> None:
        last = start.failures[-1]["error"]
        self.run.conclude(
            RunStatus.FAILED,
            f"page {start.failed_page} of {start.url} could not be read ({last}); "
            "everything before it is stored, and the next run goes on from there",
        )

    async def _details(self) -> list[tuple[int, str]]:
        most = self.arguments.max_details
        if most is None:
            most = self.settings.getint("SWEEP_MAX_DETAILS")
        now = clock.now()
        return await self.run.call(lambda connection: details.choose(connection, self.market.id, now, most))

    def _show(self, start: StartPage) -> None:
        self.show_progress()
        self.run.progress |= {
            "first_page": self._first,
            "last_page": self._last,
            "page": start.read,
            "pages_in_market": self.market.sweep_last_pages,
        }
