"""Turns for requests: asked for in batches, waited for on the event loop, given back with the answer."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import TypeVar

from scrapy.crawler import Crawler

from pricewatch.errors import DatabaseUnavailable
from pricewatch.fetching.database_thread import DatabaseThread
from pricewatch.fetching.failures import CrawlEnding, NoTurn
from pricewatch.fetching.interruptible_sleep import InterruptibleSleep
from pricewatch.fetching.per_crawl import per_crawl
from pricewatch.middlewares.book_clock import BookClock
from pricewatch.middlewares.turn_book import TurnBook
from pricewatch.rules.metric_names import bucket, key
from pricewatch.rules.request_budget import Grant, Limit, batch_size

logger = logging.getLogger(__name__)
T = TypeVar("T")
# A request that takes longer than this many leases is not under way any more, whatever became of it.
MOST_LEASES = 20
# Of the margin, what may be lost until a request leaves this class, and until it is on the wire.
LATE_SHARE = 0.55
SENT_SHARE = 0.65
# A turn that is not sure is confirmed this long before it comes, so that the answer does not make it late.
CONFIRM_SECONDS = 0.01
# How long to wait where all slots are taken, doubled each time.
FULL_SECONDS = 0.05
LONGEST_FULL_SECONDS = 2.0
# How far ahead turns are asked for at most, where answers take long.
LONGEST_AHEAD = 0.25


@dataclass(slots=True)
class Turn:
    domain: str
    ticket: str
    limit: Limit
    # When it comes, by our clock.
    at: float
    sure: bool
    send_before: float = 0.0
    renew_at: float = 0.0


@dataclass(slots=True)
class Line:
    """Those of this process who wait for a turn at one domain, all with the same limit."""

    limit: Limit
    waiting: deque[asyncio.Future[Turn]] = field(default_factory=deque)
    asking: asyncio.Task[None] | None = None


class Turns:
    def __init__(self, crawler: Crawler, book: TurnBook):
        settings = crawler.settings
        self._book = book
        self._thread = per_crawl(crawler, DatabaseThread)
        self._patience = per_crawl(crawler, InterruptibleSleep)
        self._stats = crawler.stats
        self._margin = settings.getfloat("RATE_LIMIT_MARGIN")
        self._browser_margin = settings.getfloat("RATE_LIMIT_BROWSER_MARGIN")
        self._lookahead = settings.getfloat("RATE_LIMIT_LOOKAHEAD_SECONDS")
        self._lease = settings.getfloat("RATE_LIMIT_LEASE_SECONDS")
        self._longest_wait = settings.getfloat("RATE_LIMIT_MAX_WAIT")
        self._lines: dict[tuple[str, Limit], Line] = {}
        self._freed: dict[str, asyncio.Event] = {}
        self._held_until: dict[str, float] = {}
        self._under_way: dict[str, Turn] = {}
        self._done: dict[str, list[str]] = {}
        self._news = asyncio.Event()
        self._tidying: asyncio.Task[None] | None = None
        self._clock = BookClock()
        # How long it took, the last time, until turns that were asked for could be used.
        self._slowness = 0.0
        self._name = secrets.token_hex(6)
        self._numbers = count(1)

    async def take(self, domain: str, limit: Limit, *, slot: bool = True, browser: bool = False) -> Turn:
        """Wait for a turn. Without a slot only the interval counts: the request is part of another one."""
        started = monotonic()
        margin = self._browser_margin if browser else self._margin
        spaced = Limit(limit.interval * (1 + margin), limit.concurrent)
        # A turn missed by more than this is given back: the rest of the margin is for the way to the site.
        tolerance = LATE_SHARE * self._margin * max(1.0, limit.interval)
        latest = SENT_SHARE * self._margin * max(1.0, limit.interval)
        first, full = False, 0
        while True:
            turn = await self._next(domain, spaced, started + self._longest_wait, first=first)
            stands = await self._come(turn, slot=slot)
            trouble = None if stands else "full"
            if monotonic() - turn.at > tolerance:
                trouble = "late"
            elif turn.at < self._held_until.get(domain, 0.0):
                trouble = "put_off"
            if trouble is None:
                break
            self._stats.inc_value(f"pricewatch/limits/{trouble}")
            if stands:
                self.give_back(turn)
            else:
                # Turns are not used up in vain while all slots are taken.
                full += 1
                await self._slot_given_back(domain, min(FULL_SECONDS * 2**full, LONGEST_FULL_SECONDS))
            first = stands
        turn.send_before = turn.at + latest
        turn.renew_at = monotonic() + self._lease / 3
        self._stats.inc_value("pricewatch/limits/turns")
        waited = (monotonic() - started) * 1000
        self._stats.inc_value("pricewatch/limits/milliseconds_waited", round(waited))
        self._stats.inc_value(key("scrape_rate_limit_wait_ms", domain, "le", bucket(waited)))
        self._stats.inc_value(key("scrape_rate_limit_wait_ms", domain, "sum"), round(waited))
        if slot:
            self._under_way[turn.ticket] = turn
            self._tidy()
        else:
            self.give_back(turn)
        return turn

    async def _slot_given_back(self, domain: str, seconds: float) -> None:
        """Wait until this process gives a slot back, or so long: others may have given one back by then."""
        freed = self._freed.setdefault(domain, asyncio.Event())
        freed.clear()
        waiting = asyncio.ensure_future(freed.wait())
        with suppress(TimeoutError):
            await self._patience.wait(waiting, monotonic() + seconds)
        waiting.cancel()

    def give_back(self, turn: Turn) -> None:
        if turn.domain in self._freed:
            self._freed[turn.domain].set()
        self._under_way.pop(turn.ticket, None)
        self._done.setdefault(turn.domain, []).append(turn.ticket)
        self._tidy()

    async def hold(self, domain: str, seconds: float) -> None:
        """The site wants a pause. Turns that other processes have been given stand; ours are put off."""
        seconds = min(seconds, self._longest_wait)
        self._held_until[domain] = monotonic() + seconds
        await self._run(lambda: self._book.hold(domain, seconds))

    async def close(self) -> None:
        """Give back what is left; what cannot be given back now is free when its lease ends."""
        for turn in list(self._under_way.values()):
            self.give_back(turn)
        tasks = [line.asking for line in self._lines.values() if line.asking]
        for task in tasks:
            task.cancel()
        if self._tidying:
            tasks.append(self._tidying)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _next(self, domain: str, limit: Limit, deadline: float, *, first: bool) -> Turn:
        line = self._lines.setdefault((domain, limit), Line(limit))
        place: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        if first:
            line.waiting.appendleft(place)
        else:
            line.waiting.append(place)
        if line.asking is None:
            line.asking = asyncio.create_task(self._ask(domain, line))
        taken = False
        try:
            turn = await self._patience.wait(place, deadline)
            taken = True
        except TimeoutError:
            raise NoTurn(f"no turn at {domain} within {self._longest_wait:.0f} seconds") from None
        finally:
            # A turn that came when nobody wanted it any more.
            if not place.cancel() and not taken and not place.exception():
                self.give_back(place.result())
        return turn

    async def _come(self, turn: Turn, *, slot: bool) -> bool:
        """Wait until a turn comes; whether it stands."""
        try:
            if slot and not turn.sure:
                await self._patience.until(turn.at - CONFIRM_SECONDS)
                if not await self._run(self._confirming(turn)):
                    return False
            await self._patience.until(turn.at)
        except BaseException:
            self.give_back(turn)
            raise
        return True

    async def _ask(self, domain: str, line: Line) -> None:
        """Ask for turns as long as somebody waits; the next batch when the last one has been used."""
        try:
            while line.waiting:
                limit = line.limit
                wanted = batch_size(len(line.waiting), limit.interval, self._lookahead)
                tickets = [f"{self._name}-{next(self._numbers)}" for _ in range(wanted)]
                asked, grants, answered = await self._run(self._reserving(domain, tickets, limit))
                self._slowness = min(monotonic() - asked, LONGEST_AHEAD)
                if not grants:
                    raise NoTurn(
                        f"the next turn at {domain} is more than {self._longest_wait:.0f} seconds away"
                    )
                self._clock.learn(asked, grants[0].told, answered)
                for grant in grants:
                    at = self._clock.ours(grant.told + grant.wait)
                    self._hand_over(line, Turn(domain, grant.ticket, limit, at, grant.sure))
                await self._patience.until(at)
        except Exception as error:  # noqa: BLE001 - told to everybody who waits
            while line.waiting:
                place = line.waiting.popleft()
                if not place.done():
                    place.set_exception(error)
        finally:
            line.asking = None

    def _hand_over(self, line: Line, turn: Turn) -> None:
        while line.waiting:
            place = line.waiting.popleft()
            if not place.done():
                place.set_result(turn)
                return
        self.give_back(turn)

    def _reserving(
        self, domain: str, tickets: list[str], limit: Limit
    ) -> Callable[[], tuple[float, list[Grant], float]]:
        horizon, lease, ahead = self._longest_wait, self._lease, self._slowness

        def reserve() -> tuple[float, list[Grant], float]:
            asked = monotonic()
            grants = self._book.reserve(domain, tickets, limit, horizon=horizon, lease=lease, ahead=ahead)
            return asked, grants, monotonic()

        return reserve

    def _confirming(self, turn: Turn) -> Callable[[], bool]:
        return lambda: self._book.confirm(turn.domain, turn.ticket, turn.limit, lease=self._lease)

    async def _run(self, function: Callable[[], T]) -> T:
        try:
            return await self._thread.run(function)
        except DatabaseUnavailable as error:
            raise NoTurn(str(error)) from error

    def _tidy(self) -> None:
        self._news.set()
        if self._tidying is None:
            self._tidying = asyncio.create_task(self._give_back_and_renew())

    async def _give_back_and_renew(self) -> None:
        """Tell the book what is done at once, and what takes long often enough to keep its slot."""
        try:
            while self._done or self._under_way:
                while self._done:
                    domain, tickets = self._done.popitem()
                    await self._thread.run(_releasing(self._book, domain, tickets))
                overdue: dict[str, list[str]] = {}
                for turn in list(self._under_way.values()):
                    if turn.at + MOST_LEASES * self._lease < monotonic():
                        del self._under_way[turn.ticket]
                    elif turn.renew_at <= monotonic():
                        overdue.setdefault(turn.domain, []).append(turn.ticket)
                        turn.renew_at = monotonic() + self._lease / 3
                for domain, tickets in overdue.items():
                    await self._thread.run(_renewing(self._book, domain, tickets, self._lease))
                self._news.clear()
                if self._under_way and not self._done:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._news.wait(), self._lease / 6)
        except (DatabaseUnavailable, CrawlEnding) as error:
            logger.warning("Turns could not be given back and end by themselves: %s", error)
        finally:
            self._tidying = None


def _releasing(book: TurnBook, domain: str, tickets: list[str]) -> Callable[[], None]:
    return lambda: book.release(domain, tickets)


def _renewing(book: TurnBook, domain: str, tickets: list[str], lease: float) -> Callable[[], None]:
    return lambda: book.renew(domain, tickets, lease=lease)
