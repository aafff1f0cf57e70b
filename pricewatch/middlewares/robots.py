"""robots.txt: without readable rules nothing is requested. All processes share one fetch a day."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Self, TypeVar

from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import ProtegoRobotParser
from scrapy.utils.httpobj import urlparse_cached

from pricewatch import clock
from pricewatch.errors import DatabaseUnavailable
from pricewatch.fetching.database_thread import DatabaseThread
from pricewatch.fetching.downloader import domain_of, paused_request
from pricewatch.fetching.failures import FetchFailure, NoProxy, RobotsForbidden, TooLarge
from pricewatch.fetching.fetch_policies import FetchPolicies
from pricewatch.fetching.interruptible_sleep import InterruptibleSleep
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.rules.robots_txt import (
    MOST_BYTES,
    RobotsFile,
    RobotsOutcome,
    crawl_delay,
    read_robots,
    rules_for,
    unavailable,
)
from pricewatch.store.fetch_state import robots_cache

logger = logging.getLogger(__name__)
POLL_SECONDS = 0.3
PROXY_AUTH_REQUIRED = 407
# Longer than all attempts to fetch the file; if a process dies meanwhile, others wait for this long.
CLAIM_SECONDS = 150.0
# Larger files are parsed in a thread, so that they do not block the event loop.
LARGE_FILE = 50_000
T = TypeVar("T")


@dataclass(slots=True)
class CachedRobots:
    """The robots.txt of one origin in the memory of this process."""

    file: RobotsFile
    expires_at: datetime
    parser: ProtegoRobotParser | None = None


class RobotsMiddleware(RobotsTxtMiddleware):
    """Scrapy's middleware with its parser; `rules.robots_txt` interprets the responses."""

    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        settings = crawler.settings
        self._token: str = settings["ROBOTSTXT_USER_AGENT"]
        self._cache_time = timedelta(hours=settings.getfloat("ROBOTS_CACHE_HOURS"))
        self._retry_time = timedelta(seconds=settings.getfloat("ROBOTS_RETRY_SECONDS"))
        self._policies = per_crawl(crawler, FetchPolicies)
        self._sleep = per_crawl(crawler, InterruptibleSleep)
        self._database = per_crawl(crawler, DatabaseThread)
        self._cache: dict[str, CachedRobots] = {}
        self._lookups: dict[str, asyncio.Future[CachedRobots]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> None:  # type: ignore[override]  # no spider argument
        if request.meta.get("robots_txt"):
            return
        url = urlparse_cached(request)
        origin = f"{url.scheme}://{url.netloc}"
        cached = self._cache.get(origin)
        if cached is None or cached.expires_at <= clock.now():
            with paused_request(self.crawler, request):
                cached = await self._look_up(origin)
        self._check(cached, request)

    def _check(self, cached: CachedRobots, request: Request) -> None:
        if cached.file.outcome is RobotsOutcome.UNAVAILABLE:
            self.crawler.stats.inc_value("pricewatch/robots/blocked_as_unavailable")
            raise RobotsForbidden(f"robots.txt is unavailable ({cached.file.reason})")
        if cached.parser is not None and not cached.parser.allowed(request.url, self._token):
            self.crawler.stats.inc_value("pricewatch/robots/forbidden")
            raise RobotsForbidden("forbidden by robots.txt")

    async def _look_up(self, origin: str) -> CachedRobots:
        """Return the file of an origin; simultaneous calls share one lookup."""
        if origin not in self._lookups:
            self._lookups[origin] = asyncio.ensure_future(self._find(origin))
        lookup = self._lookups[origin]
        try:
            cached = await asyncio.shield(lookup)
        finally:
            if lookup.done():
                self._lookups.pop(origin, None)
        self._cache[origin] = cached
        return cached

    async def _find(self, origin: str) -> CachedRobots:
        try:
            while True:
                now = clock.now()
                found = await self._database.query(partial(robots_cache.read, origin=origin, now=now))
                if found is not None:
                    self.crawler.stats.inc_value("pricewatch/robots/known")
                    return await self._parse(origin, *found)
                claim = partial(robots_cache.claim, origin=origin, now=now, seconds=CLAIM_SECONDS)
                if await self._database.query(claim):
                    return await self._fetch(origin)
                await self._sleep.sleep(POLL_SECONDS)
        except DatabaseUnavailable as error:
            raise RobotsForbidden(f"the stored robots.txt cannot be read: {error}") from error

    async def _fetch(self, origin: str) -> CachedRobots:
        if self.crawler.engine is None:
            raise RuntimeError("robots.txt can only be fetched while a crawl runs")
        request = Request(
            f"{origin}/robots.txt",
            priority=self.DOWNLOAD_PRIORITY,
            meta={
                "robots_txt": True,
                "dont_obey_robotstxt": True,
                "download_maxsize": MOST_BYTES,
                # The offsite middleware has already let the page pass.
                "allow_offsite": True,
            },
            callback=NO_CALLBACK,
        )
        response: Response | None = None
        self.crawler.stats.inc_value("pricewatch/robots/fetched")
        try:
            response = await self.crawler.engine.download_async(request)
            if response.status == PROXY_AUTH_REQUIRED:
                raise NoProxy("a proxy rejected its credentials, so the site was not requested")
            file = await _in_thread(len(response.body), read_robots, response.status, response.body)
        except FetchFailure as failure:
            if not (failure.by_redirect or isinstance(failure, TooLarge)):
                # Not a failure of the site: the next request may fetch the file.
                await self._database.query(lambda connection: robots_cache.release_claim(connection, origin))
                raise
            file = unavailable(failure.reason)
        except Exception as error:  # noqa: BLE001 - after any error there are no rules
            file = unavailable(type(error).__name__)
        now = clock.now()
        expires_at = now + (
            self._retry_time if file.outcome is RobotsOutcome.UNAVAILABLE else self._cache_time
        )
        status = response.status if response else None
        await self._database.query(
            lambda connection: robots_cache.save(
                connection, origin, file, http_status=status, now=now, expires_at=expires_at
            )
        )
        self.crawler.stats.inc_value(f"pricewatch/robots/{file.outcome}")
        if file.outcome is RobotsOutcome.UNAVAILABLE:
            self.crawler.stats.inc_value(f"pricewatch/robots/unavailable/{file.reason}")
            logger.warning("%s/robots.txt is unavailable (%s): the site is not crawled", origin, file.reason)
        return await self._parse(origin, file, expires_at)

    async def _parse(self, origin: str, file: RobotsFile, expires_at: datetime) -> CachedRobots:
        if file.outcome is not RobotsOutcome.RULES:
            return CachedRobots(file, expires_at)
        parser = await _in_thread(len(file.text), self._parser, file.text)
        delay = crawl_delay(parser.crawl_delay(self._token))
        if delay is not None:
            self.crawler.stats.inc_value("pricewatch/robots/crawl_delay")
            self._policies.note_crawl_delay(domain_of(Request(origin)), delay)
        return CachedRobots(file, expires_at, parser)

    def _parser(self, text: str) -> ProtegoRobotParser:
        return ProtegoRobotParser(rules_for(text, self._token).encode(), self.crawler.spider)


async def _in_thread(size: int, work: Callable[..., T], *arguments: object) -> T:
    """Call a function, in a thread if it reads a large file."""
    return await asyncio.to_thread(work, *arguments) if size > LARGE_FILE else work(*arguments)
