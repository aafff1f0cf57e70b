"""The dispatcher queues verification by source for requested listings that are in no market."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from tests.databases import Database
from tests.scheduling.dispatching import NOW, make_market, no_sample_markets, run_tick

MINUTE = timedelta(minutes=1)
__all__ = ["no_sample_markets"]
pytestmark = pytest.mark.usefixtures("no_sample_markets")


def request_verification(database: Database, source: str, at: datetime, market: str | None = None) -> None:
    database.do(
        "INSERT INTO listings (source_id, market_id, identity_key, url, canonical_url, title, availability,"
        " first_seen_at, last_seen_at, verification_requested_at)"
        " VALUES (:source, :market, 'PID:' || :source, :source, :source, 'It', 'IN_STOCK', :at, :at, :at)",
        source=source,
        market=market,
        at=at,
    )


def verification_sources(database: Database) -> list[str]:
    rows = database.rows("SELECT arguments->>'source' FROM jobs WHERE spider = 'verification' ORDER BY id")
    return [source for (source,) in rows]


def test_requested_listings_without_a_market_are_verified_by_source(database: Database) -> None:
    hour = timedelta(hours=1)
    database.do(
        "INSERT INTO sources (id, name, adapter_id, domain, base_url, tos_approved_by)"
        " SELECT id, id, 'generic', id, 'https://' || id, CASE WHEN id <> 'unread' THEN 'a test' END"
        " FROM unnest(ARRAY['later', 'listed', 'shop', 'unread']) AS id"
    )
    make_market(database, source_id="listed", enabled=False)
    request_verification(database, "shop", NOW - hour)
    request_verification(database, "unread", NOW - hour)
    request_verification(database, "later", NOW - hour / 2)
    request_verification(database, "listed", NOW - hour, market="m")
    run_tick(database)
    assert verification_sources(database) == ["shop"]
    # It is not queued again while it waits, or within an hour after it began.
    run_tick(database, NOW + MINUTE)
    assert verification_sources(database) == ["shop"]
    database.do("DELETE FROM jobs")
    database.do(
        "INSERT INTO runs (spider, source_id, status, started_at, heartbeat_at)"
        " VALUES ('verification', 'shop', 'finished', :now, :now)",
        now=NOW,
    )
    run_tick(database, NOW + 45 * MINUTE)
    assert verification_sources(database) == ["later"]
    run_tick(database, NOW + hour + MINUTE)
    assert verification_sources(database) == ["later", "shop"]
    database.do("UPDATE listings SET verification_requested_at = NULL")
    database.do("DELETE FROM jobs")
    run_tick(database, NOW + 5 * hour)
    assert verification_sources(database) == []


def test_a_custom_spider_named_verification_does_not_count_as_verification(
    database: Database,
) -> None:
    request_verification(database, "bazaar", NOW - timedelta(hours=1))
    database.do(
        "INSERT INTO runs (spider, source_id, adapter_id, status, started_at, heartbeat_at)"
        " SELECT 'verification', 'bazaar', 'spider:verification', status, :now, :now"
        " FROM unnest(ARRAY['running', 'finished']) AS status",
        now=NOW,
    )
    run_tick(database, NOW + MINUTE)
    assert verification_sources(database) == ["bazaar"]
