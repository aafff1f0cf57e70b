"""Failures in discovery: nothing is stored halfway, and one sentence says what happened."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import text

from pricewatch.bazaar.client import Bazaar
from tests.conftest import Crawl
from tests.databases import Database, Server
from tests.forked import Outcome, Scrapy
from tests.spiders.truth import check_history, listed, requests_for, stored
from tests.waiting import until

MARKET = "bazaar-bikes"
# Retry delays are tested elsewhere.
IMPATIENT = {"RETRY_FIRST_DELAY": 0.01, "RETRY_LONGEST_DELAY": 0.01}
# A page that hangs is requested repeatedly until the test releases it.
HELD_UP = {**IMPATIENT, "DOWNLOAD_TIMEOUT": 1, "OVERVIEW_ATTEMPTS": 100}


@pytest.fixture
def marketplace(marketplace: Bazaar, database: Database) -> Bazaar:
    database.do("UPDATE markets SET page_size = 10 WHERE id = :id", id=MARKET)
    return marketplace


def check_message(outcome: Outcome, sentence: str) -> None:
    """Check that the command failed with one sentence and without a traceback."""
    assert outcome.returncode == 1
    messages = [line for line in outcome.stderr.splitlines() if line.startswith("pricewatch: ")]
    assert len(messages) == 1, outcome.stderr
    assert sentence in messages[0]
    assert "Traceback" not in outcome.stderr, outcome.stderr


def check_nothing_stored(database: Database) -> None:
    for table in ("listings", "price_history", "market_listings", "sellers", "collected_cards"):
        assert database.value(f"SELECT count(*) FROM {table}") == 0, table
    assert database.row("SELECT first_read_at, last_scrape_at FROM markets WHERE id = :id", id=MARKET) == (
        None,
        None,
    )


def _waiting_crawl(marketplace: Bazaar, crawl: Crawl, **settings: object) -> Scrapy:
    """Return a crawl that has read three pages and waits for the fourth."""
    marketplace.fault("hang", path="page=4&")
    running = crawl.start("discovery", market=MARKET, settings={**HELD_UP, **settings})
    until(lambda: requests_for(marketplace, "page=4&"))
    return running


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ({"action": "status", "status": 503}, None),
        ({"action": "captcha"}, "blocked"),
        ({"action": "reset"}, None),
    ],
)
def test_page_that_fails_twice_is_requested_again(
    marketplace: Bazaar, database: Database, crawl: Crawl, fault: dict[str, object], outcome: str | None
) -> None:
    marketplace.fault(path="page=3&", times=2, **fault)  # type: ignore[arg-type]
    ended = crawl("discovery", market=MARKET, max_details=0, settings=IMPATIENT)
    assert ended.returncode == 0, ended.stderr
    assert stored(database, MARKET) == listed(marketplace, "bikes")
    outcomes = [row for (row,) in database.rows("SELECT outcome FROM run_pages WHERE page = 3 ORDER BY id")]
    assert outcomes[-1] == "ok"
    if outcome:
        assert outcomes == [outcome, outcome, "ok"]
        (state,) = database.last_run().progress["start_pages"]
        assert (state["failure_count"], state["completed"]) == (2, True)
        assert [failure["page"] for failure in state["failures"]] == [3, 3]


@pytest.mark.parametrize(
    ("action", "outcome", "word"),
    [
        ("captcha", "blocked", "just a moment"),
        ("reset", "network_error", "network_error"),
        ("empty", "unreadable", ""),
    ],
)
def test_unreadable_page_in_the_middle_fails_the_run(
    marketplace: Bazaar, database: Database, crawl: Crawl, action: str, outcome: str, word: str
) -> None:
    marketplace.fault(action, path="page=4&")
    ended = crawl("discovery", market=MARKET, settings=IMPATIENT)
    check_message(ended, "page 4 of /c/bikes could not be read")
    assert word in ended.stderr
    check_nothing_stored(database)
    run = database.last_run()
    assert run.status == "failed"
    assert "nothing was stored" in run.reason
    assert run.errors
    outcomes = dict(database.rows("SELECT page, array_agg(outcome) FROM run_pages GROUP BY page"))
    assert set(outcomes) == {1, 2, 3, 4}
    assert set(outcomes[4]) == {outcome}
    assert database.row(
        "SELECT last_scrape_status, discovery_failures FROM markets WHERE id = :id", id=MARKET
    ) == ("failed", 1)


def test_a_start_page_without_any_listing_aborts_the_run(
    marketplace: Bazaar, database: Database, crawl: Crawl
) -> None:
    database.do(
        "UPDATE markets SET start_pages = CAST(:pages AS jsonb) WHERE id = :id",
        pages=json.dumps(["/c/bikes", "/search?q=unobtainium"]),
        id=MARKET,
    )
    check_message(crawl("discovery", market=MARKET), "/search?q=unobtainium has no listings")
    check_nothing_stored(database)
    assert database.last_run().status == "aborted"


def test_a_second_run_of_the_same_market_is_refused(
    marketplace: Bazaar, database: Database, crawl: Crawl
) -> None:
    first = _waiting_crawl(marketplace, crawl)
    check_message(crawl("discovery", market=MARKET), f"A discovery run of market {MARKET} is already running")
    assert first.is_running()
    assert database.rows("SELECT status FROM runs") == [("running",)]
    # A run of another market is not refused.
    assert crawl("discovery", market="bazaar-toys", max_details=0).returncode == 0


def test_stopping_during_collection_cancels_and_stores_nothing(
    marketplace: Bazaar, database: Database, crawl: Crawl
) -> None:
    running = _waiting_crawl(marketplace, crawl)
    running.terminate()
    check_message(running.end(), "stopped by a signal")
    check_nothing_stored(database)
    assert database.last_run().status == "cancelled"
    assert database.value("SELECT discovery_failures FROM markets WHERE id = :id", id=MARKET) == 0


def test_stopping_during_commit_waits_for_the_commit(
    marketplace: Bazaar, database: Database, crawl: Crawl
) -> None:
    """The item comes from `start()`, and Scrapy does not notice when such an item is processed."""
    running = _waiting_crawl(marketplace, crawl)
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with database.begin() as holder:
        holder.execute(text("LOCK TABLE price_history IN EXCLUSIVE MODE"))
        marketplace.clear_faults()
        until(lambda: database.value(waiting) > 0)
        running.terminate()
        until(lambda: "Closing spider" in running.log())
    check_message(running.end(), "stopped by a signal")
    assert database.last_run().status == "cancelled"
    assert stored(database, MARKET) == listed(marketplace, "bikes")
    check_history(database)


def test_stopping_during_details_keeps_stored_data(
    marketplace: Bazaar, database: Database, crawl: Crawl
) -> None:
    marketplace.fault("hang", path="/item/", seconds=0.5, skip=20)
    running = crawl.start("discovery", market=MARKET)
    until(lambda: len(requests_for(marketplace, "/item/")) > 20)
    running.terminate()
    check_message(running.end(), "stopped by a signal")
    run = database.last_run()
    assert run.status == "cancelled"
    assert stored(database, MARKET) == listed(marketplace, "bikes")
    check_history(database)
    read = database.value("SELECT count(*) FROM listings WHERE last_scraped_at IS NOT NULL")
    assert 0 < read == run.details < 100


@pytest.mark.proof
def test_unavailable_database_fails_the_run(
    marketplace: Bazaar, database: Database, crawl: Crawl, server: Server
) -> None:
    running = _waiting_crawl(marketplace, crawl, DATABASE_RETRY_SECONDS=0.5)
    server.stop()
    try:
        ended = running.end()
    finally:
        server.start()
        database.engine.dispose()
    check_message(ended, "The database was unavailable for 0 seconds")
    # The failure could not be stored; the next run deletes the collected cards.
    assert database.last_run().status == "running"
    assert database.value("SELECT count(*) FROM listings") == 0
    # The next run marks it as dead and does the work.
    marketplace.clear_faults()
    assert crawl("discovery", market=MARKET, max_details=0).returncode == 0
    assert database.rows("SELECT status FROM runs ORDER BY id") == [("stale",), ("finished",)]
    assert stored(database, MARKET) == listed(marketplace, "bikes")


def test_database_restart_during_collection_is_harmless(
    marketplace: Bazaar, database: Database, crawl: Crawl, server: Server
) -> None:
    running = _waiting_crawl(marketplace, crawl)
    server.restart("fast")
    database.engine.dispose()
    marketplace.clear_faults()
    assert running.end().returncode == 0
    assert stored(database, MARKET) == listed(marketplace, "bikes")
    check_history(database)
    run = database.last_run()
    assert run.cards == run.new_listings == len(listed(marketplace, "bikes"))


def test_database_crash_during_collection_fails_the_run(
    marketplace: Bazaar, database: Database, crawl: Crawl, server: Server
) -> None:
    database.do(f"ALTER DATABASE {database.engine.url.database} SET synchronous_commit = on")
    running = _waiting_crawl(marketplace, crawl)
    server.restart("immediate")
    database.engine.dispose()
    marketplace.clear_faults()
    check_message(running.end(), "The database no longer has what this run collected")
    check_nothing_stored(database)
    assert database.last_run().status == "failed"


def test_card_refused_by_the_database_is_counted_and_others_are_stored(
    marketplace: Bazaar, database: Database, crawl: Crawl
) -> None:
    """A database constraint that validation does not know."""
    marketplace.add("bikes", "Forbidden bike", 123_456)
    database.do("ALTER TABLE listings ADD CHECK (price_cents <> 123456)")
    assert crawl("discovery", market=MARKET, max_details=0).returncode == 0
    truth = {
        path: listing
        for path, listing in listed(marketplace, "bikes").items()
        if listing.price_cents != 123_456
    }
    assert stored(database, MARKET) == truth
    run = database.last_run()
    assert (run.status, run.offers_dropped, run.reasons["refused_by_database"]) == ("finished", 1, 1)
    assert "listings_price_cents_check" in run.errors[0]["reason"]
    assert run.new_listings == len(truth)


def test_adapter_error_on_an_overview_page_fails_the_run(
    marketplace: Bazaar, database: Database, crawl: Crawl
) -> None:
    settings = {"ADDONS": json.dumps({"tests.spiders.broken.BreaksOnPageThree": 1})}
    ended = crawl("discovery", market=MARKET, settings=settings)
    assert ended.returncode == 1
    assert "pricewatch: page 3 of /c/bikes could not be read (unreadable: " in ended.stderr
    assert "ValueError: broken" in ended.stderr
    check_nothing_stored(database)
    assert database.last_run().status == "failed"


def test_adapter_error_on_a_product_page_loses_only_that_page(
    marketplace: Bazaar, database: Database, crawl: Crawl
) -> None:
    settings = {"ADDONS": json.dumps({"tests.spiders.broken.BreaksOnProducts": 1})}
    assert crawl("discovery", market=MARKET, max_details=3, settings=settings).returncode == 0
    run = database.last_run()
    assert (run.status, run.urls_attempted, run.urls_failed) == ("finished", 3, 3)
    assert "ValueError" in str(run.errors)
    assert stored(database, MARKET) == listed(marketplace, "bikes")


def test_offer_that_cannot_be_normalized_is_quarantined(
    marketplace: Bazaar, database: Database, crawl: Crawl
) -> None:
    settings = {"ADDONS": json.dumps({"tests.spiders.broken.BreaksOnOffers": 1})}
    assert crawl("discovery", market=MARKET, max_details=3, settings=settings).returncode == 0
    run = database.last_run()
    assert (run.status, run.offers_quarantined) == ("finished", 3)
    quarantined = database.rows("SELECT reason, details FROM quarantine")
    assert {row.reason for row in quarantined} == {"NORMALIZATION_FAILED"}
    assert {row.details["why"] for row in quarantined} == {"ValueError: broken"}
    assert stored(database, MARKET) == listed(marketplace, "bikes")


def test_pipeline_error_fails_the_run(marketplace: Bazaar, database: Database, crawl: Crawl) -> None:
    """A custom pipeline that raises an error."""
    settings = {"ITEM_PIPELINES": json.dumps({"tests.spiders.broken.BreaksOnTheSecondPage": 150})}
    ended = crawl("discovery", market=MARKET, settings=settings)
    assert ended.returncode == 1
    assert "pricewatch: a pipeline failed on an item (RuntimeError: broken)" in ended.stderr
    check_nothing_stored(database)
    assert database.last_run().status == "failed"
