"""Where the price stands: learned from the pages of a run, given to the reader, and lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pricewatch.store.source_registry import price_places
from pricewatch.store.source_registry.price_places import PricePlace
from tests.conftest import Crawl
from tests.spiders.conftest import World
from tests.spiders.target_runs import readable, target, watch

ADDON = {"ADDONS": json.dumps({"tests.spiders.stub_readers.PricesStandAt": 1})}
# With class names, and with hashes instead of them.
NAMED_PLACE, NAMELESS_PLACE = "main.item > section.buy-box > p.item-price", "main > section > p > strong"
KIND = "SELECT subject, message FROM alerts WHERE kind = 'price_place_lost' AND resolved_at IS NULL"


def read_all(crawl: Crawl, world: World, **settings: Any) -> Any:
    """Check all targets; return the row of the run."""
    world.database.do("UPDATE targets SET next_due_at = now() - interval '1 day'")
    outcome = crawl("targets", settings=settings)
    assert outcome.returncode == 0, outcome.stderr
    return world.database.row("SELECT * FROM runs ORDER BY id DESC LIMIT 1")


def check(crawl: Crawl, world: World, place: str) -> Any:
    """Check all targets; the reader says that every price stands at this place."""
    return read_all(crawl, world, **ADDON, STUB_PLACE=place)


def stored(world: World) -> PricePlace:
    found: dict[str, PricePlace] = world.database.call(price_places.place_of, ["bazaar"])
    return found["bazaar"]


@pytest.mark.proof
def test_place_is_learned_lost_and_learned_again(world: World, crawl: Crawl) -> None:
    pages = [true for true in world.on_sale() if true.markup == "jsonld"][:25]
    watch(world, pages, adapter_id="generic")
    run = read_all(crawl, world)
    assert run.urls_succeeded == 25
    assert (stored(world).selector, stored(world).seen, stored(world).by) == (NAMED_PLACE, 25, "pages")
    run = read_all(crawl, world)
    assert stored(world).seen == 50
    assert not [reason for reason in run.reasons if "price_place" in reason]
    # The shop builds its pages with another tool.
    world.bazaar.habit("hashed_names")
    run = read_all(crawl, world)
    assert run.urls_succeeded == 25
    assert run.reasons["price_place_missing/bazaar"] == 25
    (alert,) = world.database.rows(KIND)
    assert alert.subject == "generic on bazaar"
    assert alert.message.startswith("On 25 of 25 product pages of bazaar, the price is not where it was.")
    assert (stored(world).selector, stored(world).seen) == (NAMELESS_PLACE, 25)
    read_all(crawl, world)
    assert world.database.rows(KIND) == []


@pytest.mark.proof
def test_place_of_a_person_is_used_and_kept(world: World, crawl: Crawl) -> None:
    (target_id,) = watch(world, readable(world, 1), adapter_id="generic")
    now = world.bazaar.now()
    world.database.call(price_places.remember, "bazaar", "u.chosen", by="Ada", now=now)
    for _ in range(4):
        check(crawl, world, "b.price")
    assert target(world, target_id).last_status == "SUCCESS"
    assert stored(world) == PricePlace("u.chosen", 0, now, "Ada")
    # The place was never confirmed, so it cannot be lost.
    assert world.database.rows(KIND) == []


def test_market_pages_of_an_adapter_for_one_site_teach_nothing(world: World, crawl: Crawl) -> None:
    outcome = crawl("discovery", settings={**ADDON, "STUB_PLACE": "b"}, market=world.market, max_details=5)
    assert outcome.returncode == 0
    assert world.database.call(price_places.place_of, ["bazaar"]) == {}


def test_quarantined_page_keeps_the_place_that_was_used(world: World, crawl: Crawl) -> None:
    true = readable(world, 1)[0]
    watch(world, [true], adapter_id="generic")
    check(crawl, world, "b.price")
    world.bazaar.change(true.id, price=true.price * 9)
    check(crawl, world, "b.price")
    row = world.database.row("SELECT reason, details FROM quarantine")
    assert (row.reason, row.details["price_place"]) == ("VALIDATION_FAILED", "b.price")
    # The price of a quarantined page is not known to be right, so it confirms nothing.
    assert stored(world).seen == 1
