"""The targets spider: which targets it checks, and how their outcome is stored."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from pricewatch.errors import UserError
from pricewatch.spiders.targets import TargetsSpider
from tests.spiders.target_runs import fetch, readable, target, watch
from tests.waiting import until


def test_due_targets_are_stored_and_scheduled_again(world):
    trues = readable(world, 5)
    ids = watch(world, trues)
    run = fetch(world)
    assert (run["status"], run["counters"]["urls_attempted"], run["new"]) == ("finished", 5, 5)
    for target_id, true in zip(ids, trues, strict=True):
        row = target(world, target_id)
        assert (row.last_status, row.consecutive_failures, row.queue_state) == ("SUCCESS", 0, "idle")
        assert (row.next_due_at.hour % 4, row.next_due_at.minute) == (0, 0)
        assert row.last_run_id == run["id"]
        assert world.listing(true).id == row.listing_id
        assert world.listing(true).price_cents == true.price
    assert fetch(world)["counters"].get("urls_attempted", 0) == 0
    world.bazaar.set_clock(max(target(world, one).next_due_at for one in ids))
    assert fetch(world)["counters"]["urls_attempted"] == 5
    # The same pages again: no history row is added.
    assert world.database.value("SELECT count(*) FROM price_history") == len(
        {(true.id, price) for true in trues for _, price in true.prices[-1:]}
    )


def test_highest_priority_comes_first(world):
    low, high = readable(world, 2)
    (low_id,) = watch(world, [low], priority=-1)
    (high_id,) = watch(world, [high], priority=50)
    fetch(world, max_targets=1)
    assert target(world, high_id).last_status == "SUCCESS"
    assert target(world, low_id).queue_state == "pending"
    fetch(world)
    assert target(world, low_id).last_status == "SUCCESS"


def test_five_failures_break_a_target_and_a_weekly_check_repairs_it(world):
    true = readable(world, 1)[0]
    (target_id,) = watch(world, [true])
    world.bazaar.fault("status", path=true.url, status=404)
    for failures in range(1, 6):
        assert fetch(world)["counters"]["urls_failed"] == 1
        row = target(world, target_id)
        assert (row.consecutive_failures, row.last_reason) == (failures, "http_error_404")
        assert row.status == ("BROKEN" if failures == 5 else "ACTIVE")
        world.bazaar.set_clock(row.next_due_at)
    assert row.next_due_at - row.last_scraped_at == timedelta(days=7)
    world.bazaar.clear_faults()
    fetch(world)
    assert (target(world, target_id).status, target(world, target_id).consecutive_failures) == ("ACTIVE", 0)


def test_out_of_stock_without_a_price_is_not_a_failure(world):
    true = readable(world, 1)[0]
    (target_id,) = watch(world, [true])
    world.bazaar.change(true.id, stock="hidden")
    run = fetch(world)
    assert run["counters"].get("urls_failed", 0) == 0
    row = target(world, target_id)
    assert (row.last_status, row.last_reason) == ("DROPPED", "OOS_NO_PRICE")
    assert row.consecutive_failures == 0


def test_out_of_stock_without_a_price_is_stored_for_a_listing(world):
    true = readable(world, 1)[0]
    watch(world, [true])
    fetch(world)
    world.bazaar.change(true.id, stock="hidden")
    world.bazaar.advance(days=1)
    fetch(world)
    listing = world.listing(true)
    assert (listing.price_cents, listing.availability) == (true.price, "OUT_OF_STOCK")
    rows = world.database.rows(
        "SELECT price_cents, availability FROM price_history WHERE listing_id = :id ORDER BY observed_at",
        id=listing.id,
    )
    assert [tuple(row) for row in rows] == [(true.price, "IN_STOCK"), (true.price, "OUT_OF_STOCK")]


def test_custom_selectors_override_the_adapter(world):
    wrong, true = readable(world, 2)
    (target_id,) = watch(world, [true], selectors={"title": "nav a", "price": "//strong[@class='price']"})
    (wrong_id,) = watch(world, [wrong], selectors={"price": ".nothing-has-this-class"})
    fetch(world)
    listing = world.listing(true)
    assert listing.title != true.title
    assert listing.price_cents == true.price
    assert target(world, target_id).last_status == "SUCCESS"
    quarantined = target(world, wrong_id)
    assert (quarantined.last_status, quarantined.last_reason) == ("QUARANTINED", "SELECTOR_FAILURE")
    (row,) = world.database.rows("SELECT reason, details FROM quarantine")
    assert row.reason == "SELECTOR_FAILURE"
    assert row.details["why"] == "price: nothing at .nothing-has-this-class"


def test_each_target_is_read_by_its_own_adapter(world):
    first, second = readable(world, 2)
    watch(world, [first])
    watch(world, [second], adapter_id="generic")
    watch(world, [readable(world, 3)[2]], adapter_id="no-such-adapter")
    run = fetch(world)
    assert run["new"] == 2
    batches = dict(world.database.rows("SELECT adapter_id, urls FROM adapter_batches"))
    assert batches == {"bazaar": 1, "generic": 1}
    assert world.listing(second).price_cents == second.price
    assert "no adapter" in world.database.value(
        "SELECT last_reason FROM targets WHERE adapter_id = 'no-such-adapter'"
    )


def test_two_targets_of_one_listing_add_one_price(world):
    true = readable(world, 1)[0]
    watch(world, [true])
    world.database.do(
        "INSERT INTO targets (source_id, adapter_id, url, canonical_url, next_due_at)"
        " SELECT source_id, adapter_id, url || '?v=1', canonical_url || '?v=1', next_due_at FROM targets"
    )
    run = fetch(world)
    assert run["reasons"]["dropped/DUPLICATE_WITHIN_RUN"] == 1
    outcomes = world.database.rows("SELECT last_status, consecutive_failures FROM targets ORDER BY 1")
    assert [tuple(row) for row in outcomes] == [("DROPPED", 0), ("SUCCESS", 0)]


def test_blocked_url_is_never_requested(world):
    blocked, free = readable(world, 2)
    (blocked_id, _) = watch(world, [blocked, free])
    world.database.do("UPDATE targets SET robots_path_blocked = true WHERE id = :id", id=blocked_id)
    fetch(world)
    fetch(world, ids=blocked_id)
    assert world.methods_used(blocked.url) == []
    assert world.methods_used(free.url) == ["GET"]
    assert target(world, blocked_id).last_reason == "BLOCKED_BY_ROBOTS_TXT"


def test_robots_txt_overrides_the_target(world):
    true = readable(world, 1)[0]
    (target_id,) = watch(world, [true])
    world.bazaar.robots("User-agent: *\nDisallow: /item/\n")
    run = fetch(world)
    assert world.methods_used(true.url) == []
    assert target(world, target_id).last_reason == "BLOCKED_BY_ROBOTS_TXT"
    # A request that was not sent does not count for the adapter.
    assert run["counters"]["urls_not_asked"] == 1
    assert world.database.value("SELECT urls FROM adapter_batches") == 0


def test_unapproved_source_is_not_fetched(world):
    trues = readable(world, 2)
    ids = watch(world, trues)
    world.database.do("UPDATE sources SET tos_approved_by = NULL WHERE id = 'bazaar'")
    assert fetch(world)["counters"].get("urls_attempted", 0) == 0
    for arguments in ({"ids": ids[0]}, {"source": "bazaar"}):
        run = fetch(world, **arguments)
        assert run["status"] == "error"
        assert "Nobody has approved" in run["outcome"]
    assert world.methods_used(trues[0].url) == []


def test_targets_given_by_id_are_fetched_even_if_not_due(world):
    trues = readable(world, 3)
    ids = watch(world, trues)
    fetch(world)
    run = fetch(world, ids=f"{ids[0]}, {ids[2]}")
    assert run["counters"]["urls_attempted"] == 2
    assert [len(world.methods_used(true.url)) for true in trues] == [2, 1, 2]


def test_price_jump_is_quarantined_with_its_page_until_another_run_agrees(world):
    true = readable(world, 1)[0]
    (target_id,) = watch(world, [true])
    fetch(world)
    world.bazaar.change(true.id, price=true.price * 5)
    run = fetch(world, ids=target_id)
    assert run["counters"]["offers_quarantined"] == 1
    labels = "bazaar", "bazaar", "VALIDATION_FAILED"
    assert world.metric("scrape_offers_quarantined_total", *labels) == 1
    row = target(world, target_id)
    assert (row.last_status, row.last_reason) == ("QUARANTINED", "VALIDATION_FAILED")
    assert world.listing(true).price_cents == true.price
    quarantined = world.database.row("SELECT * FROM quarantine")
    assert (quarantined.status, quarantined.target_id) == ("pending", target_id)
    assert quarantined.details["price_cents"] == true.price * 5
    assert quarantined.details["stored_price_cents"] == true.price
    assert quarantined.page_hash
    page = world.database.value(
        "SELECT page FROM quarantine_pages WHERE hash = :hash", hash=quarantined.page_hash
    )
    assert len(page) > 100
    run = fetch(world, ids=target_id)
    assert run["price_rows"] == 1
    assert world.listing(true).price_cents == true.price * 5
    assert world.database.value("SELECT status FROM quarantine") == "accepted"
    assert target(world, target_id).last_status == "SUCCESS"


def test_a_run_that_is_killed_loses_no_target(world, crawl):
    trues = readable(world, 6)
    ids = watch(world, trues)
    world.bazaar.fault("hang", path=trues[3].url)
    running = crawl.start("targets", settings={"TARGETS_LEASE_CHUNK": 4})
    leased = "SELECT count(*) FROM targets WHERE queue_state = 'leased'"
    done = "SELECT count(*) FROM targets WHERE last_status = 'SUCCESS'"
    until(lambda: world.database.value(done) >= 4 and world.database.value(leased) > 0)
    running.kill()
    running.end()
    world.bazaar.clear_faults()
    before = world.database.value(done)
    # The leases of the others expire by themselves.
    fetch(world)
    assert world.database.value(done) == before
    world.advance(minutes=10)
    fetch(world)
    assert world.database.value(done) == len(ids)
    assert world.database.value(leased) == 0


def test_stopped_run_releases_its_leases(world, crawl):
    watch(world, readable(world, 3))
    # One request per minute: robots.txt is first, the pages wait.
    world.database.do("UPDATE sources SET requests_per_second = 0.017 WHERE id = 'bazaar'")
    running = crawl.start("targets")
    leased = "SELECT count(*) FROM targets WHERE queue_state = 'leased'"
    until(lambda: world.methods_used("/robots.txt") and world.database.value(leased) == 3)
    running.terminate()
    assert running.end().returncode != 0
    states = world.database.rows("SELECT queue_state, consecutive_failures, last_status FROM targets")
    assert [tuple(row) for row in states] == [("pending", 0, None)] * 3


BAD_ARGUMENTS: list[tuple[dict[str, str], str]] = [
    ({"ids": "1,x"}, "cannot use -a ids"),
    ({"ids": "99"}, "There is no target 99"),
    ({"source": "nobody"}, "There is no source 'nobody'"),
    ({"url": "javascript:alert(1)"}, "cannot be checked"),
    ({"url": "https://a.example/1", "ids": "1"}, "give only one of source, ids and url"),
    ({"store": "yes"}, "need url"),
    ({"url": "https://new.example/1", "store": "yes"}, "scrapy targets add"),
    ({"url": "https://new.example/1", "selectors": "{"}, "must be JSON"),
    ({"url": "https://new.example/1", "selectors": '{"price": "a..b"}'}, "cannot be used"),
]


def test_invalid_arguments_are_reported_in_one_sentence(database):
    for arguments, sentence in BAD_ARGUMENTS:
        with pytest.raises(UserError, match=re.escape(sentence)) as caught:
            TargetsSpider.check(arguments)
        assert str(caught.value).endswith(".")
