"""Count the pages of custom spiders; the built-in spiders count theirs themselves."""

from __future__ import annotations

from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK

from pricewatch.fetching.failures import NOT_REQUESTED, FetchFailure
from pricewatch.fetching.handled_status import handles_status
from pricewatch.rules.custom_spiders import is_custom_spider
from pricewatch.runs.crawl_run import run_of


class CustomSpiderPagesMiddleware:
    """The outermost middleware: it sees what the spider gets, after all retries and redirects."""

    def __init__(self, crawler: Crawler):
        self.crawler = crawler
        self.run = run_of(crawler)
        if not is_custom_spider(self.run.adapter_id):
            raise NotConfigured

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        if response.status < 400 or handles_status(self.crawler, request, response.status):
            self._count(request, "succeeded")
        else:
            self._count(request, "failed", f"http_error_{response.status}")
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        if isinstance(exception, FetchFailure):
            self._count(request, "failed", exception.reason)
        elif not isinstance(exception, IgnoreRequest):
            # Requests that a middleware ignores, such as links to other sites, are not counted.
            self._count(request, "failed", type(exception).__name__)

    def _count(self, request: Request, outcome: str, reason: str = "") -> None:
        # A request of one of pricewatch's components, such as robots.txt.
        if request.callback is NO_CALLBACK:
            return
        labels = self.run.adapter_id or "", self.run.source_id or ""
        self.run.count("urls_attempted")
        self.run.count(f"urls_{outcome}")
        self.run.count_metric("scrape_urls_attempted_total", *labels, outcome)
        if reason:
            self.run.note(f"failure/{reason}")
            self.run.count_metric("scrape_urls_failed_total", *labels, reason)
            self.run.error("A page could not be fetched", url=request.url, reason=reason)
        else:
            self.run.count_metric("scrape_urls_succeeded_total", *labels)
        if reason in NOT_REQUESTED:
            self.run.count("urls_not_asked")
