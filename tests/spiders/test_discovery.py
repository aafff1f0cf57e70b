"""Discovery from the shell to the price history, against the sample marketplace."""

from __future__ import annotations

import json

import pytest

from pricewatch.adapters.bazaar import BazaarAdapter
from pricewatch.bazaar.client import Bazaar
from tests.conftest import Crawl
from tests.databases import Database
from tests.spiders.truth import check_history, listed, offered, pages_of, stored

MARKET = "bazaar-bikes"
SIZE = 10


@pytest.fixture
def marketplace(marketplace: Bazaar, database: Database) -> Bazaar:
    """Use small pages, so that a small market has many."""
    database.do("UPDATE markets SET page_size = :size WHERE id = :id", size=SIZE, id=MARKET)
    return marketplace


def test_first_run_reads_the_whole_market_and_later_runs_only_new_pages(
    marketplace: Bazaar, database: Database, crawl: Crawl
) -> None:
    pages = pages_of(marketplace, "bikes", SIZE)
    truth = listed(marketplace, "bikes")
    assert pages > 10

    assert crawl("discovery", market=MARKET).returncode == 0
    assert stored(database, MARKET) == truth
    check_history(database)
    first = database.last_run()
    priced = sum(listing.price_cents is not None for listing in truth.values())
    assert (first.status, first.reason, first.partial) == ("finished", None, False)
    assert (first.pages, first.cards, first.new_listings, first.price_rows) == (
        pages,
        len(truth),
        len(truth),
        priced,
    )
    assert first.started_at < first.finished_at
    assert first.started_at < first.heartbeat_at
    self_described = {"market": MARKET}
    assert first.arguments == self_described
    assert (first.adapter_id, first.adapter_version, first.trigger) == (
        "bazaar",
        BazaarAdapter.version,
        "MANUAL",
    )
    _check_details(marketplace, database)
    _check_pages(database, first.id, pages, len(truth))

    # The second run finds nothing new and stops after five familiar pages.
    before = database.rows("SELECT * FROM price_history ORDER BY listing_id, observed_at")
    assert crawl("discovery", market=MARKET).returncode == 0
    second = database.last_run()
    assert (second.pages, second.cards, second.new_listings, second.updated_listings) == (5, 50, 0, 50)
    assert (second.price_rows, second.urls_attempted, second.details) == (0, 0, 0)
    assert stored(database, MARKET) == truth
    assert database.rows("SELECT * FROM price_history ORDER BY listing_id, observed_at") == before
    assert database.rows("SELECT times_seen, count(*) FROM listings GROUP BY 1 ORDER BY 1") == [
        (1, len(truth) - 50),
        (2, 50),
    ]

    # Three new listings on top, and one known listing is cheaper: one more page.
    for number in range(3):
        marketplace.add("bikes", f"New bike {number}", 10_000 + number)
    cheaper = next(listing for listing in offered(marketplace, "bikes")[::-1] if listing.state == "on_sale")
    marketplace.change(cheaper.id, price=cheaper.price - 1)
    assert crawl("discovery", market=MARKET).returncode == 0
    third = database.last_run()
    assert (third.new_listings, third.pages, third.urls_attempted, third.details) == (3, 6, 3, 3)
    now = stored(database, MARKET)
    assert {path: listing for path, listing in now.items() if path not in truth} == {
        path: listing for path, listing in listed(marketplace, "bikes").items() if path not in truth
    }
    check_history(database)


def _check_details(marketplace: Bazaar, database: Database) -> None:
    """Check that at most 100 product pages were read, newest first."""
    run = database.last_run()
    by_path = {listing.url: listing for listing in offered(marketplace, "bikes")}
    tried, read = (
        {
            path
            for (path,) in database.rows(
                "SELECT regexp_replace(canonical_url, '^https://[^/]+', '') FROM listings"
                f" WHERE {column} IS NOT NULL"
            )
        }
        for column in ("detail_due_at", "last_scraped_at")
    )
    without_script = [path for path in tried if by_path[path].markup == "js"]
    without_price = [
        path for path in tried if by_path[path].mode == "hidden" and by_path[path].markup != "js"
    ]
    assert run.urls_attempted == len(tried) == 100
    assert read == tried - {*without_script, *without_price}
    assert (run.details, run.offers_valid, run.offers_extracted) == (len(read),) * 3
    assert run.oos_no_price_count == len(without_price)
    assert run.urls_failed == len(without_script)
    assert run.urls_succeeded == 100 - len(without_script)


def _check_pages(database: Database, run_id: int, pages: int, cards: int) -> None:
    rows = database.rows("SELECT * FROM run_pages WHERE run_id = :id ORDER BY page", id=run_id)
    assert [row.page for row in rows] == list(range(1, pages + 1))
    assert {(row.outcome, row.http_status, row.start_page) for row in rows} == {("ok", 200, "/c/bikes")}
    assert sum(row.cards for row in rows) == sum(row.new_listings for row in rows) == cards


def test_start_pages_are_counted_separately(marketplace: Bazaar, database: Database, crawl: Crawl) -> None:
    database.do(
        "UPDATE markets SET start_pages = CAST(:pages AS jsonb), page_size = 5 WHERE id = :id",
        pages=json.dumps(["/c/bikes", "/c/toys"]),
        id=MARKET,
    )
    assert crawl("discovery", market=MARKET, max_details=0).returncode == 0
    assert stored(database, MARKET) == listed(marketplace, "bikes") | listed(marketplace, "toys")
    marketplace.add("toys", "New toy", 990)
    assert crawl("discovery", market=MARKET, max_details=0).returncode == 0
    pages = database.rows(
        "SELECT start_page, count(*) FROM run_pages WHERE run_id = :id GROUP BY 1 ORDER BY 1",
        id=database.last_run().id,
    )
    assert pages == [("/c/bikes", 5), ("/c/toys", 6)]


@pytest.mark.parametrize("beyond", ["empty", "first", "repeat", "404"])
def test_end_of_a_site_is_found_for_every_behaviour(
    marketplace: Bazaar, database: Database, crawl: Crawl, beyond: str
) -> None:
    """The site limits the page size to its own maximum."""
    marketplace.behave(beyond_last=beyond, max_rows=SIZE * 2)
    database.do("UPDATE markets SET page_size = 90 WHERE id = :id", id=MARKET)
    assert crawl("discovery", market=MARKET, max_details=0).returncode == 0
    assert stored(database, MARKET) == listed(marketplace, "bikes")
    assert database.value("SELECT first_read_at IS NOT NULL FROM markets WHERE id = :id", id=MARKET)


def test_first_run_with_page_limit_is_not_complete(
    marketplace: Bazaar, database: Database, crawl: Crawl
) -> None:
    assert crawl("discovery", market=MARKET, max_pages=3, max_details=0).returncode == 0
    assert database.last_run().pages == 3
    assert crawl("discovery", market=MARKET, max_details=0).returncode == 0
    assert stored(database, MARKET) == listed(marketplace, "bikes")


def test_price_change_is_stored_and_inactive_listing_becomes_active(
    marketplace: Bazaar, database: Database, crawl: Crawl
) -> None:
    known = marketplace.add("bikes", "Known bike", 50_000)
    assert crawl("discovery", market=MARKET, max_details=0).returncode == 0
    database.do(
        "UPDATE listings SET active = false, deactivated_at = now(), strikes = 2,"
        " verification_status = 'gone' WHERE identity_key = :key",
        key=f"PID:{known.id}",
    )
    marketplace.change(known.id, price=45_000)
    marketplace.relist(known.id, new_id=True)
    assert crawl("discovery", market=MARKET, max_details=0).returncode == 0
    listing = database.row("SELECT * FROM listings WHERE title = 'Known bike'")
    assert (listing.price_cents, listing.active, listing.strikes, listing.times_seen) == (45_000, True, 0, 2)
    assert listing.identity_key != f"PID:{known.id}"
    assert database.rows(
        "SELECT price_cents FROM price_history WHERE listing_id = :id ORDER BY observed_at", id=listing.id
    ) == [(50_000,), (45_000,)]
