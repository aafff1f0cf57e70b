"""The client of the rate limiter, with a fake backend."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from threading import Semaphore
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager
from scrapy.statscollectors import StatsCollector

from pricewatch.fetching.failures import CrawlEnding, RateLimitWaitExceeded
from pricewatch.fetching.fetch_policies import FetchPolicies
from pricewatch.fetching.per_crawl import ATTRIBUTE
from pricewatch.fetching.rate_limit.backend import Refusal
from pricewatch.fetching.rate_limit.limiter import NO_SLOT_LIMIT, RateLimiter, rate_limiter
from pricewatch.middlewares.rate_limit import RateLimitMiddleware
from pricewatch.rules.request_budget import Limit

LIMIT = Limit(1.0, 2)


class FakeBackend:
    """Return these answers to reservations, the last one repeatedly, and record every step."""

    def __init__(self, *answers: float | Refusal) -> None:
        self.answers = list(answers)
        self.steps: list[str] = []
        self.answered = Semaphore(0)
        self.reserved: list[tuple[Limit, float]] = []

    def reserve(
        self, domain: str, ticket: str, limit: Limit, *, max_wait: float, lease: float
    ) -> float | Refusal:
        self.steps.append("reserve")
        self.reserved.append((limit, lease))
        self.answered.release()
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def release(self, domain: str, ticket: str) -> None:
        self.steps.append("release")

    def renew(self, domain: str, tickets: Sequence[str], *, lease: float) -> None:
        self.steps.append("renew")

    def hold(self, domain: str, seconds: float) -> None:
        self.steps.append("hold")


def crawler_with(**settings: Any) -> Crawler:
    """Return a stand-in with the attributes of a crawler that the limiter uses."""
    values = {"RATE_LIMIT_MARGIN": 0.05, "RATE_LIMIT_MAX_WAIT": 5, "RATE_LIMIT_LEASE_SECONDS": 15, **settings}
    crawler = SimpleNamespace(settings=Settings(values), signals=SignalManager())
    crawler.stats = StatsCollector(cast("Crawler", crawler))
    crawler.engine = SimpleNamespace(_slot=SimpleNamespace(closing=None), downloader=None)
    return cast("Crawler", crawler)


def limited(
    backend: FakeBackend, use: Callable[[RateLimiter], Awaitable[None]], crawler: Crawler | None = None
) -> dict[str, Any]:
    """Use a limiter with this backend; return the counters."""
    crawler = crawler or crawler_with()

    async def run() -> None:
        limiter = RateLimiter(crawler, backend)
        await use(limiter)
        await limiter.close()

    asyncio.run(run())
    return {name.rpartition("/")[2]: value for name, value in crawler.stats.get_stats().items()}


def test_a_request_that_is_late_reserves_again() -> None:
    backend = FakeBackend(-0.2, 0.0)

    async def use(limiter: RateLimiter) -> None:
        await limiter.acquire("shop.com", LIMIT)

    stats = limited(backend, use)
    assert backend.steps[:3] == ["reserve", "release", "reserve"]
    assert (stats["late"], stats["requests"]) == (1, 1)


def test_a_request_that_is_a_little_late_is_sent() -> None:
    backend = FakeBackend(-0.01)

    async def use(limiter: RateLimiter) -> None:
        await limiter.acquire("shop.com", LIMIT)

    assert "late" not in limited(backend, use)


def test_a_reservation_before_the_end_of_a_hold_is_made_again() -> None:
    backend = FakeBackend(0.1, 0.3)

    async def use(limiter: RateLimiter) -> None:
        waiting = asyncio.ensure_future(limiter.acquire("shop.com", LIMIT))
        await asyncio.to_thread(backend.answered.acquire)
        await limiter.hold("shop.com", 0.2)
        await waiting

    stats = limited(backend, use)
    assert backend.steps[:4] == ["reserve", "hold", "release", "reserve"]
    assert stats["held_back"] == 1


def test_a_local_release_ends_the_pause_while_all_slots_are_leased(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pricewatch.fetching.rate_limit.limiter.FULL_SECONDS", 60.0)
    backend = FakeBackend(0.0, Refusal.FULL, 0.0)

    async def use(limiter: RateLimiter) -> None:
        first = await limiter.acquire("shop.com", LIMIT)
        waiting = asyncio.ensure_future(limiter.acquire("shop.com", LIMIT))
        for _ in range(2):
            await asyncio.to_thread(backend.answered.acquire)
        limiter.release(first)
        await asyncio.wait_for(waiting, 30)

    assert limited(backend, use)["full"] == 1
    assert backend.steps[:4] == ["reserve", "reserve", "release", "reserve"]


def test_a_moment_that_is_too_far_away_fails_the_request() -> None:
    async def use(limiter: RateLimiter) -> None:
        with pytest.raises(RateLimitWaitExceeded, match=r"shop\.com"):
            await limiter.acquire("shop.com", LIMIT)

    limited(FakeBackend(Refusal.TOO_FAR), use)


def test_waiting_for_a_slot_is_bounded() -> None:
    async def use(limiter: RateLimiter) -> None:
        with pytest.raises(RateLimitWaitExceeded):
            await limiter.acquire("shop.com", LIMIT)

    limited(FakeBackend(Refusal.FULL), use, crawler_with(RATE_LIMIT_MAX_WAIT=0.2))


def test_a_closing_crawl_releases_what_it_reserved() -> None:
    backend = FakeBackend(4.0)
    crawler = crawler_with()

    async def use(limiter: RateLimiter) -> None:
        waiting = asyncio.ensure_future(limiter.acquire("shop.com", LIMIT))
        await asyncio.to_thread(backend.answered.acquire)
        crawler.engine._slot.closing = True  # type: ignore[union-attr]
        with pytest.raises(CrawlEnding):
            await waiting

    limited(backend, use, crawler)
    assert backend.steps == ["reserve", "release"]


def test_requests_without_a_slot_do_not_wait_for_one() -> None:
    """The resources of a browser page belong to a request that has a slot."""
    backend = FakeBackend(0.0)

    async def use(limiter: RateLimiter) -> None:
        await limiter.acquire("shop.com", LIMIT, slot=False)

    limited(backend, use)
    assert backend.reserved == [(Limit(1.05, NO_SLOT_LIMIT), 0.0)]
    assert backend.steps == ["reserve"]


def test_the_hold_is_written_before_the_slot_is_released() -> None:
    backend = FakeBackend(0.0)
    crawler = crawler_with(RATE_LIMIT_ENABLED=True, RATE_LIMIT_UNLIMITED=1000, RETRY_AFTER_MAX=120)
    policies = SimpleNamespace(limit=lambda domain: LIMIT)
    crawler.__dict__[ATTRIBUTE] = {FetchPolicies: policies}
    request = Request("http://shop.com/")
    refused = Response(request.url, status=429, headers={"Retry-After": "30"})

    async def use(limiter: RateLimiter) -> None:
        crawler.__dict__[ATTRIBUTE][rate_limiter] = limiter
        middleware = RateLimitMiddleware.from_crawler(crawler)
        waiting = middleware.process_request(request)
        assert waiting is not None
        await waiting
        holding = middleware.process_response(request, refused)
        assert not isinstance(holding, Response)
        assert await holding is refused

    limited(backend, use, crawler)
    assert backend.steps == ["reserve", "hold", "release"]
