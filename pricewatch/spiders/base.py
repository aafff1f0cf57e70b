"""What the four spiders share: arguments, the run, and how a product page becomes an item."""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import scrapy
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response, TextResponse
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from twisted.python.failure import Failure

from pricewatch import adapters, clock
from pricewatch.adapters.base import Adapter, Presence, PresenceEvidence
from pricewatch.errors import UserError
from pricewatch.fetching.failures import NOT_ASKED, FetchFailure
from pricewatch.items import (
    EarlierChecks,
    Extracted,
    ExtractFailure,
    LeasedTarget,
    ListingCheck,
    Offer,
    ProductPage,
    Quarantine,
    UnreadPage,
)
from pricewatch.parsing.identity import identity_key
from pricewatch.parsing.url import InvalidUrl, canonical_url, is_same_product_url
from pricewatch.rules.metric_names import bucket
from pricewatch.rules.verification_outcome import NOT_FOUND, by_status
from pricewatch.runs.crawl_run import CrawlRun, run_of
from pricewatch.spiders.arguments import Arguments, parse_arguments
from pricewatch.vocabulary import Attempt, Availability, FailureReason, PageOutcome, QuarantineReason

R = TypeVar("R")
# None of these means anything to our spiders, and each has a look at every request or wraps every callback.
OUR_COMPONENTS: dict[str, dict[str, None]] = {
    "DOWNLOADER_MIDDLEWARES": {
        "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
        "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware": None,
    },
    "SPIDER_MIDDLEWARES": {
        "scrapy.spidermiddlewares.start.StartSpiderMiddleware": None,
        "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
        "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
        "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware": None,
    },
}
OUR_SETTINGS = {
    # A page gives one item and one request: scrapy makes this many tasks for the output of every response.
    "CONCURRENT_ITEMS": 2,
    # First come, first served, whoever asks: so nothing needs to tell start requests from others.
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
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
    target: LeasedTarget | None = None
    earlier: EarlierChecks = field(default_factory=EarlierChecks)


class PricewatchSpider(scrapy.Spider):
    """Base of all four: one run, from its arguments to its row in `runs`."""

    arguments_type: ClassVar[type[Arguments]] = Arguments
    # Pipelines that only this spider has, with their place among those of ITEM_PIPELINES.
    own_pipelines: ClassVar[dict[str, int]] = {}
    arguments: Any
    adapter: Adapter
    source_id: str

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> PricewatchSpider:
        spider = super().from_crawler(crawler, *args)
        spider.arguments = parse_arguments(cls.arguments_type, cls.name, kwargs)
        spider.prepare(spider.arguments)
        return spider

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        components: dict[str, Any] = {**OUR_COMPONENTS, "ITEM_PIPELINES": cls.own_pipelines}
        for name, ours in components.items():
            # Wherever the others come from, these are among them, unless somebody switched them off by name.
            # One more, because a runner sets what it was given again.
            priority = max((settings.getpriority(name) or 0) + 1, SETTINGS_PRIORITIES["spider"])
            settings.set(name, {**ours, **settings.getdict(name)}, priority=priority)
        settings.setdict(OUR_SETTINGS, priority="spider")

    @property
    def run(self) -> CrawlRun:
        try:
            return run_of(self.crawler)
        except NotConfigured:
            raise UserError(f"The spider {self.name} cannot crawl without a run: see RUN_ENABLED.") from None

    @classmethod
    def check(cls, given: dict[str, Any]) -> None:
        """Say what is wrong with these arguments before anything starts."""
        cls.load(parse_arguments(cls.arguments_type, cls.name, given))

    @classmethod
    def load(cls, arguments: Any) -> Any:
        """Read from the database what the arguments name; raises `UserError` where there is no such thing."""
        raise NotImplementedError

    def prepare(self, arguments: Any) -> None:
        """Take the arguments; there is no run yet, and nothing has been requested."""
        raise NotImplementedError

    def run_fields(self) -> dict[str, Any]:
        """What the row of the run says of it when it starts."""
        arguments = self.arguments.model_dump(exclude_none=True, exclude={"job", "trigger"})
        return {
            "trigger": self.arguments.trigger,
            "job_id": self.arguments.job,
            "arguments": arguments,
        }

    def describe(self) -> str:
        """What this run is, for a person who watches it."""
        return self.name

    def work_done(self) -> tuple[int, int | None]:
        """How much is done, and of how much if that is known."""
        return self.run.pages + self.run.counters["urls_attempted"], None

    def complete_offer(self, offer: Offer, response: Response, subject: Subject) -> Offer:
        offer.source = subject.source_id
        offer.fetch_url = response.url
        offer.url = canonical_url(offer.url or response.url)
        offer.observed_at = clock.now()
        offer.adapter_version = subject.adapter.version
        offer.identity_key = identity_key(offer.product_id, offer.sku, offer.url)
        return offer

    def product_request(
        self, url: str, listing_id: int | None = None, earlier: EarlierChecks | None = None
    ) -> Request:
        subject = Subject(self.adapter, self.source_id, listing_id, earlier=earlier or EarlierChecks())
        return self.request_page(url, subject)

    def request_page(self, url: str, subject: Subject) -> Request:
        self.run.count("urls_attempted")
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

    async def parse_product(
        self, response: Response, subject: Subject
    ) -> AsyncIterator[ProductPage | UnreadPage]:
        """Read one product page; every way it can end is counted, and becomes an item."""
        result = await self.product_read(response, subject, self.read_product(response, subject))
        if isinstance(result, ExtractFailure):
            yield self.no_offer(response, subject, result)
            return
        self._count_succeeded(subject)
        if result.held is None or result.held.offer is not None:
            self.run.count("offers_extracted")
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
            target=subject.target,
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

    def no_offer(self, response: Response, subject: Subject, failure: ExtractFailure) -> UnreadPage:
        """A page without an offer. Out of stock with no price, or gone, is expected and no failure."""
        reason = failure.reason
        self.run.note(f"failure/{reason}")
        gone = self.presence(response, subject.adapter).presence in (Presence.GONE, Presence.SOLD)
        page = self.unread_page(response.url, subject, reason, answered=True, gone=gone)
        page.look = self.look_of(page, subject, response)
        if not page.is_failure:
            self._count_succeeded(subject)
            if reason is FailureReason.OOS_NO_PRICE:
                self.run.count("oos_no_price_count")
                self.run.figure("scrape_oos_no_price_total", subject.adapter.id, subject.source_id)
            return page
        self._count_failed(subject, reason)
        # Numbers are left out, such as the time.
        shown = hashlib.sha256(response.body.translate(None, b"0123456789"))
        page.fingerprint = shown.digest()[:8]
        page.kept = self._drifted(response, subject, failure)
        self.run.error("No offer on the page", url=response.url, reason=reason, details=failure.details)
        return page

    def unread_page(
        self, url: str, subject: Subject, reason: str, *, answered: bool, gone: bool
    ) -> UnreadPage:
        return UnreadPage(
            url=url,
            source=subject.source_id,
            adapter_id=subject.adapter.id,
            adapter_version=subject.adapter.version,
            reason=reason,
            observed_at=clock.now(),
            answered=answered,
            asked=reason not in NOT_ASKED,
            gone=gone,
            listing_id=subject.listing_id,
            target=subject.target,
            earlier=subject.earlier,
        )

    def look_of(self, page: UnreadPage, subject: Subject, response: Response | None) -> ListingCheck | None:
        """What a page without an offer says about its listing, for spiders that conclude from it."""
        return None

    def _drifted(self, response: Response, subject: Subject, failure: ExtractFailure) -> ProductPage | None:
        """Keep a page that could be read before: once the adapter is mended, it is read again from there."""
        if failure.reason not in UNREADABLE or not subject.earlier.read or subject.listing_id is None:
            return None
        if not isinstance(response, TextResponse) or "redirect_urls" in response.meta:
            return None
        held = Quarantine(
            QuarantineReason.DRIFT_DETECTED,
            {"why": f"it could be read before: {failure.reason} {failure.details}".strip()},
        )
        page = self.product_page(response, subject, None, held, failure.evidence)
        return None if isinstance(page, ExtractFailure) else page

    def _count_succeeded(self, subject: Subject) -> None:
        labels = subject.adapter.id, subject.source_id
        self.run.count("urls_succeeded")
        self.run.figure("scrape_urls_attempted_total", *labels, "succeeded")
        self.run.figure("scrape_urls_succeeded_total", *labels)

    def _count_failed(self, subject: Subject, reason: str) -> None:
        labels = subject.adapter.id, subject.source_id
        self.run.count("urls_failed")
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

    def look_at(self, listing_id: int, asked: str, response: Response, adapter: Adapter) -> ListingCheck:
        """What an answer says about a listing whose page was asked for."""
        method = response.request.method if response.request else "GET"
        attempt = by_status(response.status)
        look = ListingCheck(listing_id, attempt, clock.now(), method, response.status, response.url)
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

    async def product_failed(self, failure: Failure) -> list[UnreadPage]:
        request: Request = failure.request  # type: ignore[attr-defined]
        subject: Subject = request.cb_kwargs["subject"]
        outcome, status, error = outcome_of(failure)
        reason = reason_of(failure, outcome, status)
        self._count_failed(subject, reason)
        page = self.unread_page(request.url, subject, reason, answered=False, gone=status in NOT_FOUND)
        if not page.asked:
            self.run.count("urls_not_asked")
        self.run.note(f"failure/{outcome}" if status is None else f"failure/{outcome}_{status}")
        self.run.error("A product page could not be fetched", url=request.url, reason=error)
        # Of what our own components refused, such as a wall, the status says nothing.
        plain = outcome is PageOutcome.HTTP_ERROR
        response: Response | None = getattr(failure.value, "response", None) if plain else None
        page.look = self.look_of(page, subject, response)
        return [page]


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
