"""The habit plan: every seed plans every habit."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pricewatch.bazaar.habits.registry import HABITS
from pricewatch.simulation.habit_plan import (
    ALL,
    BEYOND,
    CARD_PRICES,
    DOUBLES,
    HALVES,
    MAINTENANCE,
    NOT_SIMULATED,
    plan,
)
from tests.chaos.fault_injection import FAST_HABITS

SEEDS = range(200)


def test_plan_knows_all_habits_of_the_marketplace() -> None:
    names = (*ALL, *NOT_SIMULATED)
    assert set(names) == set(HABITS)
    assert len(names) == len(set(names))
    assert set(FAST_HABITS) <= set(ALL)


@pytest.mark.parametrize("days", [7, 30])
def test_every_seed_plans_each_habit(days: int) -> None:
    for seed in SEEDS:
        planned = plan(seed, days)
        assert {each.habit for each in planned} == set(ALL)
        assert all(0 <= each.begins < 24 * days for each in planned)
        assert [each.begins for each in planned] == sorted(each.begins for each in planned)


def test_plan_depends_on_the_seed_only() -> None:
    assert plan(1, 30) == plan(1, 30)
    assert plan(1, 30) != plan(2, 30)


def test_habits_beyond_the_last_page_share_the_month_equally() -> None:
    for seed in SEEDS:
        beyond = [each for each in plan(seed, 30) if each.habit in BEYOND]
        assert len(beyond) == len(BEYOND)
        assert all(each.hours == pytest.approx(30 * 24 / len(BEYOND)) for each in beyond)


def test_card_price_habits_do_not_overlap() -> None:
    for seed in SEEDS:
        card_prices = [each for each in plan(seed, 30) if each.habit in CARD_PRICES]
        for habit, following in pairwise(card_prices):
            assert habit.begins + (habit.hours or 0) < following.begins


def test_catalogue_halves_days_after_it_doubled() -> None:
    for seed in SEEDS:
        by_name = {each.habit: each for each in plan(seed, 30)}
        assert 3 * 24 < by_name[HALVES].begins - by_name[DOUBLES].begins < 7 * 24


def test_maintenance_covers_the_hour_in_which_all_spiders_start() -> None:
    for seed in SEEDS:
        hours = [each for each in plan(seed, 30) if each.habit == MAINTENANCE]
        assert [(each.hours, each.begins % 6) for each in hours] == [(1, 0), (1, 0)]


def test_only_requested_habits_are_planned() -> None:
    assert plan(1, 30, ()) == []
    assert [each.habit for each in plan(1, 30, ("slug_renamed",))] == ["slug_renamed"]
    both = plan(1, 30, ("slug_renamed", "backorder"))
    assert set(both) <= set(plan(1, 30))
