"""The global rate limit: every request waits here until its domain allows the next one."""

from __future__ import annotations

from collections.abc import Coroutine
from time import monotonic
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response

from pricewatch import clock
from pricewatch.fetching.downloader import DomainDownloader, domain_of, paused_request
from pricewatch.fetching.failures import FetchFailure, RateLimitWaitExceeded
from pricewatch.fetching.fetch_policies import FetchPolicies
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.fetching.rate_limit.limiter import Reservation, rate_limiter
from pricewatch.rules.backoff import retry_after
from pricewatch.rules.request_budget import Limit, capacity_for


class RateLimitMiddleware:
    """Innermost, so that robots.txt, HEAD, retries, redirects and browser pages all pass through it."""

    def __init__(self, crawler: Crawler):
        settings = crawler.settings
        if not settings.getbool("RATE_LIMIT_ENABLED"):
            raise NotConfigured
        self._crawler = crawler
        self._policies = per_crawl(crawler, FetchPolicies)
        self._limiter = per_crawl(crawler, rate_limiter)
        self._unlimited = settings.getfloat("RATE_LIMIT_UNLIMITED")
        self._max_in_progress = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        self._max_hold = settings.getfloat("RETRY_AFTER_MAX")
        self._reserved: dict[Request, Reservation] = {}
        # End of the pause of domains whose Retry-After is longer than RETRY_AFTER_MAX.
        self._paused_until: dict[str, float] = {}
        crawler.signals.connect(self._limiter.close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> Coroutine[Any, Any, None] | None:
        domain = domain_of(request)
        self._check_paused(domain)
        limit = self._policies.limit(domain)
        return None if limit.is_unlimited(self._unlimited) else self._wait(request, domain, limit)

    def process_response(
        self, request: Request, response: Response
    ) -> Response | Coroutine[Any, Any, Response]:
        if response.status in (429, 503) and "Retry-After" in response.headers:
            return self._hold(request, response)
        self._release(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        self._release(request)

    async def _wait(self, request: Request, domain: str, limit: Limit) -> None:
        downloader = self._crawler.engine.downloader if self._crawler.engine else None
        if isinstance(downloader, DomainDownloader):
            downloader.capacity[domain] = capacity_for(limit, self._max_in_progress)
        try:
            with paused_request(self._crawler, request):
                reservation = self._reserved[request] = await self._limiter.acquire(
                    domain, limit, browser=bool(request.meta.get("playwright"))
                )
            self._check_paused(domain)
        except FetchFailure as failure:
            self._crawler.stats.inc_value(f"pricewatch/rate_limit/{failure.reason}")
            raise
        request.meta["send_deadline"] = reservation.send_deadline
        if isinstance(downloader, DomainDownloader):
            downloader.skip_delay(request)

    def _check_paused(self, domain: str) -> None:
        seconds = self._paused_until.get(domain, 0.0) - monotonic()
        if seconds > 0:
            raise RateLimitWaitExceeded(f"{domain} sent a Retry-After that ends in {seconds:.0f} seconds")

    def _release(self, request: Request) -> None:
        request.meta.pop("send_deadline", None)
        reservation = self._reserved.pop(request, None)
        if reservation is not None:
            self._limiter.release(reservation)

    async def _hold(self, request: Request, response: Response) -> Response:
        """Pause the whole domain, in every process, before the slot is free for the next request."""
        domain = domain_of(request)
        seconds = retry_after((response.headers.get("Retry-After") or b"").decode("latin-1"), clock.now())
        try:
            if seconds and seconds > self._max_hold:
                self._paused_until[domain] = monotonic() + seconds
                self._crawler.stats.inc_value("pricewatch/rate_limit/left_alone")
            if seconds and not self._policies.limit(domain).is_unlimited(self._unlimited):
                await self._limiter.hold(domain, min(seconds, self._max_hold))
                self._crawler.stats.inc_value("pricewatch/rate_limit/held")
        finally:
            self._release(request)
        return response
