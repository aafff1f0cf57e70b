"""Targets whose page is gone: strikes with evidence, gone listings, and listings that return."""

from __future__ import annotations

from typing import Any

import pytest

from pricewatch.store.people import rule_evaluation
from pricewatch.store.people import watch_rules as rules
from tests.spiders.target_runs import attempts, fetch, known, readable, target, watch
from tests.waiting import until


def add_second_target(world: Any, target_id: int, suffix: str = "?v=1") -> int:
    """Add a second target of the same listing at another URL."""
    number: int = world.database.value(
        "INSERT INTO targets (source_id, adapter_id, url, canonical_url, next_due_at, listing_id)"
        " SELECT source_id, adapter_id, url || :suffix, canonical_url || :suffix, next_due_at, listing_id"
        " FROM targets WHERE id = :id RETURNING id",
        id=target_id,
        suffix=suffix,
    )
    return number


def messages(world: Any) -> list[str]:
    world.database.call(rule_evaluation.evaluate, world.bazaar.now())
    return [title for (title,) in world.database.rows("SELECT title FROM messages WHERE kind = 'watch'")]


@pytest.mark.parametrize("status", [404, 410])
def test_two_strikes_in_two_runs_make_a_listing_outside_any_market_gone(world, status):
    (true,), (target_id,) = known(world)
    listing = world.listing(true)
    world.database.call(rules.add, kind="gone", listing_id=listing.id, now=world.bazaar.now())
    world.bazaar.fault("status", path=true.url, status=status)
    first = fetch(world, ids=target_id)
    listing = world.listing(true)
    assert (listing.active, listing.strikes, listing.verification_status) == (True, 1, "pending")
    assert listing.verification_requested_at is not None
    assert target(world, target_id).missing_since is not None
    assert messages(world) == []
    second = fetch(world, ids=target_id)
    listing = world.listing(true)
    assert (listing.active, listing.strikes, listing.verification_status) == (False, 2, "gone")
    assert second["counters"]["gone"] == 1
    assert world.database.value("SELECT gone FROM runs WHERE id = :id", id=second["id"]) == 1
    evidence = attempts(world, listing.id)
    assert [(one.run_id, one.method, one.http_status, one.outcome, one.strike) for one in evidence] == [
        (first["id"], "GET", status, "not_found", True),
        (second["id"], "GET", status, "not_found", True),
    ]
    assert all(one.final_url.endswith(true.url) for one in evidence)
    (message,) = messages(world)
    assert "is gone" in message
    # Back again: active and without strikes, and no second notification.
    world.bazaar.clear_faults()
    fetch(world, ids=target_id)
    listing = world.listing(true)
    assert (listing.active, listing.strikes, listing.verification_status) == (True, 0, None)
    assert (listing.deactivated_at, target(world, target_id).missing_since) == (None, None)
    assert messages(world) == [message]


def test_page_that_says_gone_is_conclusive(world):
    (true,), (target_id,) = known(world)
    world.bazaar.change(true.id, end="soft")
    fetch(world, ids=target_id)
    listing = world.listing(true)
    assert (listing.active, listing.verification_status) == (False, "gone")
    (evidence,) = attempts(world, listing.id)
    assert (evidence.outcome, evidence.http_status, evidence.marker) == ("gone", 200, "main.item-gone")


def test_successful_check_clears_strikes_even_without_a_price(world):
    (true,), (target_id,) = known(world)
    for _ in range(2):
        world.bazaar.fault("status", path=true.url, status=404)
        fetch(world, ids=target_id)
        assert (world.listing(true).strikes, world.listing(true).active) == (1, True)
        world.bazaar.clear_faults()
        world.bazaar.change(true.id, stock="hidden")
        fetch(world, ids=target_id)
        listing = world.listing(true)
        assert (listing.strikes, listing.availability) == (0, "OUT_OF_STOCK")
        assert (listing.verification_status, listing.verification_requested_at) == ("verified", None)
    assert [one.outcome for one in attempts(world, listing.id)] == ["not_found", "alive"] * 2


def test_gone_listing_that_returns_without_a_price_is_out_of_stock(world):
    (true,), (target_id,) = known(world)
    world.bazaar.fault("status", path=true.url, status=404)
    fetch(world, ids=target_id)
    fetch(world, ids=target_id)
    assert not world.listing(true).active
    world.bazaar.clear_faults()
    world.bazaar.change(true.id, stock="hidden")
    fetch(world, ids=target_id)
    assert (world.listing(true).active, world.listing(true).availability) == (True, "OUT_OF_STOCK")


@pytest.mark.parametrize(
    "fault",
    [
        {"action": "status", "status": 500},
        {"action": "status", "status": 403},
        {"action": "captcha"},
        {"action": "empty"},
        {"action": "redirect", "to": "/c/bikes"},
        {"action": "redirect", "to": "/item/none-such"},
    ],
    ids=lambda fault: " ".join(str(value) for value in fault.values()),
)
def test_trouble_is_not_a_strike(world, fault):
    (true,), (target_id,) = known(world)
    world.bazaar.fault(path=f"^{true.url}$", **fault)
    for _ in range(2):
        fetch(world, ids=target_id, settings={"RETRY_ENABLED": False})
    listing = world.listing(true)
    assert (listing.active, listing.strikes, attempts(world, listing.id)) == (True, 0, [])
    assert target(world, target_id).missing_since is None


@pytest.mark.parametrize("action", ["captcha", "empty", "javascript_wall"])
def test_blocked_page_clears_no_strike(world, action):
    (true,), (target_id,) = known(world)
    world.bazaar.fault("status", path=true.url, status=404)
    fetch(world, ids=target_id)
    world.bazaar.clear_faults()
    world.bazaar.fault(action, path=f"^{true.url}$")
    fetch(world, ids=target_id, settings={"RETRY_ENABLED": False})
    assert (world.listing(true).strikes, world.listing(true).verification_status) == (1, "pending")


def test_listing_is_alive_if_one_target_is(world):
    (true,), (first,) = known(world)
    second, listing_id = add_second_target(world, first), world.listing(true).id

    def listing() -> Any:
        return world.database.row("SELECT * FROM listings WHERE id = :id", id=listing_id)

    world.bazaar.fault("status", path=f"{true.url}$", status=404)
    # The other target was read successfully; it counts, whether it is in the same run or not.
    fetch(world, ids=second)
    for ids in (first, f"{first},{second}", first):
        fetch(world, ids=ids)
    assert (listing().active, listing().strikes) == (True, 0)
    assert [one.strike for one in attempts(world, listing_id)] == [False] * 3
    # Trouble at the other target does not count; strikes count only when its page is gone too.
    world.bazaar.fault("status", path=f"{true.url}\\?v=1$", status=503)
    for _ in range(2):
        fetch(world, ids=f"{first},{second}", settings={"RETRY_ENABLED": False})
    assert listing().strikes == 0
    world.bazaar.clear_faults()
    world.bazaar.fault("status", path=true.url, status=404)
    fetch(world, ids=f"{first},{second}")
    assert (listing().strikes, listing().active) == (1, True)
    fetch(world, ids=first)
    assert not listing().active


def test_paused_target_does_not_keep_a_listing_alive(world):
    (true,), (first,) = known(world)
    second = add_second_target(world, first)
    world.database.do("UPDATE targets SET status = 'PAUSED' WHERE id = :id", id=second)
    world.bazaar.fault("status", path=true.url, status=404)
    fetch(world, ids=first)
    fetch(world, ids=first)
    assert not world.listing(true).active


def test_verification_adds_the_second_strike_in_a_market(world):
    world.crawl("discovery", max_details=0)
    true = readable(world, 1)[0]
    (target_id,) = watch(world, [true])
    world.bazaar.change(true.id, end="404")
    fetch(world, ids=target_id)
    assert (world.listing(true).strikes, world.listing(true).active) == (1, True)
    world.crawl("verification")
    assert not world.listing(true).active
    assert [one.strike for one in attempts(world, world.listing(true).id)] == [True, True]


def test_market_url_of_a_listing_overrides_its_old_target(world):
    world.crawl("discovery", max_details=0)
    true = readable(world, 1)[0]
    (target_id,) = watch(world, [true])
    old = add_second_target(world, target_id, "-as-it-was")
    world.database.do("DELETE FROM targets WHERE id = :id", id=target_id)
    for _ in range(3):
        fetch(world, ids=old)
    listing = world.listing(true)
    assert (listing.active, listing.strikes) == (True, 0)
    # Verification checks the listing's own page, which exists.
    assert listing.verification_requested_at is not None
    world.crawl("verification")
    assert world.listing(true).verification_status == "verified"


def test_target_without_listing_gets_no_strike(world):
    true = readable(world, 1)[0]
    (target_id,) = watch(world, [true])
    world.bazaar.fault("status", path=true.url, status=404)
    for _ in range(5):
        fetch(world, ids=target_id)
    assert target(world, target_id).status == "BROKEN"
    assert world.database.value("SELECT count(*) FROM verification_attempts") == 0
    assert world.database.value("SELECT count(*) FROM alerts WHERE kind = 'mass_gone'") == 0


@pytest.mark.proof
def test_stopped_run_adds_no_strike(world, crawl):
    (true, other), ids = known(world, 2)
    world.bazaar.fault("status", path=true.url, status=404)
    world.bazaar.fault("hang", path=other.url)
    world.database.do("UPDATE targets SET next_due_at = now() - interval '1 hour'")
    running = crawl.start("targets", settings={"DOWNLOAD_TIMEOUT": 5})
    failed = "SELECT last_reason FROM targets WHERE id = :id"
    until(lambda: world.database.value(failed, id=ids[0]) == "http_error_404")
    running.terminate()
    running.end()
    listing = world.listing(true)
    assert (listing.strikes, attempts(world, listing.id)) == (0, [])
