"""A downloader in which waiting is free: a request that waits for its turn takes nobody else's place."""

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
    """One slot per registrable domain; CONCURRENT_REQUESTS counts only requests that do not wait."""

    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        self._waiting: set[Request] = set()
        self._at_hand: Counter[str] = Counter()
        # How many requests of a domain are worth having at hand, where that is not the default.
        self.room: dict[str, int] = {}

    def get_slot_key(self, request: Request) -> str:
        slot: str | None = request.meta.get(self.DOWNLOAD_SLOT)
        return slot if slot is not None else domain_of(request)

    def needs_backout(self) -> bool:
        return 0 < self.total_concurrency <= len(self.active) - len(self._waiting)

    def has_room(self, domain: str) -> bool:
        return self._at_hand[domain] < self.room.get(domain, self.domain_concurrency)

    def at_hand(self, domain: str) -> int:
        return self._at_hand[domain]

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Response | Request]:
        domain = self.get_slot_key(request)
        self._at_hand[domain] += 1
        fetched: Deferred[Response | Request] = super().fetch(request)
        return fetched.addBoth(self._left, domain).addErrback(self._failed, request)

    def unfetched(self, request: Request, error: BaseException) -> None:
        """Log a refused request of a spider without an errback; Scrapy itself says nothing of it."""
        is_refused = isinstance(error, FetchFailure) and not isinstance(error, CrawlEnding)
        if is_refused and request.errback is None:
            logger.warning("%s was not fetched: %s", request.url, error)

    def skip_delay(self, request: Request) -> None:
        """Send at once what the rate limiter has let through, whatever AutoThrottle or DOWNLOAD_DELAY say."""
        if slot := self.slots.get(self.get_slot_key(request)):
            slot.delay = 0.0

    @contextmanager
    def waiting(self, request: Request, *, aside: bool = False) -> Iterator[None]:
        """The request waits and takes no place; set aside, it also leaves its domain's room to others."""
        if request in self._waiting:
            yield
            return
        domain = self.get_slot_key(request)
        self._waiting.add(request)
        self._at_hand[domain] -= aside
        self._look_for_more()
        try:
            yield
        finally:
            self._waiting.discard(request)
            self._at_hand[domain] += aside

    def _left(self, result: Any, domain: str) -> Any:
        self._at_hand[domain] -= 1
        if not self._at_hand[domain]:
            del self._at_hand[domain]
        return result

    def _failed(self, failure: Failure, request: Request) -> Failure:
        # Our own components ask for pages without a callback, and deal with what goes wrong.
        if failure.value is not None and request.callback is not NO_CALLBACK:
            self.unfetched(request, failure.value)
        return failure

    def _look_for_more(self) -> None:
        # Scrapy looks for more work when a request ends; one that begins to wait makes room as well.
        if slot := engine_slot(self.crawler):
            slot.nextcall.schedule()


def domain_of(request: Request) -> str:
    """The registrable domain that a request goes to, or host and port where there is none; or nothing."""
    return _domain_at(urlparse_cached(request).netloc)


@lru_cache(maxsize=4096)
def _domain_at(netloc: str) -> str:
    """Asked several times for every request, and mostly about the same few places."""
    try:
        return site_of(f"//{netloc}")
    except InvalidUrl:
        return urlsplit(f"//{netloc}").hostname or ""


@contextmanager
def stepping_aside(crawler: Crawler, request: Request, *, aside: bool = False) -> Iterator[None]:
    """Wait without taking a place, where the downloader knows how."""
    downloader = crawler.engine.downloader if crawler.engine else None
    if isinstance(downloader, DomainDownloader):
        with downloader.waiting(request, aside=aside):
            yield
    else:
        yield
