"""What discovery and sweep share: a market's start pages, read page by page into cards."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, ClassVar
from urllib.parse import urljoin

from scrapy import signals
from scrapy.http import Request, Response, TextResponse
from twisted.python.failure import Failure

from pricewatch import clock
from pricewatch.adapters.base import Adapter, MarketQuery, Overview, sign_of_more
from pricewatch.errors import UserError
from pricewatch.items import Card, ExtractFailure, OverviewPage
from pricewatch.parsing.identity import identity_key
from pricewatch.parsing.url import InvalidUrl, canonical_url
from pricewatch.rules.list_end import Answer, is_led_away, leads_back
from pricewatch.rules.market_membership import belongs
from pricewatch.runs.start_page import PageReading, StartPage, failed_reading
from pricewatch.spiders.arguments import MarketArguments
from pricewatch.spiders.base import PricewatchSpider, adapter_for
from pricewatch.store.engine.database import engine
from pricewatch.store.writing.market_rows import MarketRecord, load_approved_market
from pricewatch.vocabulary import DropReason, FailureReason, PageOutcome


class OverviewSpider(PricewatchSpider):
    """Base of the spiders that read overview pages."""

    arguments_type = MarketArguments
    own_pipelines: ClassVar[dict[str, int]] = {"pricewatch.pipelines.checkpoint.CheckpointPipeline": 370}
    # Whether its pages are part of a cycle that is followed by a checkpoint.
    has_cycle: ClassVar[bool] = False
    arguments: MarketArguments
    market: MarketRecord
    page_size: int

    @classmethod
    def load(cls, arguments: MarketArguments) -> tuple[MarketRecord, Adapter, list[str]]:
        with engine().connect() as connection:
            market = load_approved_market(connection, arguments.market)
        adapter = adapter_for(market.adapter_id)
        if not adapter.has_overview():
            raise UserError(
                f"Market {market.id} uses the adapter {adapter.id}, which reads product pages only: "
                "choose an adapter with overview pages, or add the URLs as targets."
            )
        pages = market.start_pages or adapter.start_pages(market.parameters)
        if not pages:
            raise UserError(f"Market {market.id} has no start pages: add at least one to crawl it.")
        return market, adapter, list(dict.fromkeys(pages))

    def prepare(self, arguments: MarketArguments) -> None:
        self.market, self.adapter, pages = self.load(arguments)
        self.source_id = self.market.source_id
        self.page_size = min(self.market.page_size or self.adapter.max_page_size, self.adapter.max_page_size)
        self.starts = [StartPage(url) for url in pages]
        self.crawler.signals.connect(self.item_stored, signals.item_scraped)

    def run_fields(self) -> dict[str, Any]:
        return {
            **super().run_fields(),
            "market_id": self.market.id,
            "source_id": self.source_id,
            "adapter_id": self.adapter.id,
            "adapter_version": self.adapter.version,
        }

    def describe(self) -> str:
        return f"{self.name} {self.market.id}"

    def page_request(self, start: StartPage, number: int, attempt: int = 1) -> Request:
        start.requested = max(start.requested, number)
        return Request(
            self.page_url(start, number),
            callback=self.parse_overview,
            errback=self.overview_failed,
            cb_kwargs={"start": start, "number": number, "attempt": attempt},
            meta={"asked_at": time.monotonic(), **self.rendering()},
            dont_filter=True,
            # Pages before details: what the market shows is known sooner.
            priority=10,
        )

    def page_url(self, start: StartPage, number: int) -> str:
        query = MarketQuery(self.market.base_url, start.url, self.page_size, self.market.parameters)
        return self.adapter.overview_url(query, number)

    async def parse_overview(self, response: Response, start: StartPage, number: int, attempt: int) -> Any:
        reading = self.read_page(response, start, number)
        if reading.fingerprint in start.prints.values():
            reading.outcome = PageOutcome.REPEATED
        if reading.fingerprint is not None:
            start.prints[number] = reading.fingerprint
        if reading.answer is not Answer.PAGE:
            for request in await self._no_page(start, reading, attempt):
                yield request
            return
        start.read = max(start.read, number)
        start.has_next = reading.has_next and not self._is_endless(number)
        for request in self.next_requests(start):
            yield request
        yield reading.page

    async def overview_failed(self, failure: Failure) -> list[Request]:
        request: Request = failure.request  # type: ignore[attr-defined]
        given = request.cb_kwargs
        reading = failed_reading(failure, request, given["number"])
        return await self._no_page(given["start"], reading, given["attempt"])

    async def _no_page(self, start: StartPage, reading: PageReading, attempt: int) -> list[Request]:
        """No further page of the list: its end, or trouble that may be over at the next attempt."""
        more_attempts = attempt < self.settings.getint("OVERVIEW_ATTEMPTS")
        if reading.outcome is PageOutcome.EMPTY and reading.number == 1:
            # A list without anything on it. Whether that can be is for the whole run to say.
            await self.record(start, reading)
        elif reading.answer is Answer.END and not (reading.uncertain and more_attempts):
            await self.record(start, reading)
            start.beyond = reading
        else:
            await self.note_failure(start, reading)
            if more_attempts and reading.outcome is not PageOutcome.ROBOTS:
                return [self.page_request(start, reading.number, attempt + 1)]
            self.lose(start, reading)
        start.has_next = False
        if start.beyond is not None:
            await self.end_met(start)
        self.page_read(start, None)
        return []

    async def record(self, start: StartPage, reading: PageReading) -> None:
        await self.run.page(
            url=reading.url,
            # A page that is not there shows no more than an empty one.
            outcome=PageOutcome.EMPTY if reading.outcome is PageOutcome.HTTP_ERROR else reading.outcome,
            start_page=start.url,
            page=reading.number,
            http_status=reading.http_status,
            duration_ms=reading.duration_ms,
            error=reading.error or None,
        )

    async def note_failure(self, start: StartPage, reading: PageReading) -> None:
        start.failures.append(
            {
                "time": clock.now().isoformat(),
                "page": reading.number,
                "proxy": reading.proxy,
                "error": f"{reading.outcome}: {reading.error}",
            }
        )
        self.show_progress()
        await self.run.page(
            url=reading.url,
            outcome=reading.outcome,
            start_page=start.url,
            page=reading.number,
            error=reading.error,
        )

    def lose(self, start: StartPage, reading: PageReading) -> None:
        reason = f"{reading.outcome}: {reading.error}"
        self.run.error("A page could not be read", url=reading.url, reason=reason)
        start.failed_page = reading.number

    def leads_back(self, start: StartPage, reading: PageReading) -> bool:
        """Whether a page that led elsewhere, if it did, led back into the list."""
        if not reading.led_to:
            return True
        first = self.page_url(start, 1)
        homes = (first, urljoin(first, start.url), start.landed or first)
        return leads_back(self.page_url(start, reading.number), reading.led_to, homes)

    def read_page(self, response: Response, start: StartPage, number: int) -> PageReading:
        """What a page of a list says, before anything is concluded from it."""
        asked_at = response.meta.get("asked_at", time.monotonic())
        reading = PageReading(
            number=number,
            url=response.url,
            outcome=PageOutcome.OK,
            http_status=response.status,
            duration_ms=round((time.monotonic() - asked_at) * 1000),
        )
        if response.status >= 400:
            reading.outcome, reading.error = PageOutcome.HTTP_ERROR, f"status {response.status}"
            return reading
        if number == 1:
            start.landed = response.url
        elif "redirect_urls" in response.meta and is_led_away(
            self.page_url(start, number), response.url, start.landed or self.page_url(start, 1)
        ):
            # Whatever is shown there, it is not this page.
            reading.outcome, reading.led_to = PageOutcome.REPEATED, response.url
            reading.error = f"page {number} led to {response.url}"
            return reading
        overview = (
            self.reading(self.adapter.read_overview, response)
            if isinstance(response, TextResponse)
            else ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, "not a page of text")
        )
        if isinstance(overview, ExtractFailure):
            blocked = overview.reason is FailureReason.BLOCKED_PAGE
            reading.uncertain = number > 1 and overview.reason is FailureReason.SELECTOR_NOT_FOUND
            reading.outcome = (
                PageOutcome.BLOCKED
                if blocked
                else PageOutcome.EMPTY
                if reading.uncertain
                else PageOutcome.UNREADABLE
            )
            reading.error = f"{overview.reason} {overview.details}".strip()
            return reading
        self._take_cards(reading, response, start, overview)
        if number == 1 and isinstance(response, TextResponse):
            start.sign_of_more = sign_of_more(response, overview, self.page_url(start, 2))
        return reading

    def _is_endless(self, number: int) -> bool:
        """No market has so many pages: what is shown there is made up, and ends here."""
        endless = number >= self.settings.getint("OVERVIEW_MOST_PAGES")
        if endless:
            self.run.note("overview/endless")
        return endless

    def _take_cards(
        self, reading: PageReading, response: Response, start: StartPage, overview: Overview
    ) -> None:
        dropped = dict(overview.unreadable)
        shown: list[Card] = []
        for card in overview.cards:
            try:
                complete_card(card)
            except InvalidUrl:
                dropped[DropReason.INVALID_URL] = dropped.get(DropReason.INVALID_URL, 0) + 1
                continue
            shown.append(card)
        if not shown:
            lost = sum(dropped.values())
            reading.outcome = PageOutcome.UNREADABLE if lost else PageOutcome.EMPTY
            reading.error = f"none of {lost} cards can be read" if lost else ""
            return
        wanted = [card for card in shown if self._is_wanted(card)] if self.market.has_filters else shown
        if len(wanted) < len(shown):
            self.run.note("outside_market", len(shown) - len(wanted))
        # The market's own filters say nothing about the list: its pages are told apart by all they show.
        keys = [card.identity_key for card in shown]
        reading.fingerprint = hash(tuple(keys))
        reading.has_next, reading.total = overview.has_next, overview.total
        reading.page = OverviewPage(
            start_page=start.url,
            number=reading.number,
            url=response.url,
            cards=wanted,
            observed_at=clock.now(),
            source=self.source_id,
            adapter_id=self.adapter.id,
            adapter_version=self.adapter.version,
            shown=len(set(keys)),
            in_cycle=self.has_cycle,
            http_status=response.status,
            duration_ms=reading.duration_ms or 0,
            dropped=dropped,
        )

    def _is_wanted(self, card: Card) -> bool:
        prices = self.market.prices
        if prices.is_set and card.price is not None and not prices.is_about(card.price):
            self.run.note("price_not_compared/other_currency")
        return belongs(card.title, card.price, exclude_keywords=self.market.exclude_keywords, prices=prices)

    def next_requests(self, start: StartPage) -> Iterator[Request]:
        """The request for the next page, if it is wanted already."""
        raise NotImplementedError

    def page_read(self, start: StartPage, page: OverviewPage | None) -> None:
        """A page is stored, or the start page has come to an end or failed."""
        raise NotImplementedError

    async def end_met(self, start: StartPage) -> None:
        """An answer came from beyond the end of a start page: see `start.beyond`."""

    def item_stored(self, item: Any) -> None:
        """An item has passed the pipelines, and so it is committed."""
        if isinstance(item, OverviewPage):
            start = next(each for each in self.starts if each.url == item.start_page)
            self.page_read(start, item)

    def show_progress(self) -> None:
        self.run.progress["start_pages"] = [start.as_json() for start in self.starts]


def complete_card(card: Card) -> None:
    """Add what every card of a site has in common: its canonical URL and its identity."""
    card.fetch_url = card.url
    card.url = canonical_url(card.url)
    card.identity_key = identity_key(card.product_id, card.sku, card.url)
