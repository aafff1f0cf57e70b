"""Verification of a source: listings outside any market whose verification was requested."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.spiders.target_runs import fetch, known


def verify_source(world: Any, source: str = "bazaar") -> Any:
    world.advance(seconds=30)
    return world.crawler(
        "verification",
        database_url=world.database.url,
        ahead=world.bazaar.now() - datetime.now(UTC),
        source=source,
    )


def test_requested_verification_outside_any_market(world):
    (true, alive), ids = known(world, 2)
    world.bazaar.fault("status", path=true.url, status=404)
    fetch(world, ids=",".join(map(str, ids)))
    # The listing has no target any more: verification adds the second strike.
    world.database.do("DELETE FROM targets WHERE id = :id", id=ids[0])
    run = verify_source(world)
    assert (run["status"], run["counters"]["urls_attempted"], run["counters"]["gone"]) == ("finished", 1, 1)
    assert not world.listing(true).active
    assert world.listing(alive).active
    row = world.database.row("SELECT market_id, source_id FROM runs WHERE id = :id", id=run["id"])
    assert tuple(row) == (None, "bazaar")
    assert verify_source(world)["counters"].get("urls_attempted", 0) == 0


def test_verification_clears_strikes_of_existing_pages(world):
    (true,), (target_id,) = known(world)
    world.bazaar.fault("status", path=true.url, status=404)
    fetch(world, ids=target_id)
    world.bazaar.clear_faults()
    verify_source(world)
    listing = world.listing(true)
    assert (listing.strikes, listing.verification_status) == (0, "verified")
    assert listing.verification_requested_at is None


def test_verification_needs_either_a_market_or_a_source(world):
    for arguments in ({}, {"market": "bazaar-bikes", "source": "bazaar"}):
        run = world.crawler("verification", database_url=world.database.url, **arguments)
        assert "either -a market=ID or -a source=ID" in run["outcome"]
    world.database.do("UPDATE sources SET tos_approved_by = NULL WHERE id = 'bazaar'")
    run = world.crawler("verification", database_url=world.database.url, source="bazaar")
    assert "Nobody has approved" in run["outcome"]
