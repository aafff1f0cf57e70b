"""The adapters of real sites end to end: the four spiders against a marketplace that imitates each site."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.spiders.sites import APARTMENTS, GOODS, RENTALS, SGAMMO, Site, SiteWorld
from tests.spiders.target_runs import fetch, target, watch
from tests.spiders.truth import check_history


@pytest.fixture(params=[GOODS, RENTALS, APARTMENTS, SGAMMO], ids=lambda site: f"{site.id}-{site.category}")
def world(request: Any, database: Any, crawler: Any) -> Iterator[SiteWorld]:
    site: Site = request.param
    with Bazaar.start(seed=5, listings=400, skin=site.id) as bazaar:
        # Long enough for some to be sold, gone, out of stock, or relisted under another id.
        bazaar.advance(days=12)
        world = SiteWorld(site, bazaar, database, crawler)
        first, second, *_ = world.truth("on_sale")
        bazaar.change(first.id, stock="out")
        bazaar.change(second.id, stock="hidden")
        yield world


def test_four_spiders_store_what_the_site_shows(world: SiteWorld) -> None:
    check_discovery(world)
    check_sweep(world)
    check_verification(world)
    check_targets(world)
    check_history(world.database)


def check_discovery(world: SiteWorld) -> None:
    run = world.crawl("discovery")
    assert run["status"] == "finished", run
    assert run["pages"] > 1
    failures = {reason for reason in run["reasons"] if reason.startswith(("failure", "page"))}
    assert failures <= {"page/ok", "failure/OOS_NO_PRICE", "failure/PRICE_NOT_FOUND"}
    assert world.stored() == world.true_listings()
    read = world.database.value("SELECT count(*) FROM listings WHERE last_scraped_at IS NOT NULL")
    assert read >= min(100, len([true for true in world.truth() if true.mode != "hidden"])) - 5


def check_sweep(world: SiteWorld) -> None:
    cheaper, dearer, *_ = world.truth("on_sale")
    world.bazaar.change(cheaper.id, price=cheaper.price * 9 // 10)
    world.bazaar.change(dearer.id, price=dearer.price * 11 // 10)
    world.bazaar.add(world.site.category, "Ganz neu eingestellt", 12300, seller_id=cheaper.seller_id)
    run = world.crawl("sweep")
    assert run["status"] == "finished", run
    assert world.stored() == world.true_listings()
    assert run["price_rows"] >= 3


def check_verification(world: SiteWorld) -> None:
    missing, removed, soft, sold, fine = world.truth("on_sale")[:5]
    for true, end in ((missing, "404"), (removed, "410"), (soft, "soft"), (sold, "sold")):
        world.bazaar.change(true.id, end=end)
    for true in (missing, removed, soft, sold, fine):
        world.fade(true)
    for _ in range(2):
        assert world.crawl("verification")["status"] == "finished"
    for true in (missing, removed, soft, sold):
        assert not world.listing(true).active, true.mode
        assert world.listing(true).deactivated_at is not None
    assert world.listing(fine).active
    assert world.listing(fine).verification_status == "verified"
    assert (world.listing(sold).availability == "SOLD") is world.site.shows_sold
    # Nothing else changed: all listings that the site still shows are stored.
    known = world.true_listings()
    assert {path: listing for path, listing in world.stored().items() if listing.active} == known


def check_targets(world: SiteWorld) -> None:
    steady, cheaper, gone, out, hidden = world.truth("on_sale")[:5]
    watched = [steady, cheaper, gone, out, hidden]
    ids = watch(world, watched)
    world.bazaar.change(cheaper.id, price=cheaper.price * 9 // 10)
    world.bazaar.change(gone.id, end="404")
    world.bazaar.change(out.id, stock="out")
    world.bazaar.change(hidden.id, stock="hidden")
    fetch(world, ids=",".join(map(str, ids)))
    states = [target(world, number) for number in ids]
    expected = ("DROPPED", "OOS_NO_PRICE") if world.site.shows_stock else ("FAILED", "PRICE_NOT_FOUND")
    assert [(state.last_status, state.last_reason) for state in states] == [
        ("SUCCESS", None),
        ("SUCCESS", None),
        ("FAILED", "http_error_404"),
        ("SUCCESS", None),
        expected,
    ]
    empty = "OUT_OF_STOCK" if world.site.shows_stock else "IN_STOCK"
    listings = [world.listing(true) for true in watched]
    assert [(listing.price_cents, listing.availability) for listing in listings] == [
        (steady.price, "IN_STOCK"),
        (cheaper.price * 9 // 10, "IN_STOCK"),
        (gone.price, "IN_STOCK"),
        (out.price, empty),
        # The page shows no price any more; the last price stays, and so does the known stock.
        (hidden.price, empty),
    ]
    # One missing page is not conclusive: verification is requested.
    assert world.listing(gone).active
    assert world.listing(gone).verification_requested_at is not None
