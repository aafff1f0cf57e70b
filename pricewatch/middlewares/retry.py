"""Retry failed requests with exponential backoff; a paused request does not count as concurrent."""

from __future__ import annotations

import random
from collections.abc import Coroutine
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import RetryMiddleware, get_retry_request
from scrapy.http import Request, Response
from scrapy.utils.response import response_status_message

from pricewatch import clock
from pricewatch.fetching.downloader import paused_request
from pricewatch.fetching.interruptible_sleep import InterruptibleSleep
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.rules.backoff import backoff, retry_after


class BackoffRetryMiddleware(RetryMiddleware):
    def __init__(self, crawler: Crawler):
        super().__init__(crawler.settings)
        settings = crawler.settings
        self.crawler = crawler
        self._first = settings.getfloat("RETRY_FIRST_DELAY")
        self._longest = settings.getfloat("RETRY_LONGEST_DELAY")
        self._jitter = settings.getfloat("RETRY_JITTER")
        self._max_retry_after = settings.getfloat("RETRY_AFTER_MAX")
        self._sleep = per_crawl(crawler, InterruptibleSleep)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_response(  # type: ignore[override]  # a coroutine only for a retry
        self, request: Request, response: Response
    ) -> Response | Coroutine[Any, Any, Request | Response]:
        # 407 comes from the proxy, not the site; another proxy may accept its credentials.
        codes = self.retry_http_codes
        is_retryable = response.status in codes or (response.status == 407 and "proxy_name" in request.meta)
        if not is_retryable or request.meta.get("dont_retry"):
            return response
        return self._retry_status(request, response)

    def process_exception(  # type: ignore[override]
        self, request: Request, exception: Exception
    ) -> Coroutine[Any, Any, Request | None] | None:
        if not isinstance(exception, self.exceptions_to_retry) or request.meta.get("dont_retry"):
            return None
        return self._retry_later(request, exception, None)

    async def _retry_status(self, request: Request, response: Response) -> Request | Response:
        seconds = retry_after((response.headers.get("Retry-After") or b"").decode("latin-1"), clock.now())
        if seconds is not None and seconds > self._max_retry_after:
            # Not retrying in this run is better than retrying earlier than the site requested.
            self.crawler.stats.inc_value("pricewatch/retry/asked_to_wait_too_long")
            return response
        return await self._retry_later(request, response_status_message(response.status), seconds) or response

    async def _retry_later(
        self, request: Request, why: str | Exception, seconds: float | None
    ) -> Request | None:
        if self.crawler.spider is None:
            return None
        retry = get_retry_request(
            request,
            spider=self.crawler.spider,
            reason=why,
            max_retry_times=request.meta.get("max_retry_times", self.max_retry_times),
            priority_adjust=request.meta.get("priority_adjust", self.priority_adjust),
            give_up_log_level=request.meta.get("give_up_log_level", self.give_up_log_level),
            stats_base_key="pricewatch/retry",
        )
        if retry is None:
            return None
        pause = backoff(
            retry.meta["retry_times"],
            random.random(),
            first=self._first,
            longest=self._longest,
            jitter=self._jitter,
        )
        if seconds is not None:
            self.crawler.stats.inc_value("pricewatch/retry/asked_to_wait")
            pause = max(pause, seconds)
        with paused_request(self.crawler, request, frees_domain=True):
            await self._sleep.sleep(pause)
        return retry
