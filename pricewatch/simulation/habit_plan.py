"""When a simulated shop has which habit: every seed plans all of these, spread over the month."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass

BEYOND = (
    "beyond_404",
    "beyond_410",
    "beyond_empty",
    "beyond_first",
    "beyond_last",
    "beyond_to_first",
    "beyond_to_category",
)
# Other displays of prices on cards, with their hours; only one at a time. The tax switch is permanent.
CARD_PRICES = {
    "cards_without_price": 26,
    "cards_from_price": 26,
    "cards_net_and_gross": 48,
    "logged_out_price": 36,
}
TAX_SWITCH = "tax_switch"
# Habits that begin at any time, with their hours; the others happen at one instant, or are permanent.
TEMPORARY = {
    "cards_without_stock": 60,
    "backorder": 200,
    "preorder": 200,
    "unknown_stock": 200,
    "prices_in_yen": 72,
    "prices_in_dinar": 72,
    "oldest_first": 48,
    "resorted": 48,
    "two_categories": 150,
    "ab_layout": 96,
}
PERMANENT = ("ambiguous_pages",)
# Other product pages, with their hours.
PAGES = {"no_structured_data": 48, "stale_structured_data": 48, "amounts_beside": 72, "advert": 72}
# The adapter of the marketplace knows its class names, and the simulation has no browser.
NOT_SIMULATED = ("hashed_names", "price_by_script")
DELETED = (
    "deleted_404",
    "deleted_410",
    "deleted_soft",
    "deleted_to_similar",
    "deleted_to_category",
    "deleted_unlisted",
)
RENAMED = "slug_renamed"
DOUBLES, HALVES = "catalogue_doubles", "catalogue_halves"
MAINTENANCE = "maintenance"
ALL = (
    *BEYOND,
    *DELETED,
    RENAMED,
    DOUBLES,
    HALVES,
    "resorted",
    "oldest_first",
    *CARD_PRICES,
    TAX_SWITCH,
    *(name for name in TEMPORARY if name not in ("resorted", "oldest_first")),
    *PERMANENT,
    *PAGES,
    MAINTENANCE,
)
# Habits that change listings: those of the swept market, and some targets.
CHANGE_LISTINGS = (*DELETED, RENAMED, DOUBLES, HALVES)
# Habits that reorder the lists: a running sweep may miss listings that move to pages it has read.
REORDER_LISTS = ("resorted", "oldest_first", DOUBLES, HALVES)
# During these habits no sweep can be complete: the pages, or most prices on them, are missing.
PREVENT_SWEEPS = (MAINTENANCE, "cards_without_price", "cards_from_price")
MONTH_DAYS = 30
# All spiders start in the first hour of every sixth hour, so a maintenance at that time affects all of them.
ALIGNED_HOURS = 6


@dataclass(frozen=True, slots=True)
class PlannedHabit:
    """A habit, the hour at which it begins, and its duration in hours; None if it is permanent."""

    habit: str
    begins: float
    hours: float | None = None


def plan(seed: int, days: float, habits: Collection[str] = ALL) -> list[PlannedHabit]:
    """Plan these habits, sorted by their begin. If less than a month is simulated, they are shorter."""
    rng = random.Random(f"{seed}/habits")
    planned = [each for each in _plan_all(rng, 24 * days) if each.habit in habits]
    return sorted(planned, key=lambda each: (each.begins, each.habit))


def _plan_all(rng: random.Random, hours: float) -> Iterator[PlannedHabit]:
    scale = min(1.0, hours / (24 * MONTH_DAYS))

    def between(first: float, last: float) -> float:
        return hours * rng.uniform(first, last)

    order = rng.sample(BEYOND, len(BEYOND))
    for index, name in enumerate(order):
        yield PlannedHabit(name, hours * index / len(order), hours / len(order))
    for name, slot in zip(rng.sample(list(CARD_PRICES), len(CARD_PRICES)), (0, 1, 3, 4), strict=True):
        begins = hours * (0.05 + 0.18 * slot)
        yield PlannedHabit(name, begins + between(0, 0.08), CARD_PRICES[name] * scale)
    yield PlannedHabit(TAX_SWITCH, between(0.45, 0.55))
    for name, duration in TEMPORARY.items():
        yield PlannedHabit(name, between(0.02, 0.65), duration * scale)
    for name in PERMANENT:
        yield PlannedHabit(name, between(0.02, 0.2))
    for name in (*DELETED, RENAMED):
        yield PlannedHabit(name, between(0.1, 0.8))
    doubles = between(0.2, 0.35)
    yield PlannedHabit(DOUBLES, doubles)
    yield PlannedHabit(HALVES, doubles + between(0.12, 0.2))
    for half in (0.1, 0.6):
        begins = between(half, half + 0.3)
        yield PlannedHabit(MAINTENANCE, begins - begins % ALIGNED_HOURS, 1)
    for name, duration in PAGES.items():
        yield PlannedHabit(name, between(0.02, 0.65), duration * scale)
