"""Mercari end to end, in a browser: search, store, filter, and verify listings and sold dates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.spiders.sites import MERCARI, SiteWorld
from tests.spiders.target_runs import fetch, target, watch
from tests.spiders.truth import check_history

pytestmark = [pytest.mark.proof, pytest.mark.browser]


@pytest.fixture
def world(database: Any, crawler: Any) -> Iterator[SiteWorld]:
    with Bazaar.start(seed=5, listings=70, skin="mercari") as bazaar:
        bazaar.advance(days=12)
        yield SiteWorld(MERCARI, bazaar, database, crawler)


def test_all_spiders_work_on_a_search_market_in_a_browser(world: SiteWorld) -> None:
    stores_what_the_search_returns(world)
    stores_sold_dates(world)
    removes_listings_that_no_longer_match(world)
    verifies_listings_the_search_left_out(world)
    follows_prices_and_single_pages(world)
    reads_two_pages_where_nothing_is_new(world)
    check_history(world.database)


def stores_what_the_search_returns(world: SiteWorld) -> None:
    run = world.crawl("discovery", max_details=4)
    assert run["status"] == "finished", run
    assert run["pages"] > 1
    assert world.stored() == world.true_listings()
    assert {known.availability for known in world.stored().values()} >= {"IN_STOCK", "SOLD"}
    kinds = world.database.rows("SELECT DISTINCT type FROM sellers ORDER BY type")
    assert [kind for (kind,) in kinds] == ["shop", "user"]
    # Pages without JavaScript are empty.
    assert {entry.status for entry in world.bazaar.log() if entry.path.startswith("/v2/")} == {200}


def stores_sold_dates(world: SiteWorld) -> None:
    world.crawl("verification")
    sold = [true for true in world.truth("sold") if "/item/" in true.url]
    assert sold
    for true in sold:
        assert world.listing(true).sold_at == true.spans[-1][0]


def removes_listings_that_no_longer_match(world: SiteWorld) -> None:
    dearest = max(world.truth("on_sale"), key=lambda true: true.price)
    world.set_market(max_price_cents=dearest.price - 1, price_currency="JPY")
    world.crawl("discovery", max_details=0)
    assert world.listing(dearest).removed_at is not None
    world.set_market(max_price_cents=None)


def verifies_listings_the_search_left_out(world: SiteWorld) -> None:
    active = [true for true in world.truth("on_sale") if world.listing(true).active]
    gone, sold, *_ = [true for true in active if "/item/" in true.url]
    shops = next(true for true in active if "/shops/" in true.url)
    world.bazaar.change(gone.id, end="404")
    world.bazaar.change(shops.id, end="soft")
    world.crawl("discovery", max_details=0)
    # Listings that match again are active again.
    assert all(world.listing(true).active for true in world.truth("on_sale"))
    for true in (gone, shops):
        assert world.listing(true).active
        assert world.listing(true).verification_requested_at is not None
    world.bazaar.change(sold.id, end="sold")
    world.fade(sold)
    world.crawl("verification")
    assert [world.listing(true).active for true in (gone, shops, sold)] == [False, False, False]
    assert world.listing(sold).availability == "SOLD"
    assert abs((world.listing(sold).sold_at - world.bazaar.now()).total_seconds()) < 60


def follows_prices_and_single_pages(world: SiteWorld) -> None:
    users, shops = (
        next(true for true in world.truth("on_sale") if kind in true.url) for kind in ("/item/", "/shops/")
    )
    for true in (users, shops):
        world.bazaar.change(true.id, price=true.price + 100)
    assert world.crawl("sweep", max_details=0)["status"] == "finished"
    assert [world.listing(true).price_cents - true.price for true in (users, shops)] == [100, 100]
    ids = watch(world, [users, shops])
    for true in (users, shops):
        world.bazaar.change(true.id, price=true.price + 200)
    fetch(world, ids=",".join(map(str, ids)))
    assert [target(world, number).last_status for number in ids] == ["SUCCESS", "SUCCESS"]
    assert [world.listing(true).price_cents - true.price for true in (users, shops)] == [200, 200]


def reads_two_pages_where_nothing_is_new(world: SiteWorld) -> None:
    world.bazaar.behave(max_rows=2)
    run = world.crawl("discovery", max_details=0)
    assert (run["status"], run["pages"]) == ("finished", 2)
    # Listings on pages that were not read are unchanged.
    assert "sync/existence" not in run["reasons"]
