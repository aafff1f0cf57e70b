"""Confidence: the rule, and the same rule in SQL."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pricewatch.items import Tier
from pricewatch.rules.freshness import badge, confidence, falls_below

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
moments = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=9)).map(lambda ago: NOW - ago)


@pytest.mark.parametrize(("tier", "hours"), [("hot", 20), ("standard", 30), ("cool", 60)])
def test_the_hours_of_the_document(tier, hours):
    seen = NOW - timedelta(hours=hours)
    assert confidence(tier, seen, None, NOW) == 40
    assert confidence(tier, seen - timedelta(seconds=1), None, NOW) == 39
    assert falls_below(40, tier) == timedelta(hours=hours)


def test_verified_counts_for_less_than_seen_and_only_while_it_is_newer():
    seen = NOW - timedelta(hours=30)
    assert confidence("hot", seen, NOW, NOW) == 80
    assert confidence("hot", NOW, seen, NOW) == 100


def test_a_clock_that_jumps_back_gives_no_more_than_full_trust():
    assert confidence("hot", NOW + timedelta(hours=5), None, NOW) == 100


def test_badges():
    assert badge(80, 3) == "fresh"
    assert badge(79, 3) == "listed 3 days ago"
    assert badge(50, 1) == "listed 1 day ago"
    assert badge(49, 3) == "may no longer be available"
    assert badge(39, 3) is None


@given(st.sampled_from(list(Tier)), moments, st.none() | moments)
def test_it_stays_in_its_range_and_only_fades(tier, seen, verified):
    now_level = confidence(tier, seen, verified, NOW)
    assert 0 <= now_level <= 100
    assert confidence(tier, seen, verified, NOW + timedelta(hours=1)) <= now_level


@given(st.sampled_from(list(Tier)), moments, st.integers(1, 99))
def test_a_level_is_a_range_of_times(tier, seen, level):
    below = confidence(tier, seen, None, NOW) < level
    assert below == (NOW - seen > falls_below(level, tier))


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from(list(Tier)), moments, st.none() | moments)
def test_the_database_computes_the_same(database, tier, seen, verified):
    computed = database.value(
        "SELECT confidence(:tier, CAST(:seen AS timestamptz), CAST(:verified AS timestamptz),"
        " CAST(:now AS timestamptz))",
        tier=tier,
        seen=seen,
        verified=verified,
        now=NOW,
    )
    assert computed == confidence(tier, seen, verified, NOW)
