"""Verification: who is looked at, what counts as evidence, and what no trouble may ever cause."""

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


def test_nobody_is_asked_about_what_was_just_seen(known):
    run = known.crawl("verification")
    assert run["status"] == "finished"
    assert known.bazaar.log() == []


def test_alive(known):
    true = known.on_sale()[0]
    known.forget(true, hours=25)
    known.crawl("verification")
    listing = known.listing(true)
    assert listing.active
    assert (listing.verification_status, listing.strikes) == ("verified", 0)
    assert listing.last_verified_at is not None
    (attempt,) = attempts(known, true)
    assert (attempt.outcome, attempt.http_status, attempt.strike) == ("alive", 200, False)
    assert attempt.final_url.endswith(true.url)


def test_what_was_last_seen_at_a_time_that_never_came_is_looked_at(known):
    true = known.on_sale()[0]
    known.forget(true, hours=-9000)
    known.bazaar.change(true.id, end="404")
    known.crawl("verification")
    known.crawl("verification")
    assert not known.listing(true).active


@pytest.mark.parametrize("status", ["404", "410"])
def test_two_strikes_in_two_runs_make_it_gone(known, status):
    true = known.on_sale()[0]
    known.forget(true, hours=25)
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


def test_a_page_that_says_that_it_is_gone_is_conclusive_at_once(known):
    true = known.on_sale()[0]
    known.forget(true, hours=25)
    known.bazaar.change(true.id, end="soft")
    known.crawl("verification")
    assert not known.listing(true).active
    assert attempts(known, true)[0].marker == "main.item-gone"


def test_a_page_that_says_that_it_is_sold_gives_the_date(known):
    true = known.on_sale()[0]
    known.bazaar.change(true.id, end="sold")
    known.advance(hours=2)
    known.forget(true, hours=25)
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
def test_trouble_is_no_strike_and_is_tried_again(known, fault):
    true = known.on_sale()[0]
    known.forget(true, hours=25)
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


def test_a_site_that_moved_its_urls_has_not_sold_everything(known):
    gone = known.on_sale()[:25]
    for true in gone:
        known.forget(true, hours=25)
    known.bazaar.fault("status", path="^/item/", status=404)
    for _ in range(2):
        run = known.crawl("verification")
        assert run["status"] == "quarantined"
    assert known.database.value("SELECT count(*) FROM listings WHERE NOT active OR strikes > 0") == 0
    assert known.database.value("SELECT count(*) FROM verification_attempts WHERE strike") == 0
    alert = known.database.row("SELECT * FROM alerts")
    assert (alert.kind, alert.count, alert.resolved_at) == ("mass_gone", 2, None)


def test_a_page_that_is_there_counts_although_most_others_are_missing(known):
    """Else it would lose all trust while the site is in disorder, and be taken for gone."""
    *missing, there = known.on_sale()[:25]
    for true in (*missing, there):
        known.forget(true, hours=25)
    for true in missing:
        known.bazaar.fault("status", path=f"^{true.url}$", status=404)
    assert known.crawl("verification")["status"] == "quarantined"
    assert known.listing(there).verification_status == "verified"
    assert known.listing(there).last_verified_at is not None
    assert known.listing(missing[0]).verification_status is None


def test_seen_again_is_active_again_without_strikes(known):
    true = known.on_sale()[0]
    known.forget(true, hours=25)
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


def test_without_trust_and_unverified_it_is_inactive_without_a_request(known):
    true = known.on_sale()[0]
    known.forget(true, hours=34)
    run = known.crawl("verification")
    assert not known.listing(true).active
    assert known.asked(true.url) == []
    assert run["counters"]["gone"] == 1
    assert [attempt.outcome for attempt in attempts(known, true)] == ["expired"]


def test_after_days_without_any_crawl_nothing_is_concluded_from_silence(known):
    known.advance(days=3)
    run = known.crawl("verification")
    assert run["reasons"].get("verification/expired", 0) == 0
    assert run["counters"]["urls_attempted"] == 150
    up = [true for true in known.bazaar.truth("bikes") if true.state in ("on_sale", "out_of_stock")]
    assert all(known.listing(true).active for true in up if len(known_rows(known, true)) == 1)


def known_rows(world: Any, true: Any) -> Any:
    return world.database.rows("SELECT id FROM listings WHERE canonical_url LIKE :url", url=f"%{true.url}")


def test_the_least_certain_are_looked_at_first_and_no_more_than_the_cap(known):
    ordered = known.on_sale()[:5]
    for hours, true in enumerate(ordered, 25):
        known.forget(true, hours=hours)
    known.crawl("verification", max_listings=2)
    looked_at = [true.url for true in ordered if attempts(known, true)]
    assert looked_at == [ordered[3].url, ordered[4].url]


def test_head_where_the_status_tells_and_get_where_head_is_refused(known, crawl):
    settings = {"ADDONS": '{"tests.spiders.broken.NeedsOnlyTheStatus": 1}'}
    true = known.on_sale()[0]
    known.forget(true, hours=25)
    assert crawl("verification", market=known.market, settings=settings).returncode == 0
    assert known.asked(true.url) == ["HEAD"]
    known.bazaar.clear_log()
    known.forget(true, hours=25)
    known.database.do("UPDATE listings SET last_verified_at = NULL, verification_status = NULL")
    known.bazaar.behave(head="405")
    assert crawl("verification", market=known.market, settings=settings).returncode == 0
    assert known.asked(true.url) == ["HEAD", "GET"]
    assert known.listing(true).active


def test_get_where_the_adapter_has_to_read_the_page(known):
    true = known.on_sale()[0]
    known.forget(true, hours=25)
    known.crawl("verification")
    assert known.asked(true.url) == ["GET"]


def test_what_another_run_sees_meanwhile_is_better_evidence(known):
    """A listing that is seen between the look and the conclusion keeps its good name."""
    from pricewatch.store.writing import verification_rows

    true = known.on_sale()[0]
    known.forget(true, hours=25)
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
    known.database.call(verification_rows.apply, 1, [row], known.bazaar.now())
    assert known.listing(true).active
