"""The global rate limit: every request that goes out waits here for its domain's turn, whoever sends it."""

from __future__ import annotations

from collections.abc import Coroutine
from time import monotonic
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response

from pricewatch import clock
from pricewatch.fetching.database_thread import DatabaseThread
from pricewatch.fetching.downloader import DomainDownloader, domain_of, stepping_aside
from pricewatch.fetching.failures import FetchFailure, NoTurn
from pricewatch.fetching.fetch_policies import FetchPolicies
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.middlewares.punctual import TurnMissed
from pricewatch.middlewares.turn_book import TurnBook
from pricewatch.middlewares.turns import Turn, Turns
from pricewatch.rules.backoff import retry_after
from pricewatch.rules.request_budget import Limit, room_for
from pricewatch.store.rate_limits import PostgresTurns


class LimitsMiddleware:
    """Innermost of all: robots.txt, HEAD, retries, redirects and browser pages all come through here."""

    def __init__(self, crawler: Crawler):
        settings = crawler.settings
        if not settings.getbool("RATE_LIMIT_ENABLED"):
            raise NotConfigured
        self._crawler = crawler
        self._policies = per_crawl(crawler, FetchPolicies)
        self._unlimited = settings.getfloat("RATE_LIMIT_UNLIMITED")
        self._lookahead = settings.getfloat("RATE_LIMIT_LOOKAHEAD_SECONDS")
        self._most_at_hand = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        self._longest_hold = settings.getfloat("RETRY_AFTER_MAX")
        self._turns = per_crawl(crawler, turns)
        self._taken: dict[Request, Turn] = {}
        self._rooms: dict[str, Limit] = {}
        # Sites that asked for a longer pause than is waited for, and until when.
        self._left_alone: dict[str, float] = {}
        crawler.signals.connect(self._turns.close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> Coroutine[Any, Any, None] | None:
        domain = domain_of(request)
        self._check_left_alone(domain)
        limit = self._policies.limit(domain)
        return None if limit.is_lifted(self._unlimited) else self._wait(request, domain, limit)

    def process_response(self, request: Request, response: Response) -> Any:
        if self._taken:
            self._give_back(request)
        if response.status in (429, 503) and "Retry-After" in response.headers:
            return self._hold(request, response)
        return response

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        self._give_back(request)
        if isinstance(exception, TurnMissed):
            self._crawler.stats.inc_value("pricewatch/limits/late")
            return request.replace(dont_filter=True)
        return None

    def is_lifted(self, domain: str) -> bool:
        return self._policies.limit(domain).is_lifted(self._unlimited)

    async def _wait(self, request: Request, domain: str, limit: Limit) -> None:
        self._make_room(domain, limit)
        with stepping_aside(self._crawler, request):
            try:
                turn = self._taken[request] = await self._turns.take(
                    domain, limit, browser=bool(request.meta.get("playwright"))
                )
                request.meta["send_before"] = turn.send_before
                self._check_left_alone(domain)
            except FetchFailure as failure:
                self._crawler.stats.inc_value(f"pricewatch/limits/{failure.reason}")
                raise

    def _check_left_alone(self, domain: str) -> None:
        seconds = self._left_alone.get(domain, 0.0) - monotonic()
        if seconds > 0:
            raise NoTurn(f"{domain} asked to be left alone for another {seconds:.0f} seconds")

    def _give_back(self, request: Request) -> None:
        request.meta.pop("send_before", None)
        turn = self._taken.pop(request, None)
        if turn is not None:
            self._turns.give_back(turn)

    async def _hold(self, request: Request, response: Response) -> Response:
        """The site asks for a pause: the whole domain pauses, in every process."""
        domain = domain_of(request)
        seconds = retry_after((response.headers.get("Retry-After") or b"").decode("latin-1"), clock.now())
        if seconds and seconds > self._longest_hold:
            self._left_alone[domain] = monotonic() + seconds
            self._crawler.stats.inc_value("pricewatch/limits/left_alone")
        if seconds and not self.is_lifted(domain):
            await self._turns.hold(domain, min(seconds, self._longest_hold))
            self._crawler.stats.inc_value("pricewatch/limits/held")
        return response

    def _make_room(self, domain: str, limit: Limit) -> None:
        downloader = self._crawler.engine.downloader if self._crawler.engine else None
        if self._rooms.get(domain) != limit and isinstance(downloader, DomainDownloader):
            self._rooms[domain] = limit
            downloader.room[domain] = room_for(limit, self._lookahead, self._most_at_hand)


def turns(crawler: Crawler) -> Turns:
    """The crawl's turns: kept in Redis where REDIS_URL is set, else in PostgreSQL."""
    book: TurnBook
    if url := crawler.settings.get("REDIS_URL"):
        from pricewatch.middlewares.redis_turns import RedisTurns

        book = RedisTurns(url)
    else:
        book = PostgresTurns(per_crawl(crawler, DatabaseThread).connection)
    return Turns(crawler, book)
