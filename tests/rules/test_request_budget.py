"""How often a domain may be asked."""

from __future__ import annotations

import pytest

from pricewatch.rules.request_budget import Limit, SourceLimit, batch_size, limit_of, room_for


@pytest.mark.parametrize(
    ("wishes", "crawl_delay", "limit"),
    [
        ([], None, Limit(2.0, 1)),
        ([SourceLimit()], None, Limit(2.0, 1)),
        ([], 1.0, Limit(2.0, 1)),
        ([], 10.0, Limit(10.0, 1)),
        # A source that names a rate or a delay lifts both defaults.
        ([SourceLimit(requests_per_second=20)], None, Limit(0.05, 1)),
        ([SourceLimit(min_delay=0.5)], None, Limit(0.5, 1)),
        ([SourceLimit(20, 0.5, 4)], None, Limit(0.5, 4)),
        # An explicit Crawl-delay is never lifted.
        ([SourceLimit(1000, 0, 16)], 1.0, Limit(1.0, 16)),
        # Two sources on one domain: the stricter wish of each kind.
        ([SourceLimit(20, None, 8), SourceLimit(5, None, 2), SourceLimit()], None, Limit(0.2, 2)),
    ],
)
def test_the_limit_of_a_domain(wishes: list[SourceLimit], crawl_delay: float | None, limit: Limit) -> None:
    assert limit_of(wishes, crawl_delay) == limit


def test_a_budget_this_large_is_no_budget() -> None:
    assert limit_of([SourceLimit(1000, 0, 16)]).is_lifted()
    assert not limit_of([SourceLimit(999, 0, 16)]).is_lifted()
    assert not limit_of([SourceLimit(1000, 0.01, 16)]).is_lifted()
    assert not limit_of([SourceLimit(1000, 0, 16)], crawl_delay=1.0).is_lifted()


@pytest.mark.parametrize(
    ("waiting", "interval", "size"), [(5, 2.0, 1), (5, 0.05, 2), (1, 0.05, 1), (500, 0.001, 120), (0, 1.0, 1)]
)
def test_a_batch_is_what_fits_into_the_lookahead(waiting: int, interval: float, size: int) -> None:
    assert batch_size(waiting, interval, lookahead=0.12) == size


@pytest.mark.parametrize(
    ("limit", "room"), [(Limit(60, 1), 2), (Limit(2, 1), 2), (Limit(0.05, 8), 11), (Limit(0.001, 99), 16)]
)
def test_a_slow_domain_has_few_requests_at_hand(limit: Limit, room: int) -> None:
    assert room_for(limit, lookahead=0.12, most=16) == room
