"""Search markets: listings missing from the results are verified, those that no longer match leave."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def search(world: Any) -> Any:
    """A market of all toys, on sale and sold, as search results."""
    world.database.do(
        "INSERT INTO markets (id, source_id, display_name, category, start_pages, tier)"
        " VALUES ('toy-search', 'bazaar', 'Toys', 'toys', '[]', 'hot')"
    )
    world.market = "toy-search"
    run = world.crawl("discovery", max_details=0)
    assert run["status"] == "finished"
    return world


def toys(world: Any) -> list[Any]:
    return [true for true in world.bazaar.truth("toys") if true.state == "on_sale" and true.markup != "js"]


def test_sold_listings_get_their_date_from_the_product_page(search):
    sold = search.database.rows("SELECT * FROM listings WHERE availability = 'SOLD'")
    assert sold
    assert not any(listing.active for listing in sold)
    assert all(listing.verification_requested_at for listing in sold)
    search.crawl("verification")
    dated = search.database.rows("SELECT * FROM listings WHERE availability = 'SOLD' AND sold_at IS NOT NULL")
    readable = {
        true.url for true in search.bazaar.truth("toys") if true.state == "sold" and true.markup != "js"
    }
    assert {listing.canonical_url.split("/", 3)[3] for listing in dated} == {url[1:] for url in readable}
    truth = {true.url: true for true in search.bazaar.truth("toys")}
    for listing in dated:
        true = truth["/" + listing.canonical_url.split("/", 3)[3]]
        assert abs((true.spans[-1][0] - listing.sold_at).total_seconds()) < 2


def test_listings_missing_from_the_search_are_verified(search):
    true = toys(search)[0]
    search.bazaar.change(true.id, end="404")
    search.crawl("discovery", max_details=0)
    listing = search.listing(true)
    assert listing.active
    assert listing.verification_requested_at is not None
    search.crawl("verification")
    search.crawl("verification")
    assert not search.listing(true).active


def test_an_incomplete_run_concludes_nothing(search):
    true = toys(search)[0]
    search.bazaar.change(true.id, end="404")
    search.set_market(max_pages=None, page_size=10)
    run = search.crawl("discovery", max_details=0, max_pages=1)
    assert run["status"] == "finished"
    assert search.listing(true).verification_requested_at is None


def test_listings_that_no_longer_match_leave_the_market(search):
    # The cheapest listing becomes cheaper, by less than a price jump.
    cheap, named, *_ = sorted(toys(search), key=lambda true: true.price)
    search.bazaar.change(cheap.id, price=cheap.price // 2)
    search.bazaar.change(named.id, title="Toy for parts only")
    # A price jump is accepted when a second run confirms it.
    search.crawl("sweep", max_details=0)
    search.crawl("sweep", max_details=0)
    currency = search.listing(cheap).currency
    search.set_market(
        price_currency=currency, min_price_cents=cheap.price // 2 + 1, exclude_keywords='["FOR PARTS"]'
    )
    search.crawl("discovery", max_details=0)
    for true in (cheap, named):
        listing = search.listing(true)
        assert listing.removed_at is not None
        assert not listing.active
        assert (
            search.database.value(
                "SELECT count(*) FROM market_listings WHERE listing_id = :id", id=listing.id
            )
            == 0
        )
        # Its history is never deleted.
        assert (
            search.database.value("SELECT count(*) FROM price_history WHERE listing_id = :id", id=listing.id)
            > 0
        )


def test_listing_in_another_market_stays(search):
    true = toys(search)[0]
    search.market = "bazaar-toys"
    search.crawl("sweep", max_details=0)
    search.market = "toy-search"
    search.bazaar.change(true.id, title="Toy for parts only")
    search.crawl("sweep", max_details=0)
    search.set_market(exclude_keywords='["for parts"]')
    search.crawl("discovery", max_details=0)
    listing = search.listing(true)
    assert listing.active
    assert listing.removed_at is None
