"""`kill -9` at any moment costs only repeated work."""

from __future__ import annotations

import time
from random import Random

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.conftest import Crawl
from tests.databases import Database
from tests.spiders.truth import check_history, listed, offered, stored

MARKET = "bazaar-bikes"
KILLS = 20


@pytest.mark.proof
def test_twenty_kills_lead_to_the_same_result(marketplace: Bazaar, database: Database, crawl: Crawl) -> None:
    """The market changes in the meantime: new listings and other prices."""
    rng = Random(20)
    database.do("UPDATE markets SET page_size = 10, max_listings_per_scrape = 20 WHERE id = :id", id=MARKET)
    killed = 0
    peace = False
    while killed < KILLS:
        if killed >= KILLS / 2 and not peace:
            # One run without a kill, so that there is data to corrupt.
            peace = crawl("discovery", market=MARKET).returncode == 0
        whole = rng.random() < 0.5
        if whole:
            # As if the market had never been read completely: read all pages and commit everything.
            database.do("UPDATE markets SET first_read_at = NULL")
        marketplace.clear_log()
        running = crawl.start("discovery", market=MARKET)
        _wait_for_requests(marketplace, running, rng.randrange(28 if whole else 8))
        time.sleep(rng.random() * 0.05)
        running.kill()
        killed += running.end().returncode == -9
        _change(marketplace, rng)

    database.do("UPDATE markets SET first_read_at = NULL")
    assert crawl("discovery", market=MARKET).returncode == 0
    assert stored(database, MARKET) == listed(marketplace, "bikes")
    check_history(database)
    _check_prices(marketplace, database)
    statuses = dict(database.rows("SELECT status, count(*) FROM runs GROUP BY status"))
    assert "running" not in statuses
    assert statuses["stale"] > KILLS / 2
    assert database.value("SELECT count(*) FROM collected_cards") == 0
    # Each run that committed counts a listing as seen once.
    committed = database.value("SELECT count(*) FROM runs WHERE new_listings + updated_listings > 0")
    assert database.value("SELECT max(times_seen) FROM listings") <= committed


def _wait_for_requests(marketplace: Bazaar, running, count: int) -> None:
    while running.is_running() and len(marketplace.log()) < count:
        time.sleep(0.005)


def _change(marketplace: Bazaar, rng: Random) -> None:
    marketplace.add("bikes", f"New bike {rng.random()}", rng.randrange(10_000, 90_000))
    newest = sorted(offered(marketplace, "bikes"), key=lambda listing: int(listing.id))[-30:]
    for listing in rng.sample([each for each in newest if each.state == "on_sale"], 4):
        marketplace.change(listing.id, price=listing.price + rng.randrange(1, 500))


def _check_prices(marketplace: Bazaar, database: Database) -> None:
    """Check that the stored prices of each listing are some of its true prices in order."""
    seen: dict[str, list[int]] = {}
    for path, price in database.rows(
        "SELECT regexp_replace(l.canonical_url, '^https://[^/]+', ''), h.price_cents FROM price_history h"
        " JOIN listings l ON l.id = h.listing_id ORDER BY l.id, h.observed_at"
    ):
        seen.setdefault(path, []).append(price)
    changed = 0
    for listing in offered(marketplace, "bikes"):
        true = iter(price for _, price in listing.prices)
        assert all(price in true for price in seen.get(listing.url, [])), listing
        changed += len(seen.get(listing.url, [])) > 1
    assert changed
