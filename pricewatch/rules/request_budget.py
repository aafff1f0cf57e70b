"""How often requests may be sent to a domain: the arithmetic of the rate limiter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

REQUESTS_PER_SECOND = 0.5
MIN_DELAY = 2.0
MAX_CONCURRENT = 1
UNLIMITED = 1000.0
LATE_SHARE = 0.1
# An event loop is often late by milliseconds, which does not matter at high rates.
LEAST_TOLERANCE = 0.02


@dataclass(frozen=True, slots=True)
class SourceLimit:
    """The limits that one source sets for its domain; None means the default."""

    requests_per_second: float | None = None
    min_delay: float | None = None
    max_concurrent: int | None = None


@dataclass(frozen=True, slots=True)
class Limit:
    """Seconds between requests, and how many may be sent at the same time."""

    interval: float
    concurrent: int

    def is_lifted(self, unlimited: float = UNLIMITED) -> bool:
        """Return whether the rate is so high that requests are not limited."""
        return self.interval <= 1 / unlimited

    def spaced(self, margin: float) -> Limit:
        """Return the limit with this share added to its interval."""
        return replace(self, interval=self.interval * (1 + margin))

    @property
    def tolerance(self) -> float:
        """Return how many seconds late a request may be sent."""
        return max(LATE_SHARE * self.interval, LEAST_TOLERANCE)


def limit_of(
    sources: Iterable[SourceLimit] = (),
    crawl_delay: float | None = None,
    *,
    requests_per_second: float = REQUESTS_PER_SECOND,
    min_delay: float = MIN_DELAY,
    max_concurrent: int = MAX_CONCURRENT,
) -> Limit:
    """Return the limit of a domain: the strictest of its sources and the Crawl-delay.

    If no source sets a rate or a delay, the defaults apply. The Crawl-delay always applies.
    """
    sources = tuple(sources)
    intervals = [1 / source.requests_per_second for source in sources if source.requests_per_second]
    intervals += [source.min_delay for source in sources if source.min_delay is not None]
    interval = max(intervals) if intervals else max(1 / requests_per_second, min_delay)
    concurrent = [source.max_concurrent for source in sources if source.max_concurrent]
    return Limit(max(interval, crawl_delay or 0.0), min(concurrent) if concurrent else max_concurrent)


def room_for(limit: Limit, most: int) -> int:
    """Return how many requests of a domain to take from the scheduler: those that may be sent, plus one."""
    return max(2, min(most, limit.concurrent + 1))
