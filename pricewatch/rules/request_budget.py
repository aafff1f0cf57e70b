"""How often requests may be sent to a domain: the arithmetic of the rate limiter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

REQUESTS_PER_SECOND = 0.5
MIN_DELAY = 2.0
MAX_CONCURRENT = 1
UNLIMITED = 1000.0
LATE_SHARE = 0.1
# An event loop is often some milliseconds late, which does not matter at many requests per second.
MIN_TOLERANCE = 0.02


@dataclass(frozen=True, slots=True)
class SourceLimit:
    """The limits that one source sets for its domain; None means the default."""

    requests_per_second: float | None = None
    min_delay: float | None = None
    max_concurrent: int | None = None


@dataclass(frozen=True, slots=True)
class Limit:
    """The seconds between two requests, and the number of concurrent requests."""

    interval: float
    concurrent: int

    def is_unlimited(self, unlimited: float = UNLIMITED) -> bool:
        """Return whether the rate is so high that it does not count as a limit."""
        return self.interval <= 1 / unlimited

    def spaced(self, margin: float) -> Limit:
        """Return the limit with this share added to its interval."""
        return replace(self, interval=self.interval * (1 + margin))

    @property
    def tolerance(self) -> float:
        """How late a request may be sent, in seconds."""
        return max(LATE_SHARE * self.interval, MIN_TOLERANCE)


def effective_limit(
    source_limits: Iterable[SourceLimit] = (),
    crawl_delay: float | None = None,
    *,
    requests_per_second: float = REQUESTS_PER_SECOND,
    min_delay: float = MIN_DELAY,
    max_concurrent: int = MAX_CONCURRENT,
) -> Limit:
    """Return the limit of a domain: the strictest of its sources, else the default, and the Crawl-delay.

    A rate or a delay of a source replaces both defaults; a Crawl-delay always applies.
    """
    source_limits = tuple(source_limits)
    intervals = [1 / each.requests_per_second for each in source_limits if each.requests_per_second]
    intervals += [each.min_delay for each in source_limits if each.min_delay is not None]
    interval = max(intervals) if intervals else max(1 / requests_per_second, min_delay)
    concurrent = [each.max_concurrent for each in source_limits if each.max_concurrent]
    return Limit(max(interval, crawl_delay or 0.0), min(concurrent) if concurrent else max_concurrent)


def capacity_for(limit: Limit, maximum: int) -> int:
    """Return how many requests of a domain to take from the scheduler: the concurrent ones, and one more."""
    return max(2, min(maximum, limit.concurrent + 1))
