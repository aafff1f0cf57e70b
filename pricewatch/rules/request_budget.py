"""How often a domain may be asked: the numbers behind a turn, whoever keeps the book."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

REQUESTS_PER_SECOND = 0.5
MIN_DELAY = 2.0
MAX_CONCURRENT = 1
UNLIMITED = 1000.0


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
        """Whether there is nothing to wait for: a budget this large is no budget."""
        return self.interval <= 1 / unlimited


@dataclass(frozen=True, slots=True)
class Grant:
    """A turn: how long after `told`, by the book's clock, it comes. Where it is not sure, a slot must be
    confirmed then."""

    ticket: str
    wait: float
    sure: bool
    told: float


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


def batch_size(waiting: int, interval: float, lookahead: float) -> int:
    """How many turns to ask for at once: what fits into the lookahead, so that a crash loses little."""
    return max(1, min(waiting, int(lookahead / interval) if interval else waiting))


def room_for(limit: Limit, lookahead: float, most: int) -> int:
    """How many requests of a domain to have at hand: enough to use its budget, no more."""
    ahead = lookahead / limit.interval if limit.interval else most
    return max(2, min(most, int(ahead) + limit.concurrent + 1))
