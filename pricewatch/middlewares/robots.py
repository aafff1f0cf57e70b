"""robots.txt, fail closed: no rules that can be read means no request. One fetch a day for all processes."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import ProtegoRobotParser
from scrapy.utils.httpobj import urlparse_cached

from pricewatch import clock
from pricewatch.errors import DatabaseUnavailable
from pricewatch.fetching.database_thread import DatabaseThread
from pricewatch.fetching.downloader import domain_of, stepping_aside
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
LOOK_AGAIN_SECONDS = 0.3
PROXY_WANTS_LOGIN = 407
# Longer than all attempts to fetch the file take; also how long a process that dies then holds it up.
CLAIM_SECONDS = 150.0
# Parsing more than this would stop the event loop for a while.
LARGE_FILE = 50_000


@dataclass(slots=True)
class Known:
    """The file of one origin as this process knows it."""

    file: RobotsFile
    expires_at: datetime
    parser: ProtegoRobotParser | None = None


class RobotsMiddleware(RobotsTxtMiddleware):
    """Scrapy's middleware with its parser; what an answer means is decided in `rules.robots_txt`."""

    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        settings = crawler.settings
        self._token: str = settings["ROBOTSTXT_USER_AGENT"]
        self._kept = timedelta(hours=settings.getfloat("ROBOTS_CACHE_HOURS"))
        self._retried = timedelta(seconds=settings.getfloat("ROBOTS_RETRY_SECONDS"))
        self._policies = per_crawl(crawler, FetchPolicies)
        self._sleep = per_crawl(crawler, InterruptibleSleep)
        self._store = per_crawl(crawler, DatabaseThread)
        self._known: dict[str, Known] = {}
        self._looking: dict[str, asyncio.Future[Known]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> None:  # type: ignore[override]  # no spider argument
        if request.meta.get("robots_txt"):
            return
        url = urlparse_cached(request)
        origin = f"{url.scheme}://{url.netloc}"
        known = self._known.get(origin)
        if known is None or known.expires_at <= clock.now():
            with stepping_aside(self.crawler, request):
                known = await self._look_up(origin)
        self._check(known, request)

    def _check(self, known: Known, request: Request) -> None:
        if known.file.outcome is RobotsOutcome.UNAVAILABLE:
            self.crawler.stats.inc_value("pricewatch/robots/blocked_as_unavailable")
            raise RobotsForbidden(f"robots.txt cannot be relied on ({known.file.reason})")
        if known.parser is not None and not known.parser.allowed(request.url, self._token):
            self.crawler.stats.inc_value("pricewatch/robots/forbidden")
            raise RobotsForbidden("forbidden by robots.txt")

    async def _look_up(self, origin: str) -> Known:
        """The file of an origin; those who ask at the same time wait for the same answer."""
        if origin not in self._looking:
            self._looking[origin] = asyncio.ensure_future(self._find(origin))
        looking = self._looking[origin]
        try:
            known = await asyncio.shield(looking)
        finally:
            if looking.done():
                self._looking.pop(origin, None)
        self._known[origin] = known
        return known

    async def _find(self, origin: str) -> Known:
        try:
            while True:
                now = clock.now()
                found = await self._store.ask(lambda connection: robots_cache.read(connection, origin, now))  # noqa: B023
                if found is not None:
                    self.crawler.stats.inc_value("pricewatch/robots/known")
                    return await self._understand(origin, *found)
                if await self._store.ask(
                    lambda connection: robots_cache.claim(connection, origin, now, CLAIM_SECONDS)  # noqa: B023
                ):
                    return await self._fetch(origin)
                await self._sleep.sleep(LOOK_AGAIN_SECONDS)
        except DatabaseUnavailable as error:
            raise RobotsForbidden(f"robots.txt is not known: {error}") from error

    async def _fetch(self, origin: str) -> Known:
        if self.crawler.engine is None:
            raise RuntimeError("robots.txt is fetched by the engine of a crawl")
        request = Request(
            f"{origin}/robots.txt",
            priority=self.DOWNLOAD_PRIORITY,
            meta={
                "robots_txt": True,
                "dont_obey_robotstxt": True,
                "download_maxsize": MOST_BYTES,
                # Whether the page itself is off site was decided before; its rules are needed all the same.
                "allow_offsite": True,
            },
            callback=NO_CALLBACK,
        )
        response: Response | None = None
        self.crawler.stats.inc_value("pricewatch/robots/fetched")
        try:
            response = await self.crawler.engine.download_async(request)
            if response.status == PROXY_WANTS_LOGIN:
                raise NoProxy("a proxy wants another login: the site has not been asked")
            file = read_robots(response.status, response.body)
        except FetchFailure as failure:
            if not (failure.by_redirect or isinstance(failure, TooLarge)):
                # Nothing is wrong with the site: whoever asks next may fetch it.
                await self._store.ask(lambda connection: robots_cache.release_claim(connection, origin))
                raise
            file = unavailable(failure.reason)
        except Exception as error:  # noqa: BLE001 - whatever it is, there are no rules to go by
            file = unavailable(type(error).__name__)
        now = clock.now()
        expires_at = now + (self._retried if file.outcome is RobotsOutcome.UNAVAILABLE else self._kept)
        status = response.status if response else None
        await self._store.ask(
            lambda connection: robots_cache.save(
                connection, origin, file, http_status=status, now=now, expires_at=expires_at
            )
        )
        self.crawler.stats.inc_value(f"pricewatch/robots/{file.outcome}")
        if file.outcome is RobotsOutcome.UNAVAILABLE:
            self.crawler.stats.inc_value(f"pricewatch/robots/unavailable/{file.reason}")
            logger.warning("%s/robots.txt is unavailable (%s): the site is left alone", origin, file.reason)
        return await self._understand(origin, file, expires_at)

    async def _understand(self, origin: str, file: RobotsFile, expires_at: datetime) -> Known:
        if file.outcome is not RobotsOutcome.RULES:
            return Known(file, expires_at)
        text = rules_for(file.text, self._token).encode()
        if len(text) > LARGE_FILE:
            parser = await asyncio.to_thread(ProtegoRobotParser, text, self.crawler.spider)
        else:
            parser = ProtegoRobotParser(text, self.crawler.spider)
        delay = crawl_delay(parser.crawl_delay(self._token))
        if delay is not None:
            self.crawler.stats.inc_value("pricewatch/robots/crawl_delay")
            self._policies.note_crawl_delay(domain_of(Request(origin)), delay)
        return Known(file, expires_at, parser)
