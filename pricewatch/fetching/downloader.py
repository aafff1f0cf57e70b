"""A downloader in which paused requests do not count against CONCURRENT_REQUESTS."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.core.downloader import Downloader
from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from pricewatch.fetching.engine_slot import engine_slot
from pricewatch.fetching.failures import CrawlEnding, FetchFailure
from pricewatch.parsing.url import InvalidUrl, site_of

logger = logging.getLogger(__name__)


class DomainDownloader(Downloader):
    """One slot per registrable domain; CONCURRENT_REQUESTS counts only requests that are not paused."""

    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        self._paused: set[Request] = set()
        self._in_progress: Counter[str] = Counter()
        # The most requests in progress per domain, where it differs from the default.
        self.capacity: dict[str, int] = {}

    def get_slot_key(self, request: Request) -> str:
        slot: str | None = request.meta.get(self.DOWNLOAD_SLOT)
        return slot if slot is not None else domain_of(request)

    def needs_backout(self) -> bool:
        return 0 < self.total_concurrency <= len(self.active) - len(self._paused)

    def has_capacity(self, domain: str) -> bool:
        return self._in_progress[domain] < self.capacity.get(domain, self.domain_concurrency)

    def in_progress(self, domain: str) -> int:
        return self._in_progress[domain]

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Response | Request]:
        domain = self.get_slot_key(request)
        self._in_progress[domain] += 1
        fetched: Deferred[Response | Request] = super().fetch(request)
        return fetched.addBoth(self._finished, domain).addErrback(self._failed, request)

    def log_failure(self, request: Request, error: BaseException) -> None:
        """Log a refused request of a spider without an errback; Scrapy does not log it."""
        is_refused = isinstance(error, FetchFailure) and not isinstance(error, CrawlEnding)
        if is_refused and request.errback is None:
            logger.warning("%s was not fetched: %s", request.url, error)

    def skip_delay(self, request: Request) -> None:
        """Ignore AutoThrottle and DOWNLOAD_DELAY: the rate limiter has already delayed the request."""
        if slot := self.slots.get(self.get_slot_key(request)):
            slot.delay = 0.0

    @contextmanager
    def paused(self, request: Request, *, frees_domain: bool = False) -> Iterator[None]:
        """Do not count the request meanwhile; with `frees_domain`, not against its domain either."""
        if request in self._paused:
            yield
            return
        domain = self.get_slot_key(request)
        self._paused.add(request)
        self._in_progress[domain] -= frees_domain
        self._check_scheduler()
        try:
            yield
        finally:
            self._paused.discard(request)
            self._in_progress[domain] += frees_domain

    def _finished(self, result: Any, domain: str) -> Any:
        self._in_progress[domain] -= 1
        if not self._in_progress[domain]:
            del self._in_progress[domain]
        return result

    def _failed(self, failure: Failure, request: Request) -> Failure:
        # pricewatch's components fetch pages without a callback, and handle failures themselves.
        if failure.value is not None and request.callback is not NO_CALLBACK:
            self.log_failure(request, failure.value)
        return failure

    def _check_scheduler(self) -> None:
        # Scrapy checks the scheduler when a request ends; a paused request frees capacity as well.
        if slot := engine_slot(self.crawler):
            slot.nextcall.schedule()


def domain_of(request: Request) -> str:
    """Return the registrable domain of a request, else its host and port, else an empty string."""
    return _domain_at(urlparse_cached(request).netloc)


@lru_cache(maxsize=4096)
def _domain_at(netloc: str) -> str:
    """Cached: called several times per request, mostly with the same few values."""
    try:
        return site_of(f"//{netloc}")
    except InvalidUrl:
        return urlsplit(f"//{netloc}").hostname or ""


@contextmanager
def paused_request(crawler: Crawler, request: Request, *, frees_domain: bool = False) -> Iterator[None]:
    """Do not count the request meanwhile, if the downloader is a DomainDownloader."""
    downloader = crawler.engine.downloader if crawler.engine else None
    if isinstance(downloader, DomainDownloader):
        with downloader.paused(request, frees_domain=frees_domain):
            yield
    else:
        yield
