"""What discovery and sweep share: a market's start pages, read page by page into cards."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from scrapy import signals
from scrapy.http import Request, Response, TextResponse
from twisted.python.failure import Failure

from pricewatch import clock
from pricewatch.adapters.base import Adapter, MarketQuery, Overview
from pricewatch.adapters.more_pages import sign_of_more
from pricewatch.errors import UserError
from pricewatch.items import Card, DropReason, ExtractFailure, FailureReason, OverviewPage, PageOutcome
from pricewatch.parsing.url import InvalidUrl
from pricewatch.rules.market import belongs
from pricewatch.spiders.arguments import MarketArguments
from pricewatch.spiders.base import PricewatchSpider, adapter_for, outcome_of
from pricewatch.spiders.run import Run
from pricewatch.store.database import engine
from pricewatch.store.markets import MarketRecord, load_approved_market


@dataclass(slots=True)
class StartPage:
    """How far one start page of a market has been read."""

    url: str
    requested: int = 0
    read: int = 0
    has_next: bool = True
    collected: int = 0
    new_by_page: list[int] = field(default_factory=list)
    failures: list[dict[str, Any]] = field(default_factory=list)
    failed_page: int | None = None
    completed: bool = False
    fingerprints: set[int] = field(default_factory=set)
    # What on the first page says that there are more.
    sign_of_more: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "start_page": self.url,
            "pages": self.read,
            "collected": self.collected,
            "failure_count": len(self.failures),
            "failures": self.failures[-10:],
            "completed": self.completed,
        }


class OverviewSpider(PricewatchSpider):
    """Base of the spiders that read overview pages."""

    arguments_type = MarketArguments
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
        self.arguments = arguments
        self.market, self.adapter, pages = self.load(arguments)
        self.source_id = self.market.source_id
        self.page_size = min(self.market.page_size or self.adapter.max_page_size, self.adapter.max_page_size)
        self.starts = [StartPage(url) for url in pages]
        self.crawler.signals.connect(self._item_stored, signals.item_scraped)
        self.run = Run(
            self.crawler,
            self.name,
            market_id=self.market.id,
            source_id=self.source_id,
            adapter_id=self.adapter.id,
            adapter_version=self.adapter.version,
            trigger=arguments.trigger,
            job_id=arguments.job,
            arguments=arguments.model_dump(exclude_none=True, exclude={"job", "trigger"}),
        )

    def describe(self) -> str:
        return f"{self.name} {self.market.id}"

    def page_request(self, start: StartPage, number: int, attempt: int = 1) -> Request:
        query = MarketQuery(self.market.base_url, start.url, self.page_size, self.market.parameters)
        start.requested = max(start.requested, number)
        return Request(
            self.adapter.overview_url(query, number),
            callback=self.parse_overview,
            errback=self.overview_failed,
            cb_kwargs={"start": start, "number": number, "attempt": attempt},
            meta={"asked_at": time.monotonic(), **self.rendering()},
            dont_filter=True,
            # Pages before details: what the market shows is known sooner.
            priority=10,
        )

    async def parse_overview(self, response: Response, start: StartPage, number: int, attempt: int) -> Any:
        overview = (
            self.reading(self.adapter.read_overview, response)
            if isinstance(response, TextResponse)
            else ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, "not a page of text")
        )
        if isinstance(overview, ExtractFailure):
            outcome = (
                PageOutcome.BLOCKED
                if overview.reason is FailureReason.BLOCKED_PAGE
                else PageOutcome.UNREADABLE
            )
            for request in await self._page_lost(
                start, number, attempt, response.url, outcome, f"{overview.reason} {overview.details}".strip()
            ):
                yield request
            return
        page = self._page(response, start, number, overview)
        fingerprint = hash(tuple(card.identity_key for card in page.cards))
        if not page.cards or fingerprint in start.fingerprints:
            # Beyond the end: an empty page, or one that was shown before.
            outcome = PageOutcome.REPEATED if page.cards else PageOutcome.EMPTY
            await self.run.page(
                url=response.url,
                outcome=outcome,
                start_page=start.url,
                page=number,
                http_status=response.status,
                duration_ms=page.duration_ms,
            )
            start.has_next = False
            start.read = max(start.read, number - 1)
            self.page_read(start, None)
            return
        start.fingerprints.add(fingerprint)
        start.read = max(start.read, number)
        start.has_next = overview.has_next and not self._is_endless(number)
        if number == 1 and isinstance(response, TextResponse):
            query = MarketQuery(self.market.base_url, start.url, self.page_size, self.market.parameters)
            start.sign_of_more = sign_of_more(response, overview, self.adapter.overview_url(query, 2))
        for request in self.next_requests(start):
            yield request
        yield page

    def _is_endless(self, number: int) -> bool:
        """No market has so many pages: what is shown there is made up, and ends here."""
        endless = number >= self.settings.getint("OVERVIEW_MOST_PAGES")
        if endless:
            self.run.note("overview/endless")
        return endless

    async def overview_failed(self, failure: Failure) -> list[Request]:
        request: Request = failure.request  # type: ignore[attr-defined]
        outcome, _, error = outcome_of(failure)
        return await self._page_lost(
            request.cb_kwargs["start"],
            request.cb_kwargs["number"],
            request.cb_kwargs["attempt"],
            request.url,
            outcome,
            error,
            proxy=request.meta.get("proxy_name"),
        )

    async def _page_lost(
        self,
        start: StartPage,
        number: int,
        attempt: int,
        url: str,
        outcome: PageOutcome,
        error: str,
        proxy: str | None = None,
    ) -> list[Request]:
        """A page that could not be read: asked for again a few times, then the start page has failed."""
        start.failures.append(
            {"time": clock.now().isoformat(), "page": number, "proxy": proxy, "error": f"{outcome}: {error}"}
        )
        self.show_progress()
        await self.run.page(url=url, outcome=outcome, start_page=start.url, page=number, error=error)
        if attempt < self.settings.getint("OVERVIEW_ATTEMPTS") and outcome is not PageOutcome.ROBOTS:
            return [self.page_request(start, number, attempt + 1)]
        self.run.error("A page could not be read", url=url, reason=f"{outcome}: {error}")
        start.failed_page = number
        self.page_read(start, None)
        return []

    def _page(self, response: Response, start: StartPage, number: int, overview: Overview) -> OverviewPage:
        dropped = dict(overview.unreadable)
        cards: list[Card] = []
        for card in overview.cards:
            try:
                self.complete_card(card)
            except InvalidUrl:
                dropped[DropReason.INVALID_URL] = dropped.get(DropReason.INVALID_URL, 0) + 1
                continue
            if self._is_wanted(card):
                cards.append(card)
            else:
                self.run.note("outside_market")
        asked_at = response.meta.get("asked_at", time.monotonic())
        return OverviewPage(
            start_page=start.url,
            number=number,
            url=response.url,
            cards=cards,
            observed_at=clock.now(),
            http_status=response.status,
            duration_ms=round((time.monotonic() - asked_at) * 1000),
            dropped=dropped,
        )

    def _is_wanted(self, card: Card) -> bool:
        return belongs(
            card.title,
            card.price_cents,
            exclude_keywords=self.market.exclude_keywords,
            min_price_cents=self.market.min_price_cents,
            max_price_cents=self.market.max_price_cents,
        )

    def next_requests(self, start: StartPage) -> Iterator[Request]:
        """The request for the next page, if it is wanted already."""
        raise NotImplementedError

    def page_read(self, start: StartPage, page: OverviewPage | None) -> None:
        """A page is stored, or the start page has come to an end or failed."""
        raise NotImplementedError

    def _item_stored(self, item: Any) -> None:
        if isinstance(item, OverviewPage):
            start = next(each for each in self.starts if each.url == item.start_page)
            self.page_read(start, item)

    def show_progress(self) -> None:
        self.run.progress["start_pages"] = [start.as_json() for start in self.starts]
