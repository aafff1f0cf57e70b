"""The generic adapter on product pages that are hard to read: it stores the right price, or none."""

from __future__ import annotations

from typing import Any

import pytest

from pricewatch.bazaar.client import TruthListing
from tests.spiders.conftest import World
from tests.spiders.target_runs import fetch, watch

CATEGORIES = ("bikes", "cameras", "laptops", "instruments", "toys", "rentals")
PAGES_PER_MARKUP = 3
# Currency signs of several currencies are read only with structured data, and rents are not prices.
UNREADABLE = ("cameras", "instruments", "rentals")
HABITS = [
    ("hashed_names",),
    ("no_structured_data",),
    ("amounts_beside",),
    ("stale_structured_data",),
    ("advert",),
    ("hashed_names", "no_structured_data"),
    ("hashed_names", "amounts_beside", "stale_structured_data"),
    ("amounts_beside", "no_structured_data", "advert"),
    ("hashed_names", "amounts_beside", "no_structured_data", "advert"),
]


def some_pages(world: World) -> list[TruthListing]:
    """Return some listings on sale of each category and markup that needs no browser."""
    return [
        true
        for category in CATEGORIES
        for markup in ("jsonld", "microdata", "plain")
        for true in [
            each for each in world.bazaar.truth(category) if each.state == "on_sale" and each.markup == markup
        ][:PAGES_PER_MARKUP]
    ]


def stored_prices(world: World) -> dict[str, tuple[int, str]]:
    """Return all prices in the history by the path of their page; each page has at most one."""
    rows: list[Any] = world.database.rows(
        "SELECT l.canonical_url, p.price_cents, p.currency, l.price_cents AS current"
        " FROM price_history p JOIN listings l ON l.id = p.listing_id"
    )
    assert all(row.price_cents == row.current for row in rows)
    prices = {
        f"/item/{row.canonical_url.split('/item/')[1]}": (row.price_cents, row.currency) for row in rows
    }
    assert len(prices) == len(rows)
    return prices


@pytest.mark.parametrize("habits", HABITS, ids="+".join)
def test_generic_adapter_stores_the_right_price_or_none(world: World, habits: tuple[str, ...]) -> None:
    for habit in habits:
        world.bazaar.habit(habit)
    trues = some_pages(world)
    watch(world, trues, adapter_id="generic")
    counters = fetch(world)["counters"]
    assert counters["urls_attempted"] == len(trues)
    stored = stored_prices(world)
    right = {true.url: (true.price, true.currency) for true in trues}
    assert stored == {url: right[url] for url in stored}
    readable = {true.url for true in trues if true.category not in UNREADABLE}
    assert readable <= set(stored)
