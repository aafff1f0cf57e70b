"""The client of the rate limiter: it reserves a moment, sleeps until then, and later releases the slot."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from time import monotonic
from typing import TypeVar

from scrapy.crawler import Crawler

from pricewatch.errors import DatabaseUnavailable
from pricewatch.fetching.database_thread import DatabaseThread
from pricewatch.fetching.failures import CrawlEnding, RateLimitWaitExceeded
from pricewatch.fetching.interruptible_sleep import InterruptibleSleep
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.fetching.rate_limit.backend import LimiterBackend, Refusal
from pricewatch.fetching.rate_limit.postgres import PostgresBackend
from pricewatch.rules.metric_names import bucket, metric_key
from pricewatch.rules.request_budget import Limit

logger = logging.getLogger(__name__)
T = TypeVar("T")
# Pauses between two attempts while all slots are leased, doubled each time.
FULL_SECONDS = 0.05
LONGEST_FULL_SECONDS = 1.0
# A request that takes longer than this many leases was lost: its slot is not renewed any more.
MOST_LEASES = 20
NO_SLOT_LIMIT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Reservation:
    domain: str
    ticket: str
    # Times of the monotonic clock of this process.
    at: float
    send_deadline: float


class RateLimiter:
    """Per-crawl object. Per domain, one request at a time reserves and sleeps; the others queue."""

    def __init__(self, crawler: Crawler, backend: LimiterBackend):
        settings = crawler.settings
        self._backend = backend
        self._stats = crawler.stats
        self._thread = per_crawl(crawler, DatabaseThread)
        self._sleep = per_crawl(crawler, InterruptibleSleep)
        self._margin = settings.getfloat("RATE_LIMIT_MARGIN")
        self._browser_margin = settings.getfloat("RATE_LIMIT_BROWSER_MARGIN")
        self._max_wait = settings.getfloat("RATE_LIMIT_MAX_WAIT")
        self._lease = settings.getfloat("RATE_LIMIT_LEASE_SECONDS")
        self._queues: dict[tuple[str, bool], asyncio.Lock] = {}
        self._released: dict[str, asyncio.Event] = {}
        self._held_until: dict[str, float] = {}
        self._sent: dict[str, Reservation] = {}
        self._releases: set[asyncio.Task[None]] = set()
        self._renewal: asyncio.Task[None] | None = None
        self._tickets = map(f"{secrets.token_hex(6)}-{{}}".format, count(1))

    async def acquire(
        self, domain: str, limit: Limit, *, slot: bool = True, browser: bool = False
    ) -> Reservation:
        """Wait until a request may be sent. Without a slot only the interval counts; nothing is leased."""
        started = monotonic()
        deadline = started + self._max_wait
        spaced = limit.spaced(self._browser_margin if browser else self._margin)
        effective = spaced if slot else replace(spaced, concurrent=NO_SLOT_LIMIT)
        queue = self._queues.setdefault((domain, slot), asyncio.Lock())
        try:
            await self._sleep.wait(queue.acquire(), deadline)
            try:
                reservation = await self._wait_for_moment(
                    domain, effective, self._lease if slot else 0.0, deadline
                )
            finally:
                queue.release()
        except TimeoutError:
            raise RateLimitWaitExceeded(
                f"No request to {domain} was possible within {self._max_wait:.0f} seconds"
            ) from None
        if slot:
            self._sent[reservation.ticket] = reservation
            self._renewal = self._renewal or asyncio.create_task(self._renew())
        self._count(domain, (monotonic() - started) * 1000)
        return reservation

    def release(self, reservation: Reservation) -> None:
        """Free the slot, in the background."""
        self._sent.pop(reservation.ticket, None)
        task = asyncio.create_task(self._release(reservation))
        self._releases.add(task)
        task.add_done_callback(self._releases.discard)

    async def hold(self, domain: str, seconds: float) -> None:
        """Send nothing to a domain for this long, in any process."""
        # The backends would treat a longer hold as a sign that the server clock was set back.
        seconds = min(seconds, self._max_wait)
        self._held_until[domain] = monotonic() + seconds
        await self._run(partial(self._backend.hold, domain, seconds))

    async def close(self) -> None:
        """Release all slots; a slot that cannot be released now becomes free when its lease ends."""
        for reservation in list(self._sent.values()):
            self.release(reservation)
        if self._renewal is not None:
            self._renewal.cancel()
        await asyncio.gather(*self._releases, return_exceptions=True)

    async def _wait_for_moment(self, domain: str, limit: Limit, lease: float, deadline: float) -> Reservation:
        while True:
            reservation = await self._reserve(domain, limit, lease, deadline)
            try:
                if reservation.at > deadline:
                    raise TimeoutError
                await self._sleep.until(reservation.at)
            except BaseException:
                self.release(reservation)
                raise
            if monotonic() > reservation.send_deadline:
                self._stats.inc_value("pricewatch/rate_limit/late")
            elif reservation.at < self._held_until.get(domain, 0.0):
                self._stats.inc_value("pricewatch/rate_limit/held_back")
            else:
                return reservation
            # Otherwise the next reservation could find all slots leased, one of them by this request.
            await self._release(reservation)

    async def _reserve(self, domain: str, limit: Limit, lease: float, deadline: float) -> Reservation:
        """Reserve a moment; while all slots are leased, try again after a local release or a pause."""

        def reserve(ticket: str) -> tuple[float | Refusal, float]:
            wait = self._backend.reserve(domain, ticket, limit, max_wait=self._max_wait, lease=lease)
            return wait, monotonic()

        pause = FULL_SECONDS
        while True:
            ticket = next(self._tickets)
            wait, answered = await self._run(partial(reserve, ticket))
            if not isinstance(wait, Refusal):
                # Counted from the answer: a slow answer makes the request late, never early.
                return Reservation(domain, ticket, answered + wait, answered + wait + limit.tolerance)
            if wait is Refusal.TOO_FAR or answered > deadline:
                raise TimeoutError
            self._stats.inc_value("pricewatch/rate_limit/full")
            released = self._released.setdefault(domain, asyncio.Event())
            released.clear()
            with suppress(TimeoutError):
                await self._sleep.wait(released.wait(), answered + pause)
            pause = min(2 * pause, LONGEST_FULL_SECONDS)

    async def _release(self, reservation: Reservation) -> None:
        try:
            await self._thread.run(partial(self._backend.release, reservation.domain, reservation.ticket))
        except (DatabaseUnavailable, CrawlEnding) as error:
            logger.warning("A slot of %s stays leased until its lease ends: %s", reservation.domain, error)
        if reservation.domain in self._released:
            self._released[reservation.domain].set()

    async def _renew(self) -> None:
        """Renew the leases of requests that take long."""
        try:
            while self._sent:
                await asyncio.sleep(self._lease / 3)
                by_domain: dict[str, list[str]] = {}
                for ticket, reservation in list(self._sent.items()):
                    if reservation.at + MOST_LEASES * self._lease < monotonic():
                        del self._sent[ticket]
                    else:
                        by_domain.setdefault(reservation.domain, []).append(ticket)
                for domain, tickets in by_domain.items():
                    await self._thread.run(partial(self._backend.renew, domain, tickets, lease=self._lease))
        except (DatabaseUnavailable, CrawlEnding) as error:
            logger.warning("Leases were not renewed: %s", error)
        finally:
            self._renewal = None

    async def _run(self, function: Callable[[], T]) -> T:
        try:
            return await self._thread.run(function)
        except DatabaseUnavailable as error:
            raise RateLimitWaitExceeded(str(error)) from error

    def _count(self, domain: str, waited: float) -> None:
        self._stats.inc_value("pricewatch/rate_limit/requests")
        self._stats.inc_value("pricewatch/rate_limit/milliseconds_waited", round(waited))
        self._stats.inc_value(metric_key("scrape_rate_limit_wait_ms", domain, "le", bucket(waited)))
        self._stats.inc_value(metric_key("scrape_rate_limit_wait_ms", domain, "sum"), round(waited))


def rate_limiter(crawler: Crawler) -> RateLimiter:
    """Create the rate limiter of a crawl: with Redis if REDIS_URL is set, else with PostgreSQL."""
    backend: LimiterBackend
    if url := crawler.settings.get("REDIS_URL"):
        from pricewatch.fetching.rate_limit.redis import RedisBackend

        backend = RedisBackend(url)
    else:
        backend = PostgresBackend(per_crawl(crawler, DatabaseThread).connection)
    return RateLimiter(crawler, backend)
