"""Verification: which listings are checked, what counts as evidence, and that trouble never counts."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def known(world: Any) -> Any:
    """A market whose listings are all known and fresh."""
    world.crawl("discovery", max_details=0)
    world.bazaar.clear_log()
    return world


def attempts(world: Any, true: Any) -> Any:
    return world.database.rows(
        "SELECT a.* FROM verification_attempts a JOIN listings l ON l.id = a.listing_id"
        " WHERE l.canonical_url LIKE :url ORDER BY a.id",
        url=f"%{true.url}",
    )


def test_recently_seen_listings_are_not_verified(known):
    run = known.crawl("verification")
    assert run["status"] == "finished"
    assert known.bazaar.log() == []


def test_listing_whose_page_exists_is_verified(known):
    true = known.on_sale()[0]
    known.make_unseen(true, hours=25)
    known.crawl("verification")
    listing = known.listing(true)
    assert listing.active
    assert (listing.verification_status, listing.strikes) == ("verified", 0)
    assert listing.last_verified_at is not None
    (attempt,) = attempts(known, true)
    assert (attempt.outcome, attempt.http_status, attempt.strike) == ("alive", 200, False)
    assert attempt.final_url.endswith(true.url)


def test_listing_last_seen_in_the_future_is_verified(known):
    true = known.on_sale()[0]
    known.make_unseen(true, hours=-9000)
    known.bazaar.change(true.id, end="404")
    known.crawl("verification")
    known.crawl("verification")
    assert not known.listing(true).active


@pytest.mark.parametrize("status", ["404", "410"])
def test_two_strikes_in_two_runs_make_a_listing_gone(known, status):
    true = known.on_sale()[0]
    known.make_unseen(true, hours=25)
    known.bazaar.change(true.id, end=status)
    known.crawl("verification")
    listing = known.listing(true)
    assert listing.active
    assert (listing.verification_status, listing.strikes) == ("pending", 1)
    run = known.crawl("verification")
    listing = known.listing(true)
    assert not listing.active
    assert (listing.verification_status, listing.strikes) == ("gone", 2)
    assert listing.deactivated_at is not None
    assert run["counters"]["gone"] == 1
    assert [attempt.strike for attempt in attempts(known, true)] == [True, True]
    assert {attempt.http_status for attempt in attempts(known, true)} == {int(status)}


def test_page_that_says_gone_is_conclusive(known):
    true = known.on_sale()[0]
    known.make_unseen(true, hours=25)
    known.bazaar.change(true.id, end="soft")
    known.crawl("verification")
    assert not known.listing(true).active
    assert attempts(known, true)[0].marker == "main.item-gone"


def test_page_that_says_sold_gives_the_sold_date(known):
    true = known.on_sale()[0]
    known.bazaar.change(true.id, end="sold")
    known.advance(hours=2)
    known.make_unseen(true, hours=25)
    known.crawl("verification")
    listing = known.listing(true)
    assert not listing.active
    assert listing.availability == "SOLD"
    assert abs((known.bazaar.now() - listing.sold_at).total_seconds() - 7200) < 60
    history = known.database.rows(
        "SELECT availability FROM price_history WHERE listing_id = :id ORDER BY observed_at", id=listing.id
    )
    assert [availability for (availability,) in history] == ["IN_STOCK", "SOLD"]


@pytest.mark.parametrize(
    "fault",
    [
        {"action": "status", "status": 403},
        {"action": "status", "status": 500},
        {"action": "status", "status": 503},
        {"action": "rate_limit", "retry_after": 0},
        {"action": "reset"},
        {"action": "hang"},
        {"action": "captcha"},
        {"action": "empty"},
        {"action": "javascript_wall"},
        {"action": "redirect", "to": "/"},
        {"action": "redirect", "to": "/c/bikes"},
    ],
    ids=lambda fault: " ".join(str(value) for value in fault.values()),
)
def test_trouble_is_not_a_strike_and_is_retried(known, fault):
    true = known.on_sale()[0]
    known.make_unseen(true, hours=25)
    known.bazaar.fault(path=f"^{true.url}$", **fault)
    quick = {"DOWNLOAD_TIMEOUT": 0.5, "RETRY_ENABLED": False}
    for _ in range(2):
        known.crawl("verification", settings=quick)
        listing = known.listing(true)
        assert listing.active
        assert (listing.verification_status, listing.strikes) == ("pending", 0)
    assert [attempt.outcome for attempt in attempts(known, true)] == ["trouble", "trouble"]
    assert all(attempt.reason for attempt in attempts(known, true))
    known.bazaar.clear_faults()
    known.crawl("verification")
    assert known.listing(true).verification_status == "verified"


def test_mass_gone_adds_no_strikes(known):
    gone = known.on_sale()[:25]
    for true in gone:
        known.make_unseen(true, hours=25)
    known.bazaar.fault("status", path="^/item/", status=404)
    for _ in range(2):
        run = known.crawl("verification")
        assert run["status"] == "quarantined"
    assert known.database.value("SELECT count(*) FROM listings WHERE NOT active OR strikes > 0") == 0
    assert known.database.value("SELECT count(*) FROM verification_attempts WHERE strike") == 0
    alert = known.database.row("SELECT * FROM alerts")
    assert (alert.kind, alert.count, alert.resolved_at) == ("mass_gone", 2, None)


def test_existing_page_counts_although_most_others_are_missing(known):
    """Else its confidence would decay to zero while the site is in disorder."""
    *missing, there = known.on_sale()[:25]
    for true in (*missing, there):
        known.make_unseen(true, hours=25)
    for true in missing:
        known.bazaar.fault("status", path=f"^{true.url}$", status=404)
    assert known.crawl("verification")["status"] == "quarantined"
    assert known.listing(there).verification_status == "verified"
    assert known.listing(there).last_verified_at is not None
    assert known.listing(missing[0]).verification_status is None


def test_listing_seen_again_is_active_without_strikes(known):
    true = known.on_sale()[0]
    known.make_unseen(true, hours=25)
    known.bazaar.change(true.id, end="404")
    known.crawl("verification")
    known.crawl("verification")
    assert not known.listing(true).active
    known.bazaar.relist(true.id)
    known.advance(minutes=5)
    known.crawl("discovery", max_details=0)
    listing = known.listing(true)
    assert listing.active
    assert (listing.strikes, listing.verification_status, listing.deactivated_at) == (0, None, None)


def test_zero_confidence_and_unverified_is_inactive_without_a_request(known):
    true = known.on_sale()[0]
    known.make_unseen(true, hours=34)
    run = known.crawl("verification")
    assert not known.listing(true).active
    assert known.methods_used(true.url) == []
    assert run["counters"]["gone"] == 1
    assert [attempt.outcome for attempt in attempts(known, true)] == ["expired"]


def test_days_without_crawls_do_not_make_listings_inactive(known):
    known.advance(days=3)
    run = known.crawl("verification")
    assert run["reasons"].get("verification/expired", 0) == 0
    assert run["counters"]["urls_attempted"] == 150
    up = [true for true in known.bazaar.truth("bikes") if true.state in ("on_sale", "out_of_stock")]
    assert all(known.listing(true).active for true in up if len(known_rows(known, true)) == 1)


def known_rows(world: Any, true: Any) -> Any:
    return world.database.rows("SELECT id FROM listings WHERE canonical_url LIKE :url", url=f"%{true.url}")


def test_least_confident_listings_are_verified_first(known):
    ordered = known.on_sale()[:5]
    for hours, true in enumerate(ordered, 25):
        known.make_unseen(true, hours=hours)
    known.crawl("verification", max_listings=2)
    verified = [true.url for true in ordered if attempts(known, true)]
    assert verified == [ordered[3].url, ordered[4].url]


def test_get_is_used_if_head_is_refused(known, crawl):
    settings = {"ADDONS": '{"tests.spiders.broken.NeedsOnlyTheStatus": 1}'}
    true = known.on_sale()[0]
    known.make_unseen(true, hours=25)
    assert crawl("verification", market=known.market, settings=settings).returncode == 0
    assert known.methods_used(true.url) == ["HEAD"]
    known.bazaar.clear_log()
    known.make_unseen(true, hours=25)
    known.database.do("UPDATE listings SET last_verified_at = NULL, verification_status = NULL")
    known.bazaar.behave(head="405")
    assert crawl("verification", market=known.market, settings=settings).returncode == 0
    assert known.methods_used(true.url) == ["HEAD", "GET"]
    assert known.listing(true).active


def test_get_is_used_if_the_adapter_must_read_the_page(known):
    true = known.on_sale()[0]
    known.make_unseen(true, hours=25)
    known.crawl("verification")
    assert known.methods_used(true.url) == ["GET"]


def test_listing_seen_by_another_run_meanwhile_is_not_struck(known):
    """A listing seen between the check and the end of the run gets no strike."""
    from pricewatch.store.writing import verification_rows

    true = known.on_sale()[0]
    known.make_unseen(true, hours=25)
    stale = known.listing(true)
    known.crawl("sweep", max_details=0)
    row = {
        "listing_id": stale.id,
        "last_seen_at": stale.last_seen_at.isoformat(),
        "strikes": 2,
        "struck": True,
        "alive": False,
        "gone": True,
        "sold": False,
        "sold_at": None,
        "verification_status": "gone",
    }
    known.database.call(verification_rows.apply_results, 1, [row], known.bazaar.now())
    assert known.listing(true).active
