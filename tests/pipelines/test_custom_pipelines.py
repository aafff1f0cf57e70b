"""Pipelines, custom ones included, write in one transaction per batch in the order of ITEM_PIPELINES."""

from __future__ import annotations

from typing import Any

import pytest

from pricewatch import settings as ours
from tests.spiders.conftest import World

MODULE = "tests.pipelines.custom_pipelines."


def with_pipelines(**places: int) -> dict[str, Any]:
    return {
        "ITEM_PIPELINES": {**ours.ITEM_PIPELINES, **{MODULE + name: place for name, place in places.items()}}
    }


@pytest.mark.proof
def test_custom_pipeline_writes_in_order_within_the_transaction(world: World) -> None:
    settings = with_pipelines(Between=250, After=310)
    run = world.crawl("sweep", settings=settings, max_pages=2, max_details=3)
    assert run["status"] == "finished"
    assert run["reasons"]["between/new"] > 20
    assert run["reasons"]["between/without_listing"] == 0
    assert run["reasons"]["between/without_history"] == run["reasons"]["between/new"]
    assert run["reasons"]["after/missing"] == 0


def test_rows_that_a_pipeline_cannot_write_are_left_out(world: World) -> None:
    settings = with_pipelines(MarksOneCard=50, RefusesOneCard=395)
    run = world.crawl("sweep", settings=settings, max_pages=1, max_details=0)
    assert run["status"] == "finished"
    assert run["reasons"]["refused_by_database"] == 1
    cards = world.database.value("SELECT cards FROM run_pages")
    assert cards == world.database.value("SELECT count(*) FROM listings") == run["new"]
    assert world.database.value("SELECT count(*) FROM listings WHERE title LIKE 'refuse me%'") == 0
    # The checkpoint counts the whole page, once.
    seen = world.database.value("SELECT sweep_cycle_seen FROM markets WHERE id = :id", id=world.market)
    assert seen == cards + 1


def test_items_dropped_by_an_earlier_pipeline_are_not_stored(world: World) -> None:
    run = world.crawl("discovery", settings=with_pipelines(DropsAll=50), max_pages=1, max_details=5)
    assert run["status"] == "finished"
    assert run["counters"]["details"] == 0
    assert world.database.value("SELECT count(*) FROM listings WHERE last_scraped_at IS NOT NULL") == 0
