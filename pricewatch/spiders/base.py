"""The base of pricewatch's spiders: arguments, the run, and reading pages with an adapter."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import scrapy
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response, TextResponse
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from pricewatch import clock
from pricewatch.adapters.base import Adapter, Presence, PresenceEvidence
from pricewatch.errors import UserError
from pricewatch.items import ExtractFailure, ListingCheck
from pricewatch.parsing.url import is_same_product_url
from pricewatch.queued_work import SourceHints
from pricewatch.reading.deadline import ReadTimeout
from pricewatch.reading.page_calls import PRESENCE, PageCall
from pricewatch.reading.page_reader import PageReader, describe_error
from pricewatch.rules.verification_outcome import attempt_from_status
from pricewatch.runs.crawl_run import CrawlRun, run_of
from pricewatch.runs.page_rendering import page_meta
from pricewatch.spiders.arguments import Arguments, parse_arguments
from pricewatch.vocabulary import Attempt, FailureReason

R = TypeVar("R")
# These have no effect on pricewatch's spiders, but each processes every request or wraps every callback.
UNUSED_COMPONENTS: dict[str, dict[str, None]] = {
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
SPIDER_SETTINGS = {
    # A page yields one item and one request; Scrapy creates this many tasks for the output of each response.
    "CONCURRENT_ITEMS": 2,
    # First in, first out for all requests, so that nothing needs to mark start requests.
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
ATTEMPTS = {Presence.ALIVE: Attempt.ALIVE, Presence.GONE: Attempt.GONE, Presence.SOLD: Attempt.SOLD}
SAYS_NOTHING = "the page says nothing about the listing"


class PricewatchSpider(scrapy.Spider):
    """Base of pricewatch's four spiders: one run, from its arguments to its row in `runs`."""

    arguments_type: ClassVar[type[Arguments]] = Arguments
    # Pipelines that only this spider uses, with their order values among those of ITEM_PIPELINES.
    extra_pipelines: ClassVar[dict[str, int]] = {}
    arguments: Any
    adapter: Adapter
    source_id: str
    # How the pages of that source are fetched and read.
    hints = SourceHints()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> PricewatchSpider:
        spider = super().from_crawler(crawler, *args)
        spider.arguments = parse_arguments(cls.arguments_type, cls.name, kwargs)
        spider.prepare(spider.arguments)
        return spider

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        components: dict[str, Any] = {**UNUSED_COMPONENTS, "ITEM_PIPELINES": cls.extra_pipelines}
        for name, additions in components.items():
            # Added to the components from any other source, unless they are disabled there by name. The
            # priority is one higher because a crawler runner sets its own settings again.
            priority = max((settings.getpriority(name) or 0) + 1, SETTINGS_PRIORITIES["spider"])
            settings.set(name, {**additions, **settings.getdict(name)}, priority=priority)
        settings.setdict(SPIDER_SETTINGS, priority="spider")

    @property
    def run(self) -> CrawlRun:
        try:
            return run_of(self.crawler)
        except NotConfigured:
            raise UserError(f"The {self.name} spider needs a run: do not set RUN_ENABLED to False.") from None

    @classmethod
    def check(cls, arguments: dict[str, Any]) -> None:
        """Raise `UserError` if the arguments are invalid, before anything starts."""
        cls.load(parse_arguments(cls.arguments_type, cls.name, arguments))

    @classmethod
    def load(cls, arguments: Any) -> Any:
        """Load what the arguments name from the database; raise `UserError` if it does not exist."""
        raise NotImplementedError

    @cached_property
    def page_reader(self) -> PageReader:
        return PageReader(self.crawler.settings)

    def prepare(self, arguments: Any) -> None:
        """Set up the spider from its arguments, before there is a run or a request."""
        raise NotImplementedError

    def run_fields(self) -> dict[str, Any]:
        """Return the fields of the row in `runs` when the run starts."""
        arguments = self.arguments.model_dump(exclude_none=True, exclude={"job", "trigger"})
        return {
            "trigger": self.arguments.trigger,
            "job_id": self.arguments.job,
            "arguments": arguments,
        }

    def describe(self) -> str:
        """Return a short description of this run for the progress bar."""
        return self.name

    def work_done(self) -> tuple[int, int | None]:
        """Return how many units of work are done, and the total if it is known."""
        return self.run.pages + self.run.counters["urls_attempted"], None

    def rendering(self) -> dict[str, Any]:
        """Return the request meta for an overview page; `needs_browser` is about product pages."""
        return page_meta(self.adapter, replace(self.hints, needs_browser=False))

    async def read_with_adapter(
        self, call: PageCall[R], adapter: Adapter, response: Response
    ) -> R | ExtractFailure:
        """Read a page with an adapter. Its errors are logged and counted; they never end or delay a run."""
        if not isinstance(response, TextResponse):
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, "not a page of text")
        try:
            return await self.page_reader.read_async(call, adapter, response)
        except ReadTimeout as timeout:
            self.logger.warning("%s was %s", response.url, timeout)
            return ExtractFailure(FailureReason.READ_TIMEOUT, str(timeout))
        except Exception as error:  # an adapter is per-site code and may fail in any way
            self.run.note("adapter_error")
            self.logger.exception("The adapter failed on %s", response.url)
            return ExtractFailure(FailureReason.PAGE_STRUCTURE_CHANGED, describe_error(error))

    async def presence(self, response: Response, adapter: Adapter | None = None) -> PresenceEvidence:
        """Return what a page says about its listing; UNKNOWN and why if the page cannot be read."""
        if not isinstance(response, TextResponse) or not response.body:
            return PresenceEvidence(Presence.UNKNOWN)
        evidence = await self.read_with_adapter(PRESENCE, adapter or self.adapter, response)
        if isinstance(evidence, PresenceEvidence):
            return evidence
        self.run.note(f"failure/{evidence.reason}")
        return PresenceEvidence(Presence.UNKNOWN, f"{evidence.reason} {evidence.details}")

    async def check_listing(
        self,
        listing_id: int,
        url: str,
        response: Response,
        adapter: Adapter,
        evidence: PresenceEvidence | None = None,
    ) -> ListingCheck:
        """Return what the response to a request for the listing's URL says about the listing.

        `evidence` is what its page says, if it was read already.
        """
        method = response.request.method if response.request else "GET"
        attempt = attempt_from_status(response.status)
        check = ListingCheck(listing_id, attempt, clock.now(), method, response.status, response.url)
        if check.attempt is Attempt.TROUBLE:
            check.reason = f"status {response.status}"
        elif not is_same_product_url(url, response.url):
            check.attempt, check.reason = Attempt.TROUBLE, "led to another page"
        elif check.attempt is Attempt.ALIVE and method == "GET":
            evidence = evidence or await self.presence(response, adapter)
            check.attempt = ATTEMPTS.get(evidence.presence, Attempt.TROUBLE)
            if check.attempt is Attempt.TROUBLE:
                check.reason = evidence.marker or SAYS_NOTHING
            else:
                check.marker, check.sold_at = evidence.marker or None, evidence.sold_at
        return check
