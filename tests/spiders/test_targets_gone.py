"""A target whose page is gone: strikes with evidence, the listing's end, and its return."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pricewatch.store.people import watch_rules as rules
from tests.spiders.watching import fetch, readable, target, watch
from tests.waiting import until


def attempts(world: Any, listing_id: int) -> list[Any]:
    return list(
        world.database.rows(
            "SELECT * FROM verification_attempts WHERE listing_id = :id ORDER BY id", id=listing_id
        )
    )


def known(world: Any, count: int = 1) -> tuple[list[Any], list[int]]:
    """Targets that were read once."""
    trues = readable(world, count)
    ids = watch(world, trues)
    fetch(world)
    return trues, ids


def also_at(world: Any, target_id: int, suffix: str = "?v=1") -> int:
    """A second target of the same listing, at another address."""
    number: int = world.database.value(
        "INSERT INTO targets (source_id, adapter_id, url, canonical_url, next_due_at, listing_id)"
        " SELECT source_id, adapter_id, url || :suffix, canonical_url || :suffix, next_due_at, listing_id"
        " FROM targets WHERE id = :id RETURNING id",
        id=target_id,
        suffix=suffix,
    )
    return number


def messages(world: Any) -> list[str]:
    world.database.call(rules.evaluate, world.bazaar.now())
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
    (told,) = messages(world)
    assert "is gone" in told
    # Back again: active, without strikes, and nobody is told twice.
    world.bazaar.clear_faults()
    fetch(world, ids=target_id)
    listing = world.listing(true)
    assert (listing.active, listing.strikes, listing.verification_status) == (True, 0, None)
    assert (listing.deactivated_at, target(world, target_id).missing_since) == (None, None)
    assert messages(world) == [told]


def test_a_page_that_says_that_it_is_gone_is_conclusive_at_once(world):
    (true,), (target_id,) = known(world)
    world.bazaar.change(true.id, end="soft")
    fetch(world, ids=target_id)
    listing = world.listing(true)
    assert (listing.active, listing.verification_status) == (False, "gone")
    (evidence,) = attempts(world, listing.id)
    assert (evidence.outcome, evidence.http_status, evidence.marker) == ("gone", 200, "main.item-gone")


def test_a_good_look_clears_strikes_even_if_it_shows_no_price(world):
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


def test_a_gone_listing_whose_page_is_back_without_a_price_is_active_and_out_of_stock(world):
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
def test_trouble_is_no_strike(world, fault):
    (true,), (target_id,) = known(world)
    world.bazaar.fault(path=f"^{true.url}$", **fault)
    for _ in range(2):
        fetch(world, ids=target_id, settings={"RETRY_ENABLED": False})
    listing = world.listing(true)
    assert (listing.active, listing.strikes, attempts(world, listing.id)) == (True, 0, [])
    assert target(world, target_id).missing_since is None


@pytest.mark.parametrize("action", ["captcha", "empty", "javascript_wall"])
def test_a_wall_clears_no_strike(world, action):
    (true,), (target_id,) = known(world)
    world.bazaar.fault("status", path=true.url, status=404)
    fetch(world, ids=target_id)
    world.bazaar.clear_faults()
    world.bazaar.fault(action, path=f"^{true.url}$")
    fetch(world, ids=target_id, settings={"RETRY_ENABLED": False})
    assert (world.listing(true).strikes, world.listing(true).verification_status) == (1, "pending")


def test_alive_at_one_target_is_alive(world):
    (true,), (first,) = known(world)
    second, listing_id = also_at(world, first), world.listing(true).id

    def listing() -> Any:
        return world.database.row("SELECT * FROM listings WHERE id = :id", id=listing_id)

    world.bazaar.fault("status", path=f"{true.url}$", status=404)
    # The other one was read well once; it vouches, whether it is in the same run or not.
    fetch(world, ids=second)
    for ids in (first, f"{first},{second}", first):
        fetch(world, ids=ids)
    assert (listing().active, listing().strikes) == (True, 0)
    assert [one.strike for one in attempts(world, listing_id)] == [False] * 3
    # Trouble at the other one says nothing; only when its page is gone too, strikes count.
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


def test_a_paused_target_vouches_for_nothing(world):
    (true,), (first,) = known(world)
    second = also_at(world, first)
    world.database.do("UPDATE targets SET status = 'PAUSED' WHERE id = :id", id=second)
    world.bazaar.fault("status", path=true.url, status=404)
    fetch(world, ids=first)
    fetch(world, ids=first)
    assert not world.listing(true).active


def test_a_listing_in_a_market_gets_its_second_strike_from_verification(world):
    world.crawl("discovery", max_details=0)
    true = readable(world, 1)[0]
    (target_id,) = watch(world, [true])
    world.bazaar.change(true.id, end="404")
    fetch(world, ids=target_id)
    assert (world.listing(true).strikes, world.listing(true).active) == (1, True)
    world.crawl("verification")
    assert not world.listing(true).active
    assert [one.strike for one in attempts(world, world.listing(true).id)] == [True, True]


def test_a_market_that_shows_the_listing_elsewhere_knows_better_than_its_old_target(world):
    world.crawl("discovery", max_details=0)
    true = readable(world, 1)[0]
    (target_id,) = watch(world, [true])
    old = also_at(world, target_id, "-as-it-was")
    world.database.do("DELETE FROM targets WHERE id = :id", id=target_id)
    for _ in range(3):
        fetch(world, ids=old)
    listing = world.listing(true)
    assert (listing.active, listing.strikes) == (True, 0)
    # Verification looks at the listing's own page, and finds it.
    assert listing.verification_requested_at is not None
    world.crawl("verification")
    assert world.listing(true).verification_status == "verified"


def test_a_target_that_never_had_a_listing_has_nothing_to_strike(world):
    true = readable(world, 1)[0]
    (target_id,) = watch(world, [true])
    world.bazaar.fault("status", path=true.url, status=404)
    for _ in range(5):
        fetch(world, ids=target_id)
    assert target(world, target_id).status == "BROKEN"
    assert world.database.value("SELECT count(*) FROM verification_attempts") == 0
    assert world.database.value("SELECT count(*) FROM alerts WHERE kind = 'mass_gone'") == 0


def verify_source(world: Any, source: str = "bazaar") -> Any:
    world.advance(seconds=30)
    return world.crawler(
        "verification",
        database_url=world.database.url,
        ahead=world.bazaar.now() - datetime.now(UTC),
        source=source,
    )


def test_verification_takes_what_was_handed_over_outside_any_market(world):
    (true, alive), ids = known(world, 2)
    world.bazaar.fault("status", path=true.url, status=404)
    fetch(world, ids=",".join(map(str, ids)))
    # Nobody watches it any longer: verification ends what was begun.
    world.database.do("DELETE FROM targets WHERE id = :id", id=ids[0])
    run = verify_source(world)
    assert (run["status"], run["counters"]["urls_attempted"], run["counters"]["gone"]) == ("finished", 1, 1)
    assert not world.listing(true).active
    assert world.listing(alive).active
    row = world.database.row("SELECT market_id, source_id FROM runs WHERE id = :id", id=run["id"])
    assert tuple(row) == (None, "bazaar")
    assert verify_source(world)["counters"].get("urls_attempted", 0) == 0


def test_verification_clears_what_is_there_after_all(world):
    (true,), (target_id,) = known(world)
    world.bazaar.fault("status", path=true.url, status=404)
    fetch(world, ids=target_id)
    world.bazaar.clear_faults()
    verify_source(world)
    listing = world.listing(true)
    assert (listing.strikes, listing.verification_status) == (0, "verified")
    assert listing.verification_requested_at is None


def test_verification_wants_either_a_market_or_a_source(world):
    for arguments in ({}, {"market": "bazaar-bikes", "source": "bazaar"}):
        run = world.crawler("verification", database_url=world.database.url, **arguments)
        assert "either -a market=ID or -a source=ID" in run["outcome"]
    world.database.do("UPDATE sources SET tos_approved_by = NULL WHERE id = 'bazaar'")
    run = world.crawler("verification", database_url=world.database.url, source="bazaar")
    assert "Nobody has approved" in run["outcome"]


def test_most_pages_of_one_source_missing_at_once_is_no_strike_but_an_alert(world):
    """Another source in the same run is not affected."""
    trues = readable(world, 26)
    ids = watch(world, trues)
    world.database.do(
        "INSERT INTO sources (id, name, adapter_id, domain, base_url, tos_approved_by, requests_per_second,"
        " min_delay_ms, max_concurrent) VALUES ('other', 'other', 'bazaar', '127.0.0.1', 'http://other.test',"
        " 'a test', 1000, 0, 16)"
    )
    world.database.do("UPDATE targets SET source_id = 'other' WHERE id = :id", id=ids[-1])
    fetch(world)
    world.bazaar.fault("status", path="^/item/", status=404)
    quiet = {"RETRY_ENABLED": False}
    for runs in (1, 2):
        world.database.do("UPDATE targets SET next_due_at = :now", now=world.bazaar.now())
        world.database.do("UPDATE adapter_status SET enabled = true")
        run = fetch(world, settings=quiet)
        assert run["counters"]["urls_attempted"] == 26
        assert run["reasons"]["targets/mass_gone"] == 1
        struck = "SELECT count(*) FROM listings WHERE source_id = :id AND (strikes > 0 OR NOT active)"
        assert world.database.value(struck, id="bazaar") == 0
        assert world.database.value(struck, id="other") == 1
        alert = world.database.row("SELECT * FROM alerts WHERE kind = 'mass_gone'")
        assert (alert.subject, alert.count, alert.resolved_at) == ("bazaar", runs, None)
    assert "25 of 25" in alert.message
    # The evidence is kept all the same.
    assert world.database.value("SELECT count(*) FROM verification_attempts WHERE NOT strike") == 50
    assert not world.database.value("SELECT active FROM listings WHERE source_id = 'other'")
    assert world.database.value("SELECT count(*) FROM alerts WHERE kind = 'mass_gone'") == 1
    world.bazaar.clear_faults()
    world.database.do("UPDATE adapter_status SET enabled = true")
    fetch(world, ids=ids[0])
    assert world.database.value("SELECT resolved_at FROM alerts WHERE kind = 'mass_gone'") is not None


def test_pages_that_were_gone_before_are_no_mass(world):
    """Twenty dead targets do not keep the one that dies today from being struck."""
    trues, ids = known(world, 22)
    world.database.do(
        "UPDATE listings SET active = false, verification_status = 'gone', strikes = 2"
        " FROM targets t WHERE t.listing_id = listings.id AND t.id = ANY(:ids)",
        ids=ids[:20],
    )
    for true in trues[:21]:
        world.bazaar.change(true.id, end="404")
    fetch(world, ids=",".join(map(str, ids)))
    assert world.listing(trues[20]).strikes == 1
    assert world.database.value("SELECT count(*) FROM alerts WHERE kind = 'mass_gone'") == 0


def test_a_run_that_is_stopped_halfway_counts_no_strike(world, crawl):
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
