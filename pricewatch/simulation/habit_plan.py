"""When a simulated month meets which habit of shops: all of them, for every seed, spread over the month."""

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
# In place of the usual price on cards: one at a time, for so many hours. The switch of taxes stays.
CARD_PRICES = {
    "cards_without_price": 26,
    "cards_from_price": 26,
    "cards_net_and_gross": 48,
    "logged_out_price": 36,
}
TAX_SWITCH = "tax_switch"
# Somewhere in the month, for so many hours; the others happen at one instant, or stay.
FOR_A_WHILE = {
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
FOR_GOOD = ("ambiguous_pages",)
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
    *(name for name in FOR_A_WHILE if name not in ("resorted", "oldest_first")),
    *FOR_GOOD,
    MAINTENANCE,
)
# What happens to listings themselves: in the market that is swept, and to some that are only watched.
HAPPENINGS = (*DELETED, RENAMED, DOUBLES, HALVES)
# After these, things stand elsewhere on the lists: a sweep that is under way may miss what moved past it.
REARRANGING = ("resorted", "oldest_first", DOUBLES, HALVES)
# While these last, no sweep can be complete: the pages, or most prices on them, are missing.
EXCUSED = (MAINTENANCE, "cards_without_price", "cards_from_price")
USUAL_DAYS = 30
# Spiders start within the first hour of every sixth: all of them meet a maintenance that begins there.
ALIGNED_HOURS = 6


@dataclass(frozen=True, slots=True)
class Planned:
    """A habit, how many hours after the beginning it begins, and for how many it lasts; None: for good."""

    habit: str
    begins: float
    hours: float | None = None


def plan(seed: int, days: float, wanted: Collection[str] = ALL) -> list[Planned]:
    """Which habits come when, the earliest first. A shorter time than a month has shorter habits."""
    chance = random.Random(f"{seed}/habits")
    planned = [each for each in _month(chance, 24 * days) if each.habit in wanted]
    return sorted(planned, key=lambda each: (each.begins, each.habit))


def _month(chance: random.Random, hours: float) -> Iterator[Planned]:
    scale = min(1.0, hours / (24 * USUAL_DAYS))

    def within(first: float, last: float) -> float:
        return hours * chance.uniform(first, last)

    order = chance.sample(BEYOND, len(BEYOND))
    for place, name in enumerate(order):
        yield Planned(name, hours * place / len(order), hours / len(order))
    for name, place in zip(chance.sample(list(CARD_PRICES), len(CARD_PRICES)), (0, 1, 3, 4), strict=True):
        begins = hours * (0.05 + 0.18 * place)
        yield Planned(name, begins + within(0, 0.08), CARD_PRICES[name] * scale)
    yield Planned(TAX_SWITCH, within(0.45, 0.55))
    for name, lasts in FOR_A_WHILE.items():
        yield Planned(name, within(0.02, 0.65), lasts * scale)
    for name in FOR_GOOD:
        yield Planned(name, within(0.02, 0.2))
    for name in (*DELETED, RENAMED):
        yield Planned(name, within(0.1, 0.8))
    doubles = within(0.2, 0.35)
    yield Planned(DOUBLES, doubles)
    yield Planned(HALVES, doubles + within(0.12, 0.2))
    for half in (0.1, 0.6):
        begins = within(half, half + 0.3)
        yield Planned(MAINTENANCE, begins - begins % ALIGNED_HOURS, 1)
