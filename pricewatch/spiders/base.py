"""What the four spiders share: arguments, the run, and how a product page becomes an offer."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, TypeVar

import scrapy
from scrapy.crawler import Crawler
from scrapy.http import Request, Response, TextResponse
from sqlalchemy import Connection
from twisted.python.failure import Failure

from pricewatch import adapters, clock
from pricewatch.adapters.base import Adapter, Presence, PresenceEvidence
from pricewatch.items import (
    Availability,
    Card,
    Drop,
    DropReason,
    EarlierLooks,
    Extracted,
    ExtractFailure,
    FailureReason,
    Offer,
    OverviewPage,
    PageOutcome,
    ProductPage,
    Quarantine,
    QuarantineReason,
)
from pricewatch.middlewares.failures import FetchFailure
from pricewatch.parsing.identity import identity_key
from pricewatch.parsing.url import InvalidUrl, canonical_url, is_same_product_url
from pricewatch.rules.details import due_after_answer, due_after_trouble
from pricewatch.rules.figures import bucket
from pricewatch.rules.verification import NOT_FOUND, Attempt, by_status
from pricewatch.spiders.arguments import Arguments, parse_arguments
from pricewatch.spiders.looks import Look
from pricewatch.spiders.run import Run
from pricewatch.store import quarantine
from pricewatch.store.batch import Tally, Unit
from pricewatch.store.details import hand_over, note_look, put_off
from pricewatch.store.history import note_out_of_stock

R = TypeVar("R")
# Fetches that were our own doing: they say nothing about the site or its adapter.
NOT_ASKED = frozenset(
    {"robots", "no_turn", "no_proxy", "no_browser", "crawl_ending", "refused_url", "refused_address"}
)
PRESENCE = {Presence.ALIVE: Attempt.ALIVE, Presence.GONE: Attempt.GONE, Presence.SOLD: Attempt.SOLD}

# A page came, and could not be read.
UNREADABLE = frozenset(
    {
        FailureReason.SELECTOR_NOT_FOUND,
        FailureReason.PRICE_NOT_FOUND,
        FailureReason.TITLE_NOT_FOUND,
        FailureReason.PAGE_STRUCTURE_CHANGED,
    }
)


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose page is read, and by which adapter."""

    adapter: Adapter
    source_id: str
    listing_id: int | None = None
    target_id: int | None = None
    earlier: EarlierLooks = field(default_factory=EarlierLooks)

    @property
    def read_of(self) -> tuple[str, str]:
        """What is counted together: the adapter and the source."""
        return self.adapter.id, self.source_id


class PricewatchSpider(scrapy.Spider):
    """Base of all four: one run, from its arguments to its row in `runs`."""

    arguments_type: ClassVar[type[Arguments]] = Arguments
    # Whether cards are kept aside until the whole market has been read.
    collects: ClassVar[bool] = False
    run: Run
    adapter: Adapter
    source_id: str

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> PricewatchSpider:
        spider = super().from_crawler(crawler, *args)
        spider.prepare(parse_arguments(cls.arguments_type, cls.name, kwargs))
        return spider

    @classmethod
    def check(cls, given: dict[str, Any]) -> None:
        """Say what is wrong with these arguments before anything starts."""
        cls.load(parse_arguments(cls.arguments_type, cls.name, given))

    @classmethod
    def load(cls, arguments: Any) -> Any:
        """Read from the database what the arguments name; raises `UserError` where there is no such thing."""
        raise NotImplementedError

    def prepare(self, arguments: Any) -> None:
        """Take the arguments and create `self.run`; nothing has been requested yet."""
        raise NotImplementedError

    def describe(self) -> str:
        """What this run is, for a person who watches it."""
        return self.name

    def work_done(self) -> tuple[int, int | None]:
        """How much is done, and of how much if that is known."""
        return self.run.pages + self.run.counters["urls_attempted"], None

    def complete_card(self, card: Card) -> None:
        """Add what every card of a site has in common: its canonical URL and its identity."""
        card.fetch_url = card.url
        card.url = canonical_url(card.url)
        card.identity_key = identity_key(card.product_id, card.sku, card.url)

    def complete_offer(self, offer: Offer, response: Response, subject: Subject) -> Offer:
        offer.source = subject.source_id
        offer.fetch_url = response.url
        offer.url = canonical_url(offer.url or response.url)
        offer.observed_at = clock.now()
        offer.adapter_version = subject.adapter.version
        offer.identity_key = identity_key(offer.product_id, offer.sku, offer.url)
        return offer

    def product_request(
        self, url: str, listing_id: int | None = None, earlier: EarlierLooks | None = None
    ) -> Request:
        subject = Subject(self.adapter, self.source_id, listing_id, earlier=earlier or EarlierLooks())
        return self.request_page(url, subject)

    def request_page(self, url: str, subject: Subject) -> Request:
        self.run.count_read("urls_attempted", *subject.read_of)
        return Request(
            url,
            callback=self.parse_product,
            errback=self.product_failed,
            cb_kwargs={"subject": subject},
            meta={"source_id": subject.source_id, **self.rendering(subject.adapter)},
            dont_filter=True,
        )

    def rendering(self, adapter: Adapter | None = None) -> dict[str, Any]:
        """What a request's `meta` says about how to fetch its page: with a browser, where it must be."""
        read_by = adapter or self.adapter
        return {"playwright": True, "page_data": read_by.page_data} if read_by.requires_js else {}

    async def parse_product(self, response: Response, subject: Subject) -> AsyncIterator[ProductPage]:
        """Read one product page; every way it can end is counted."""
        result = await self.product_read(response, subject, self.read_product(response, subject))
        if isinstance(result, ExtractFailure):
            await self.no_offer(response, subject, result)
            return
        self.run.count_read("urls_succeeded", *subject.read_of)
        self._tell_succeeded(subject)
        if result.held is None or result.held.offer is not None:
            self.run.count_read("offers_extracted", *subject.read_of)
            self.run.figure("scrape_offers_extracted_total", subject.adapter.id, subject.source_id)
        yield result

    def read_product(self, response: Response, subject: Subject) -> ProductPage | ExtractFailure:
        """What the page of a product says, ready for the pipelines, or why it says nothing."""
        if not isinstance(response, TextResponse):
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, "not a page of text")
        if leads_elsewhere(response):
            if not self.may_follow(response, subject):
                # A category, a login or another product: whatever price is there, it is not ours.
                details = f"{asked_url(response)} led to another page"
                return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, details)
            response = as_if_asked_for(response)
        began = time.perf_counter()
        result = self.reading(subject.adapter.extract, response)
        taken = 1000 * (time.perf_counter() - began)
        self.run.figure("scrape_extract_duration_ms", subject.adapter.id, "le", bucket(taken))
        self.run.figure("scrape_extract_duration_ms", subject.adapter.id, "sum", amount=taken)
        if isinstance(result, ExtractFailure):
            return result
        held = result if isinstance(result, Quarantine) else None
        evidence = result.evidence if isinstance(result, Extracted) else []
        return self.product_page(response, subject, result.offer, held, evidence)

    def product_page(
        self,
        response: TextResponse,
        subject: Subject,
        offer: Offer | None,
        held: Quarantine | None,
        evidence: list[str],
    ) -> ProductPage | ExtractFailure:
        """A page on its way to the pipelines, perhaps without an offer that could be read."""
        offer = offer or Offer(
            url=response.url, title="", price_cents=0, currency="", availability=Availability.UNKNOWN
        )
        try:
            self.complete_offer(offer, response, subject)
        except InvalidUrl as error:
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, str(error))
        return ProductPage(
            offer=offer,
            page=response.body,
            encoding=response.encoding,
            evidence=evidence,
            adapter_id=subject.adapter.id,
            target_id=subject.target_id,
            listing_id=subject.listing_id,
            earlier=subject.earlier,
            held=held,
        )

    def may_follow(self, response: Response, subject: Subject) -> bool:
        """Whether a page is read although its address led to another one."""
        return False

    async def product_read(
        self, response: Response, subject: Subject, result: ProductPage | ExtractFailure
    ) -> ProductPage | ExtractFailure:
        """Called with what was read from a page, before it is counted; the answer goes on instead of it."""
        return result

    def page_stored(self, connection: Connection, page: OverviewPage) -> None:
        """Called inside the transaction that stores a page of cards."""

    def product_stored(self, connection: Connection, item: ProductPage, tally: Tally) -> None:
        """Called inside the transaction that stores an offer, or holds it."""

    async def product_dropped(self, item: ProductPage, drop: Drop) -> None:
        """Called when an offer is not stored, after it was counted. Its page is read again in a day."""
        listing_id = item.listing_id
        if listing_id is not None:
            due_at = self._due_after_answer()
            unread_at = None if drop.reason is DropReason.DUPLICATE_WITHIN_RUN else clock.now()
            await self.run.write(
                Unit([], lambda connection, _: put_off(connection, listing_id, due_at, unread_at=unread_at))
            )

    def _due_after_answer(self) -> datetime:
        return due_after_answer(clock.now(), refresh_hours=self.settings.getfloat("DETAIL_REFRESH_HOURS"))

    async def no_offer(self, response: Response, subject: Subject, failure: ExtractFailure) -> None:
        """A page without an offer. Out of stock with no price, or gone, is expected and no failure."""
        reason = failure.reason
        self.run.note(f"failure/{reason}")
        gone = self.presence(response, subject.adapter).presence in (Presence.GONE, Presence.SOLD)
        if reason is FailureReason.OOS_NO_PRICE:
            self.run.count_read("urls_succeeded", *subject.read_of)
            self.run.count_read("oos_no_price_count", *subject.read_of)
            self._tell_succeeded(subject)
            self.run.figure("scrape_oos_no_price_total", subject.adapter.id, subject.source_id)
        elif gone and subject.listing_id is not None:
            self.run.count_read("urls_succeeded", *subject.read_of)
            self._tell_succeeded(subject)
        else:
            self.run.count_read("urls_failed", *subject.read_of)
            self.run.count_unread(*subject.read_of, subject.earlier, failed=True)
            self.run.note_unread_page(*subject.read_of, response.body)
            self._tell_failed(subject, reason)
            await self._hold_drifted(response, subject, failure)
            self.run.error("No offer on the page", url=response.url, reason=reason, details=failure.details)
        await self.product_unread(subject, reason, gone=gone, answered=True, response=response)

    async def _hold_drifted(self, response: Response, subject: Subject, failure: ExtractFailure) -> None:
        """Keep a page that could be read before: once the adapter is mended, it is read again from there."""
        if failure.reason not in UNREADABLE or not subject.earlier.read or subject.listing_id is None:
            return
        if not isinstance(response, TextResponse) or "redirect_urls" in response.meta:
            return
        held = Quarantine(
            QuarantineReason.DRIFT_DETECTED,
            {"why": f"it could be read before: {failure.reason} {failure.details}".strip()},
        )
        item = self.product_page(response, subject, None, held, failure.evidence)
        if isinstance(item, ExtractFailure):
            return
        self.run.count_read("offers_quarantined", *subject.read_of)
        self.run.note(f"quarantined/{held.reason}")
        self.run.figure("scrape_offers_quarantined_total", *subject.read_of, held.reason)
        now = clock.now()
        await self.run.write(
            Unit([], lambda connection, _: quarantine.hold(connection, item, run_id=self.run.id, at=now))
        )

    def _tell_succeeded(self, subject: Subject) -> None:
        labels = subject.adapter.id, subject.source_id
        self.run.figure("scrape_urls_attempted_total", *labels, "succeeded")
        self.run.figure("scrape_urls_succeeded_total", *labels)

    def _tell_failed(self, subject: Subject, reason: str) -> None:
        labels = subject.adapter.id, subject.source_id
        self.run.figure("scrape_urls_attempted_total", *labels, "failed")
        self.run.figure("scrape_urls_failed_total", *labels, reason)

    def reading(self, read: Callable[[TextResponse], R], response: TextResponse) -> R | ExtractFailure:
        """Let the adapter read a page. Its mistakes are told and counted; they never end a run."""
        try:
            return read(response)
        except Exception as error:  # an adapter is per-site code and may fail in any way
            self.run.note("adapter_error")
            self.logger.exception("The adapter failed on %s", response.url)
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, f"{type(error).__name__}: {error}")
        finally:
            # A page and its tree refer to each other: both would wait for the garbage collector, for long.
            response._cached_selector = None  # noqa: SLF001 - a new one is made if asked for again

    def presence(self, response: Response, adapter: Adapter | None = None) -> PresenceEvidence:
        """What a page says about its listing; nothing, where it cannot be read."""
        if isinstance(response, TextResponse) and response.body:
            evidence = self.reading((adapter or self.adapter).presence, response)
            if isinstance(evidence, PresenceEvidence):
                return evidence
        return PresenceEvidence(Presence.UNKNOWN)

    def look_at(self, listing_id: int, asked: str, response: Response, adapter: Adapter) -> Look:
        """What an answer says about a listing whose page was asked for."""
        method = response.request.method if response.request else "GET"
        look = Look(listing_id, by_status(response.status), method, response.status, response.url)
        if look.attempt is Attempt.TROUBLE:
            look.reason = f"status {response.status}"
        elif not is_same_product_url(asked, response.url):
            look.attempt, look.reason = Attempt.TROUBLE, "led to another page"
        elif look.attempt is Attempt.ALIVE and method == "GET":
            evidence = self.presence(response, adapter)
            look.attempt = PRESENCE.get(evidence.presence, Attempt.TROUBLE)
            look.marker, look.sold_at = evidence.marker or None, evidence.sold_at
            if look.attempt is Attempt.TROUBLE:
                look.reason = "the page says nothing about the listing"
        return look

    async def product_failed(self, failure: Failure) -> None:
        request: Request = failure.request  # type: ignore[attr-defined]
        subject: Subject = request.cb_kwargs["subject"]
        outcome, status, error = outcome_of(failure)
        reason = reason_of(failure, outcome, status)
        self.run.count_read("urls_failed", *subject.read_of)
        self._tell_failed(subject, reason)
        gone = status in NOT_FOUND
        if reason in NOT_ASKED:
            self.run.count_read("urls_not_asked", *subject.read_of)
        elif gone and subject.listing_id is not None:
            self.run.count_read("urls_gone", *subject.read_of)
        else:
            self.run.count_unread(*subject.read_of, subject.earlier, failed=True)
        self.run.note(f"failure/{outcome}" if status is None else f"failure/{outcome}_{status}")
        self.run.error("A product page could not be fetched", url=request.url, reason=error)
        # Of what our own components refused, such as a wall, the status says nothing.
        plain = outcome is PageOutcome.HTTP_ERROR
        response: Response | None = getattr(failure.value, "response", None) if plain else None
        await self.product_unread(subject, reason, gone=gone, answered=False, response=response)

    async def product_unread(
        self, subject: Subject, reason: str, *, gone: bool, answered: bool, response: Response | None
    ) -> None:
        """Trouble on the way is tried again soon; a page that gave nothing would give nothing soon either.

        One that is gone is handed to verification.
        """
        listing_id = subject.listing_id
        if listing_id is None:
            return
        now = clock.now()
        if answered:
            due_at = self._due_after_answer()
        else:
            due_at = due_after_trouble(now, retry_minutes=self.settings.getfloat("DETAIL_RETRY_MINUTES"))

        def also(connection: Connection, _: Tally) -> None:
            if gone:
                hand_over(connection, [listing_id], now, due_at)
            else:
                put_off(connection, listing_id, due_at)
                if reason not in NOT_ASKED:
                    note_look(connection, listing_id, unread_at(reason, now))
            if reason == FailureReason.OOS_NO_PRICE:
                note_out_of_stock(connection, listing_id, now, self.run.id, subject.adapter.version)

        await self.run.write(Unit([], also))


def unread_at(reason: str, now: datetime) -> datetime | None:
    """Out of stock and no price is what the page says: it was read."""
    return None if reason == FailureReason.OOS_NO_PRICE else now


def asked_url(response: Response) -> str:
    """The address that was asked for, before any redirect."""
    redirected: list[str] = response.meta.get("redirect_urls") or [response.url]
    return redirected[0]


def leads_elsewhere(response: Response) -> bool:
    """Whether redirects led to a page whose address does not name the same product."""
    asked = asked_url(response)
    return asked != response.url and not is_same_product_url(asked, response.url)


def as_if_asked_for(response: TextResponse) -> TextResponse:
    """The page without the way that led to it, for adapters that refuse to read what they were led to."""
    if response.request is None:
        return response
    meta = {name: value for name, value in response.meta.items() if name != "redirect_urls"}
    return response.replace(request=response.request.replace(meta=meta))


def outcome_of(failure: Failure) -> tuple[PageOutcome, int | None, str]:
    """How a request ended that gave no page: the outcome, the status if there was one, and the error."""
    error = failure.value
    response = getattr(error, "response", None)
    if isinstance(error, FetchFailure):
        return error.outcome, response.status if response else None, str(error)
    if response is not None:
        return PageOutcome.HTTP_ERROR, response.status, f"status {response.status}"
    return PageOutcome.NETWORK_ERROR, None, f"{type(error).__name__}: {error}"


def reason_of(failure: Failure, outcome: PageOutcome, status: int | None) -> str:
    """The word for a fetch that failed: the reason of our own components, else the outcome and its status."""
    error = failure.value
    if isinstance(error, FetchFailure):
        return error.reason
    return str(outcome) if status is None else f"{outcome}_{status}"


def adapter_for(adapter_id: str) -> Adapter:
    return adapters.get(adapter_id)
