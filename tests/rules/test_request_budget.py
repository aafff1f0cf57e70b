"""The arithmetic of the rate limiter."""

from __future__ import annotations

import pytest

from pricewatch.rules.request_budget import Limit, SourceLimit, limit_of, room_for


@pytest.mark.parametrize(
    ("sources", "crawl_delay", "limit"),
    [
        ([], None, Limit(2.0, 1)),
        ([SourceLimit()], None, Limit(2.0, 1)),
        ([], 1.0, Limit(2.0, 1)),
        ([], 10.0, Limit(10.0, 1)),
        # A source that names a rate or a delay replaces both defaults.
        ([SourceLimit(requests_per_second=20)], None, Limit(0.05, 1)),
        ([SourceLimit(min_delay=0.5)], None, Limit(0.5, 1)),
        ([SourceLimit(20, 0.5, 4)], None, Limit(0.5, 4)),
        # An explicit Crawl-delay always applies.
        ([SourceLimit(1000, 0, 16)], 1.0, Limit(1.0, 16)),
        # Two sources on one domain: the stricter value of each kind.
        ([SourceLimit(20, None, 8), SourceLimit(5, None, 2), SourceLimit()], None, Limit(0.2, 2)),
    ],
)
def test_strictest_limit_of_a_domain_applies(
    sources: list[SourceLimit], crawl_delay: float | None, limit: Limit
) -> None:
    assert limit_of(sources, crawl_delay) == limit


def test_very_high_rates_are_not_limited() -> None:
    assert limit_of([SourceLimit(1000, 0, 16)]).is_lifted()
    assert not limit_of([SourceLimit(999, 0, 16)]).is_lifted()
    assert not limit_of([SourceLimit(1000, 0.01, 16)]).is_lifted()
    assert not limit_of([SourceLimit(1000, 0, 16)], crawl_delay=1.0).is_lifted()


@pytest.mark.parametrize(
    ("limit", "room"), [(Limit(60, 1), 2), (Limit(2, 1), 2), (Limit(0.05, 8), 9), (Limit(0.001, 99), 16)]
)
def test_few_requests_of_a_limited_domain_are_taken_from_the_scheduler(limit: Limit, room: int) -> None:
    assert room_for(limit, most=16) == room


def test_requests_are_planned_further_apart_and_may_be_a_tenth_of_the_interval_late() -> None:
    assert Limit(2.0, 3).spaced(0.05) == Limit(2.1, 3)
    assert Limit(2.0, 3).tolerance == pytest.approx(0.2)
    assert Limit(0.05, 3).tolerance == pytest.approx(0.02)
