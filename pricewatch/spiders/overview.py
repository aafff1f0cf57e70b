"""The base of discovery and sweep: read the start pages of a market page by page into cards."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, ClassVar
from urllib.parse import urljoin

from scrapy import signals
from scrapy.http import Request, Response, TextResponse
from twisted.python.failure import Failure

from pricewatch import adapters, clock
from pricewatch.adapters.base import Adapter, MarketQuery, Overview
from pricewatch.errors import UserError
from pricewatch.items import Card, ExtractFailure, OverviewPage
from pricewatch.parsing.identity import identity_key
from pricewatch.parsing.url import InvalidUrl, canonical_url
from pricewatch.reading.page_calls import READ_OVERVIEW
from pricewatch.rules.list_end import Answer, is_redirected_away, stays_in_list
from pricewatch.rules.market_membership import belongs
from pricewatch.runs.list_end_search import next_page_evidence
from pricewatch.runs.start_page import PageReading, StartPage, failed_reading
from pricewatch.spiders.arguments import MarketArguments
from pricewatch.spiders.product_pages import ProductPageSpider
from pricewatch.store.engine.database import engine
from pricewatch.store.source_registry.market_rows import MarketRecord, load_approved_market
from pricewatch.vocabulary import DropReason, FailureReason, PageOutcome


class OverviewSpider(ProductPageSpider):
    """Base of the spiders that read overview pages."""

    arguments_type = MarketArguments
    extra_pipelines: ClassVar[dict[str, int]] = {"pricewatch.pipelines.checkpoint.CheckpointPipeline": 370}
    # Whether its pages are part of a sweep cycle, which has a checkpoint.
    has_cycle: ClassVar[bool] = False
    arguments: MarketArguments
    market: MarketRecord
    page_size: int

    @classmethod
    def load(cls, arguments: MarketArguments) -> tuple[MarketRecord, Adapter, list[str]]:
        with engine().connect() as connection:
            market = load_approved_market(connection, arguments.market)
        adapter = adapters.get(market.adapter_id)
        if not adapter.has_overview():
            raise UserError(
                f"Market {market.id} uses the adapter {adapter.id}, which reads product pages only: "
                "choose an adapter with overview pages, or add the URLs as targets."
            )
        pages = market.start_pages or adapter.start_pages(market.parameters)
        if not pages:
            raise UserError(f"Market {market.id} has no start pages: add at least one.")
        return market, adapter, list(dict.fromkeys(pages))

    def prepare(self, arguments: MarketArguments) -> None:
        self.market, self.adapter, pages = self.load(arguments)
        self.source_id, self.hints = self.market.source_id, self.market.hints
        self.page_size = min(self.market.page_size or self.adapter.max_page_size, self.adapter.max_page_size)
        self.starts = [StartPage(url) for url in pages]
        self.crawler.signals.connect(self.on_item_stored, signals.item_scraped)

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
            meta={"requested_at": time.monotonic(), **self.rendering()},
            dont_filter=True,
            # Overview pages are fetched before product pages.
            priority=10,
        )

    def page_url(self, start: StartPage, number: int) -> str:
        query = MarketQuery(self.market.base_url, start.url, self.page_size, self.market.parameters)
        return self.adapter.overview_url(query, number)

    async def parse_overview(self, response: Response, start: StartPage, number: int, attempt: int) -> Any:
        reading = await self.read_page(response, start, number)
        if reading.fingerprint in start.fingerprints.values():
            reading.outcome = PageOutcome.REPEATED
        if reading.fingerprint is not None:
            start.fingerprints[number] = reading.fingerprint
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
        arguments = request.cb_kwargs
        reading = failed_reading(failure, request, arguments["number"])
        return await self._no_page(arguments["start"], reading, arguments["attempt"])

    async def _no_page(self, start: StartPage, reading: PageReading, attempt: int) -> list[Request]:
        """Handle a response without a new page: the end of the list, or a failure that is retried."""
        more_attempts = attempt < self.settings.getint("OVERVIEW_ATTEMPTS")
        if reading.outcome is PageOutcome.EMPTY and reading.number == 1:
            # An empty list: the spider decides at the end of the run whether that is an error.
            await self.record(start, reading)
        elif reading.answer is Answer.END and not (reading.uncertain and more_attempts):
            await self.record(start, reading)
            start.past_end = reading
        else:
            await self.note_failure(start, reading)
            if more_attempts and not reading.is_final:
                return [self.page_request(start, reading.number, attempt + 1)]
            self.fail_start_page(start, reading)
        start.has_next = False
        if start.past_end is not None:
            await self.on_end(start)
        self.on_page_stored(start, None)
        return []

    async def record(self, start: StartPage, reading: PageReading) -> None:
        await self.run.page(
            url=reading.url,
            # A missing page is recorded as an empty one.
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

    def fail_start_page(self, start: StartPage, reading: PageReading) -> None:
        reason = f"{reading.outcome}: {reading.error}"
        self.run.error("A page could not be read", url=reading.url, reason=reason)
        start.failed_page = reading.number

    def stays_in_list(self, start: StartPage, reading: PageReading) -> bool:
        """Return whether a redirect, if there was one, stayed within the list."""
        if not reading.redirected_to:
            return True
        first = self.page_url(start, 1)
        homes = (first, urljoin(first, start.url), start.landed or first)
        return stays_in_list(self.page_url(start, reading.number), reading.redirected_to, homes)

    async def read_page(self, response: Response, start: StartPage, number: int) -> PageReading:
        """Read one page of a list, without deciding what it means for the list."""
        requested_at = response.meta.get("requested_at", time.monotonic())
        reading = PageReading(
            number=number,
            url=response.url,
            outcome=PageOutcome.OK,
            http_status=response.status,
            duration_ms=round((time.monotonic() - requested_at) * 1000),
        )
        if response.status >= 400:
            reading.outcome, reading.error = PageOutcome.HTTP_ERROR, f"status {response.status}"
            return reading
        if number == 1:
            start.landed = response.url
        elif "redirect_urls" in response.meta and is_redirected_away(
            self.page_url(start, number), response.url, start.landed or self.page_url(start, 1)
        ):
            # The content is not that of the requested page.
            reading.outcome, reading.redirected_to = PageOutcome.REPEATED, response.url
            reading.error = f"page {number} led to {response.url}"
            return reading
        overview = await self.read_with_adapter(READ_OVERVIEW, self.adapter, response)
        if isinstance(overview, ExtractFailure):
            reading.outcome = PageOutcome.UNREADABLE
            if overview.reason is FailureReason.BLOCKED_PAGE:
                reading.outcome = PageOutcome.BLOCKED
            elif overview.reason is FailureReason.READ_TIMEOUT:
                self.run.note(f"failure/{overview.reason}")
                reading.is_final = True
            elif number > 1 and overview.reason is FailureReason.SELECTOR_NOT_FOUND:
                reading.outcome, reading.uncertain = PageOutcome.EMPTY, True
            reading.error = f"{overview.reason} {overview.details}".strip()
            return reading
        self._add_cards(reading, response, start, overview)
        if number == 1 and isinstance(response, TextResponse):
            second_page, limits = self.page_url(start, 2), self.page_reader.limits
            start.more_pages_hint = next_page_evidence(response, overview, second_page, limits)
        return reading

    def _is_endless(self, number: int) -> bool:
        """Return whether the page limit is reached: some sites generate pages without end."""
        endless = number >= self.settings.getint("OVERVIEW_MOST_PAGES")
        if endless:
            self.run.note("overview/endless")
        return endless

    def _add_cards(
        self, reading: PageReading, response: Response, start: StartPage, overview: Overview
    ) -> None:
        dropped = dict(overview.unreadable)
        readable: list[Card] = []
        for card in overview.cards:
            try:
                complete_card(card)
            except InvalidUrl:
                dropped[DropReason.INVALID_URL] = dropped.get(DropReason.INVALID_URL, 0) + 1
                continue
            readable.append(card)
        if not readable:
            lost = sum(dropped.values())
            reading.outcome = PageOutcome.UNREADABLE if lost else PageOutcome.EMPTY
            reading.error = f"none of {lost} cards can be read" if lost else ""
            return
        passing = (
            [card for card in readable if self._passes_filters(card)] if self.market.has_filters else readable
        )
        if len(passing) < len(readable):
            self.run.note("outside_market", len(readable) - len(passing))
        # Pages are compared by all their cards, independent of the market's filters.
        keys = [card.identity_key for card in readable]
        reading.fingerprint = hash(tuple(keys))
        reading.has_next, reading.total = overview.has_next, overview.total
        reading.page = OverviewPage(
            start_page=start.url,
            number=reading.number,
            url=response.url,
            cards=passing,
            observed_at=clock.now(),
            source=self.source_id,
            adapter_id=self.adapter.id,
            adapter_version=self.adapter.version,
            cards_on_page=len(set(keys)),
            in_cycle=self.has_cycle,
            http_status=response.status,
            duration_ms=reading.duration_ms or 0,
            dropped=dropped,
        )

    def _passes_filters(self, card: Card) -> bool:
        prices = self.market.prices
        if prices.is_set and card.price is not None and not prices.can_compare(card.price):
            self.run.note("price_not_compared/other_currency")
        return belongs(card.title, card.price, exclude_keywords=self.market.exclude_keywords, prices=prices)

    def next_requests(self, start: StartPage) -> Iterator[Request]:
        """Yield the request for the next page if it can be made already."""
        raise NotImplementedError

    def on_page_stored(self, start: StartPage, page: OverviewPage | None) -> None:
        """Called when a page is stored, or with None when the start page ended or failed."""
        raise NotImplementedError

    async def on_end(self, start: StartPage) -> None:
        """Called when a response was past the end of a start page: see `start.past_end`."""

    def on_item_stored(self, item: Any) -> None:
        """Called when an item has passed the pipelines, so it is committed."""
        if isinstance(item, OverviewPage):
            start = next(each for each in self.starts if each.url == item.start_page)
            self.on_page_stored(start, item)

    def show_progress(self) -> None:
        self.run.progress["start_pages"] = [start.as_json() for start in self.starts]


def complete_card(card: Card) -> None:
    """Set the canonical URL and the identity key of a card."""
    card.fetch_url = card.url
    card.url = canonical_url(card.url)
    card.identity_key = identity_key(card.product_id, card.sku, card.url)
