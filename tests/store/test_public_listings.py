"""The listings of a market: all that it has listed, even if another market saw them later."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import event

from pricewatch.store.views import admin_listings, market_list, public_listings, stored_reports
from pricewatch.store.views.listing_filter import ListingFilter
from tests.databases import Database
from tests.store.observations import card, store

NOW = datetime.now(UTC)
FIRST, LAST = "bazaar-bikes", "bazaar-toys"


@pytest.fixture
def shared(database: Database) -> Database:
    """Three listings of one market; another market saw two of them later."""
    store(database.engine, [card(n, at=NOW) for n in (1, 2, 3)], market_id=FIRST)
    store(database.engine, [card(n, at=NOW) for n in (1, 2)], market_id=LAST)
    assert database.value("SELECT count(*) FROM listings WHERE market_id = :m", m=FIRST) == 1
    return database


def titles(rows: Any) -> set[str]:
    return {row["title"] for row in rows}


@pytest.mark.parametrize("words", [None, "thing"])
def test_listings_seen_later_by_another_market_stay_in_the_first(shared: Database, words: str | None) -> None:
    in_first = ListingFilter(market_id=FIRST, title_query=words)
    all_titles = {"Thing 1", "Thing 2", "Thing 3"}
    assert titles(shared.call(public_listings.listings, in_first, 10)[0]) == all_titles
    assert titles(public_listings.all_listings(shared.engine.connect, in_first, 10)) == all_titles
    assert titles(shared.call(admin_listings.listings_page, in_first, now=NOW, most=10)[0]) == all_titles
    in_stock = ListingFilter(market_id=FIRST, title_query=words, availability="IN_STOCK")
    assert titles(shared.call(public_listings.listings, in_stock, 10)[0]) == all_titles
    in_last = ListingFilter(market_id=LAST, title_query=words)
    assert titles(shared.call(public_listings.listings, in_last, 10)[0]) == {"Thing 1", "Thing 2"}


def test_commands_and_reports_list_the_same_listings(shared: Database) -> None:
    assert len(shared.call(market_list.latest_listings, FIRST, 10)) == 3
    assert len(shared.call(stored_reports.stored_listings, FIRST)) == 3


def nodes(plan: Any) -> Any:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


@pytest.mark.parametrize("before", [None, 10_000])
def test_page_of_a_market_is_read_from_its_index(database: Database, before: int | None) -> None:
    """The query scans no table and reads no more rows than a page has, whatever the number of listings."""
    database.do(
        "INSERT INTO listings (source_id, market_id, identity_key, url, canonical_url, title, price_cents,"
        " currency, availability, first_seen_at, last_seen_at)"
        " SELECT 'bazaar', :last, 'PID:' || n, 'https://x.example/' || n, 'https://x.example/' || n,"
        " 'Thing ' || n, n, 'EUR', 'IN_STOCK', now(), now() FROM generate_series(1, 20000) n",
        last=LAST,
    )
    database.do(
        "INSERT INTO market_listings (market_id, listing_id, first_seen_at)"
        " SELECT :first, id, now() FROM listings WHERE id % 10 = 0"
        " UNION ALL SELECT :last, id, now() FROM listings",
        first=FIRST,
        last=LAST,
    )
    database.do("ANALYZE")
    queries: list[tuple[str, Any]] = []
    event.listen(
        database.engine,
        "before_cursor_execute",
        lambda _c, _k, query, parameters, *_: queries.append((query, parameters)),
    )
    rows, _ = database.call(public_listings.listings, ListingFilter(market_id=FIRST, before_id=before), 50)
    assert len(rows) == 50
    query, parameters = next(pair for pair in queries if "market_listings" in pair[0])
    with database.engine.connect() as connection:
        explained = connection.exec_driver_sql(
            f"EXPLAIN (ANALYZE, COSTS OFF, FORMAT JSON) {query}", parameters
        )
        plan = list(nodes(explained.scalar_one()[0]["Plan"]))
    scans = [node for node in plan if node.get("Relation Name") in ("listings", "market_listings")]
    assert {node["Node Type"] for node in scans} <= {"Index Scan", "Index Only Scan"}
    members = [node for node in scans if node["Relation Name"] == "market_listings"]
    assert {node["Index Name"] for node in members} == {"pk_market_listings"}
    # One row more than the page, and no rows above its start.
    assert sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in members) <= 60
