"""Pipelines write in one transaction per batch, in the order of ITEM_PIPELINES, a user's own among them."""

from __future__ import annotations

from typing import Any

from pricewatch import settings as ours
from tests.spiders.conftest import World

PROBES = "tests.pipelines.probes."


def with_pipelines(**places: int) -> dict[str, Any]:
    return {
        "ITEM_PIPELINES": {**ours.ITEM_PIPELINES, **{PROBES + name: place for name, place in places.items()}}
    }


def test_a_users_pipeline_writes_at_its_place_in_the_transaction(world: World) -> None:
    settings = with_pipelines(Between=250, Behind=310)
    run = world.crawl("sweep", settings=settings, max_pages=2, max_details=3)
    assert run["status"] == "finished"
    assert run["reasons"]["between/new"] > 20
    assert run["reasons"]["between/without_listing"] == 0
    assert run["reasons"]["between/without_history"] == run["reasons"]["between/new"]
    assert run["reasons"]["behind/missing"] == 0


def test_rows_that_any_pipeline_cannot_write_are_left_out_and_the_rest_is_stored(world: World) -> None:
    settings = with_pipelines(MarksOneCard=50, RefusesOneCard=395)
    run = world.crawl("sweep", settings=settings, max_pages=1, max_details=0)
    assert run["status"] == "finished"
    assert run["reasons"]["refused_by_database"] == 1
    cards = world.database.value("SELECT cards FROM run_pages")
    assert cards == world.database.value("SELECT count(*) FROM listings") == run["new"]
    assert world.database.value("SELECT count(*) FROM listings WHERE title LIKE 'refuse me%'") == 0
    # The checkpoint is that of the whole page, and was counted once.
    seen = world.database.value("SELECT sweep_cycle_seen FROM markets WHERE id = :id", id=world.market)
    assert seen == cards + 1


def test_what_a_users_pipeline_drops_first_is_not_stored(world: World) -> None:
    run = world.crawl("discovery", settings=with_pipelines(DropsAll=50), max_pages=1, max_details=5)
    assert run["status"] == "finished"
    assert run["counters"]["details"] == 0
    assert world.database.value("SELECT count(*) FROM listings WHERE last_scraped_at IS NOT NULL") == 0
