"""Confidence: the rule, and the same rule in SQL."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pricewatch.rules.freshness import badge, confidence, overall, price_confidence, time_until_below
from pricewatch.vocabulary import Tier

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
moments = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=9)).map(lambda ago: NOW - ago)


@pytest.mark.parametrize(("tier", "hours"), [("hot", 20), ("standard", 30), ("cool", 60)])
def test_hours_until_each_confidence_level(tier, hours):
    seen = NOW - timedelta(hours=hours)
    assert confidence(tier, seen, None, NOW) == 40
    assert confidence(tier, seen - timedelta(seconds=1), None, NOW) == 39
    assert time_until_below(40, tier) == timedelta(hours=hours)


def test_verified_is_less_than_seen_and_counts_only_if_newer():
    seen = NOW - timedelta(hours=30)
    assert confidence("hot", seen, NOW, NOW) == 80
    assert confidence("hot", NOW, seen, NOW) == 100


def test_clock_that_jumps_back_gives_at_most_full_confidence():
    assert confidence("hot", NOW + timedelta(hours=5), None, NOW) == 100


def test_badges_depend_on_the_confidence():
    assert badge(80, 3) == "fresh"
    assert badge(79, 3) == "listed 3 days ago"
    assert badge(50, 1) == "listed 1 day ago"
    assert badge(49, 3) == "may no longer be available"
    assert badge(39, 3) is None


@pytest.mark.parametrize(("tier", "hours"), [("hot", 40), ("standard", 60), ("cool", 120)])
def test_price_confidence_decays_half_as_fast(tier, hours):
    read = NOW - timedelta(hours=hours)
    assert price_confidence(tier, read, NOW) == 40
    assert price_confidence(tier, NOW + timedelta(hours=5), NOW) == 100
    assert price_confidence(tier, None, NOW) is None


def test_overall_is_the_lower_confidence():
    assert overall(99, 0) == 0
    assert overall(40, 99) == 40
    assert overall(40, None) == 40


def test_badge_shows_a_stale_price():
    assert badge(99, 3, 50, 2) == "fresh"
    assert badge(99, 3, 49, 2) == "price seen 2 days ago"
    assert badge(79, 3, 0, 1) == "price seen 1 day ago"
    assert badge(79, 3, None) == "listed 3 days ago"
    # That the listing may be gone is more important.
    assert badge(49, 3, 0, 9) == "may no longer be available"
    assert badge(39, 3, 0, 9) is None


@given(st.sampled_from(list(Tier)), moments, st.none() | moments)
def test_confidence_stays_in_range_and_only_decays(tier, seen, verified):
    now_level = confidence(tier, seen, verified, NOW)
    assert 0 <= now_level <= 100
    assert confidence(tier, seen, verified, NOW + timedelta(hours=1)) <= now_level


@given(st.sampled_from(list(Tier)), moments, st.integers(1, 99))
def test_level_corresponds_to_a_time_range(tier, seen, level):
    below = confidence(tier, seen, None, NOW) < level
    assert below == (NOW - seen > time_until_below(level, tier))


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from(list(Tier)), moments, st.none() | moments)
def test_database_computes_the_same_confidence(database, tier, seen, verified):
    computed = database.value(
        "SELECT confidence(:tier, CAST(:seen AS timestamptz), CAST(:verified AS timestamptz),"
        " CAST(:now AS timestamptz))",
        tier=tier,
        seen=seen,
        verified=verified,
        now=NOW,
    )
    assert computed == confidence(tier, seen, verified, NOW)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from(list(Tier)), st.none() | moments)
def test_database_computes_the_same_price_confidence(database, tier, read):
    computed = database.value(
        "SELECT price_confidence(:tier, CAST(:read AS timestamptz), CAST(:now AS timestamptz))",
        tier=tier,
        read=read,
        now=NOW,
    )
    assert computed == price_confidence(tier, read, NOW)
