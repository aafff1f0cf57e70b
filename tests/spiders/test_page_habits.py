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


def right_prices(world: World, trues: list[TruthListing]) -> set[str]:
    """Check that no other price is stored than the right one; return the pages whose price is stored."""
    stored = stored_prices(world)
    right = {true.url: (true.price, true.currency) for true in trues}
    assert stored == {url: right[url] for url in stored}
    return set(stored)


@pytest.mark.parametrize("habits", HABITS, ids="+".join)
def test_generic_adapter_stores_the_right_price_or_none(world: World, habits: tuple[str, ...]) -> None:
    for habit in habits:
        world.bazaar.habit(habit)
    trues = some_pages(world)
    watch(world, trues, adapter_id="generic")
    counters = fetch(world)["counters"]
    assert counters["urls_attempted"] == len(trues)
    stored = right_prices(world, trues)
    assert {true.url for true in trues if true.category not in UNREADABLE} <= stored


@pytest.mark.parametrize("habits", [(), ("hashed_names", "no_structured_data")], ids=["alone", "combined"])
def test_page_whose_price_a_script_adds_has_no_price(world: World, habits: tuple[str, ...]) -> None:
    for habit in ("price_by_script", *habits):
        world.bazaar.habit(habit)
    trues = some_pages(world)
    watch(world, trues, adapter_id="generic", render="never")
    assert fetch(world)["counters"]["urls_failed"] == len(trues)
    assert stored_prices(world) == {}
    reasons = world.database.rows("SELECT DISTINCT last_status, last_reason FROM targets")
    assert [tuple(row) for row in reasons] == [("FAILED", "PRICE_NOT_FOUND")]
    assert world.database.value("SELECT count(*) FROM quarantine") == 0


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("markup", ["jsonld", "plain", "js"])
@pytest.mark.parametrize(
    "habits", [(), ("hashed_names", "amounts_beside", "advert")], ids=["alone", "combined"]
)
@pytest.mark.proof
def test_browser_shows_the_price_that_a_script_adds(
    world: World, markup: str, habits: tuple[str, ...]
) -> None:
    for habit in ("price_by_script", *habits):
        world.bazaar.habit(habit)
    found = [true for true in world.bazaar.truth("bikes") if (true.state, true.markup) == ("on_sale", markup)]
    trues = found[:PAGES_PER_MARKUP]
    watch(world, trues, adapter_id="generic", render="always")
    assert fetch(world)["counters"]["urls_succeeded"] == len(trues)
    assert right_prices(world, trues) == {true.url for true in trues}
