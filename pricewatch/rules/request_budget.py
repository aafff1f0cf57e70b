"""How often requests may be sent to a domain: the arithmetic of the rate limiter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

REQUESTS_PER_SECOND = 0.5
MIN_DELAY = 2.0
MAX_CONCURRENT = 1
UNLIMITED = 1000.0
LATE_SHARE = 0.1
# An event loop is often late by milliseconds; with many requests per second that changes no second's count.
LEAST_TOLERANCE = 0.02


@dataclass(frozen=True, slots=True)
class SourceLimit:
    """What one source says about its domain; None where it leaves it to the default."""

    requests_per_second: float | None = None
    min_delay: float | None = None
    max_concurrent: int | None = None


@dataclass(frozen=True, slots=True)
class Limit:
    """Seconds from one request to the next, and how many may be under way at once."""

    interval: float
    concurrent: int

    def is_lifted(self, unlimited: float = UNLIMITED) -> bool:
        """Whether the rate is so high that it does not count as a limit."""
        return self.interval <= 1 / unlimited

    def spaced(self, margin: float) -> Limit:
        """The same limit with this share added to its interval."""
        return replace(self, interval=self.interval * (1 + margin))

    @property
    def tolerance(self) -> float:
        """How late a request may be sent, in seconds."""
        return max(LATE_SHARE * self.interval, LEAST_TOLERANCE)


def limit_of(
    wishes: Iterable[SourceLimit] = (),
    crawl_delay: float | None = None,
    *,
    requests_per_second: float = REQUESTS_PER_SECOND,
    min_delay: float = MIN_DELAY,
    max_concurrent: int = MAX_CONCURRENT,
) -> Limit:
    """The limit of a domain: the strictest wish of its sources, else the default; Crawl-delay joins in.

    A source that names a rate or a delay lifts both defaults; an explicit Crawl-delay is never lifted.
    """
    wishes = tuple(wishes)
    intervals = [1 / wish.requests_per_second for wish in wishes if wish.requests_per_second]
    intervals += [wish.min_delay for wish in wishes if wish.min_delay is not None]
    interval = max(intervals) if intervals else max(1 / requests_per_second, min_delay)
    concurrent = [wish.max_concurrent for wish in wishes if wish.max_concurrent]
    return Limit(max(interval, crawl_delay or 0.0), min(concurrent) if concurrent else max_concurrent)


def room_for(limit: Limit, most: int) -> int:
    """How many requests of a domain to take from the scheduler: those that may be sent, and the next one."""
    return max(2, min(most, limit.concurrent + 1))
