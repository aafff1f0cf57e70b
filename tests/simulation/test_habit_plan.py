"""Every month meets every habit, whatever its seed."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pricewatch.bazaar.habits.registry import HABITS
from pricewatch.simulation.habit_plan import ALL, BEYOND, CARD_PRICES, DOUBLES, HALVES, MAINTENANCE, plan
from tests.chaos.faults import GENTLE

SEEDS = range(200)


def test_all_are_the_marketplaces() -> None:
    assert set(ALL) == set(HABITS)
    assert len(ALL) == len(set(ALL))
    assert set(GENTLE) <= set(ALL)


@pytest.mark.parametrize("days", [7, 30])
def test_each_happens_at_least_once_for_every_seed(days: int) -> None:
    for seed in SEEDS:
        planned = plan(seed, days)
        assert {each.habit for each in planned} == set(ALL)
        assert all(0 <= each.begins < 24 * days for each in planned)
        assert [each.begins for each in planned] == sorted(each.begins for each in planned)


def test_the_seed_decides_when() -> None:
    assert plan(1, 30) == plan(1, 30)
    assert plan(1, 30) != plan(2, 30)


def test_lists_always_end_in_one_way_or_another() -> None:
    for seed in SEEDS:
        ends = [each for each in plan(seed, 30) if each.habit in BEYOND]
        assert len(ends) == len(BEYOND)
        assert all(each.hours == pytest.approx(30 * 24 / len(BEYOND)) for each in ends)


def test_ways_of_showing_prices_do_not_hide_each_other() -> None:
    for seed in SEEDS:
        shown = [each for each in plan(seed, 30) if each.habit in CARD_PRICES]
        for one, next_one in pairwise(shown):
            assert one.begins + (one.hours or 0) < next_one.begins


def test_what_doubled_halves_days_later() -> None:
    for seed in SEEDS:
        by_name = {each.habit: each for each in plan(seed, 30)}
        assert 3 * 24 < by_name[HALVES].begins - by_name[DOUBLES].begins < 7 * 24


def test_maintenance_lasts_for_the_hour_in_which_all_spiders_start() -> None:
    for seed in SEEDS:
        hours = [each for each in plan(seed, 30) if each.habit == MAINTENANCE]
        assert [(each.hours, each.begins % 6) for each in hours] == [(1, 0), (1, 0)]


def test_only_what_is_wanted_comes() -> None:
    assert plan(1, 30, ()) == []
    assert [each.habit for each in plan(1, 30, ("slug_renamed",))] == ["slug_renamed"]
    both = plan(1, 30, ("slug_renamed", "backorder"))
    assert set(both) <= set(plan(1, 30))
