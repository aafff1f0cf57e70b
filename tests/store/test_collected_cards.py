"""Cards that a discovery run collects page by page, and stores all together or not at all."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection

from pricewatch.store.writing import collected_cards, run_rows
from pricewatch.store.writing.batch import Batch, BatchWriter, WriteUnit
from pricewatch.store.writing.incoming_rows import Row
from pricewatch.vocabulary import Availability
from tests.databases import Database, Server
from tests.store.observations import MARKET, REFUSED_CARDS, START, WRITES, card, later, store

# Keys of the cards that cannot even be collected.
UNCOLLECTABLE = {"PID:90", "PID:91", "PID:103", "PID:104"}


@pytest.fixture
def run_id(database: Database) -> int:
    run_id: int = database.call(run_rows.open_run, now=START, spider="discovery", market_id=MARKET)
    return run_id


def collect(database: Database, run_id: int, page: int, rows: list[Row]) -> tuple[int, list[tuple[Row, str]]]:
    """Collect cards and count them in the run's row, as the pipelines do; return how many are new."""
    new = 0

    def collect_rows(connection: Connection, batch: Batch) -> None:
        nonlocal new
        for unit in batch.units:
            new = collected_cards.collect(connection, run_id, "/c/bikes", page, unit.rows)
            run_rows.update_run(connection, run_id, {"cards": len(unit.rows)}, {})

    unit = WriteUnit(rows, collect_only=True)
    with database.engine.connect() as connection:
        BatchWriter([collect_rows], run_id, MARKET).store(connection, [unit])
    return new, unit.refused


def commit(database: Database, run_id: int, most: int = 100) -> tuple[WriteUnit, list[tuple[int, str]]]:
    new: list[tuple[int, str]] = []

    def conclude(connection: Connection, _: Batch) -> None:
        new[:] = collected_cards.new_listings(connection, run_id, most)
        collected_cards.clear(connection, run_id)

    unit = collected_cards.CollectedUnit([], run_id=run_id)
    with database.engine.connect() as connection:
        BatchWriter([*WRITES, conclude], run_id, MARKET).store(connection, [unit])
    return unit, new


def test_listings_are_stored_and_cards_deleted_at_the_commit_only(database: Database, run_id: int) -> None:
    collect(database, run_id, 1, [card(1), card(2)])
    collect(database, run_id, 2, [card(3)])
    assert database.value("SELECT count(*) FROM listings") == 0
    unit, new = commit(database, run_id)
    assert (unit.counts.new, unit.counts.price_rows) == (3, 3)
    assert len(new) == 3
    assert database.value("SELECT count(*) FROM collected_cards") == 0
    assert database.value("SELECT count(*) FROM listings") == 3


def test_cards_are_new_if_neither_stored_nor_collected_before(database: Database, run_id: int) -> None:
    store(database.engine, [card(1)])
    first, _ = collect(database, run_id, 1, [card(1), card(2), card(9, url="https://bazaar.example/item/1")])
    second, _ = collect(database, run_id, 2, [card(2), card(3)])
    assert (first, second) == (1, 1)


def test_a_listing_on_several_pages_is_stored_once_as_it_was_seen_last(
    database: Database, run_id: int
) -> None:
    collect(database, run_id, 1, [card(1, 1000, later(0))])
    collect(database, run_id, 2, [card(1, 900, later(1)), card(2, at=later(1))])
    # The same URL with another id: the site changed it during the crawl.
    collect(database, run_id, 3, [card(3, 800, later(2), url="https://bazaar.example/item/2")])
    unit, _ = commit(database, run_id)
    assert unit.counts.new == 2
    assert [
        tuple(row) for row in database.rows("SELECT identity_key, price_cents FROM listings ORDER BY 1")
    ] == [
        ("PID:1", 900),
        ("PID:3", 800),
    ]
    assert database.value("SELECT count(*) FROM price_history") == 2


def test_new_listings_on_sale_are_returned_in_the_order_of_the_site(database: Database, run_id: int) -> None:
    store(database.engine, [card(1)], run_id=99)
    collect(database, run_id, 1, [card(1, at=later(1)), card(9, at=later(1)), card(2, at=later(1))])
    collect(database, run_id, 2, [card(3, at=later(2)), card(4, at=later(2), availability=Availability.SOLD)])
    _, new = commit(database, run_id, most=10)
    assert [url.rpartition("/")[2] for _, url in new] == ["9", "2", "3"]
    ids = dict(database.rows("SELECT url, id FROM listings"))
    assert [listing_id for listing_id, _ in new] == [ids[url] for _, url in new]


def test_refused_cards_are_excluded_with_their_reasons(database: Database, run_id: int) -> None:
    _, refused = collect(database, run_id, 1, [card(1), *REFUSED_CARDS.values(), card(2)])
    when_collected = {row["identity_key"] for row, _ in refused}
    assert when_collected == UNCOLLECTABLE
    assert database.value("SELECT count(*) FROM collected_cards") == 2 + len(REFUSED_CARDS) - len(
        UNCOLLECTABLE
    )
    collect(database, run_id, 2, [card(n) for n in range(3, 80)])
    unit, new = commit(database, run_id)
    at_commit = {row["identity_key"] for row, _ in unit.refused}
    assert when_collected | at_commit == {row["identity_key"] for row in REFUSED_CARDS.values()}
    assert unit.counts.new == unit.counts.price_rows == 79
    assert len(new) == 79
    assert database.value("SELECT count(*) FROM listings") == 79
    assert database.value("SELECT count(*) FROM collected_cards") == 0


def test_cards_lost_in_a_crash_of_the_server_prevent_the_commit(
    server: Server, database: Database, run_id: int
) -> None:
    database.do(f"ALTER DATABASE {database.engine.url.database} SET synchronous_commit = on")
    database.engine.dispose()
    collect(database, run_id, 1, [card(1), card(2)])
    server.restart("immediate")
    database.engine.dispose()
    collect(database, run_id, 2, [card(3)])
    with pytest.raises(
        collected_cards.CollectionLost, match="nothing was stored, and the next run starts over"
    ):
        commit(database, run_id)
    assert database.value("SELECT count(*) FROM listings") == 0


def test_a_stale_run_commits_nothing(database: Database, run_id: int) -> None:
    collect(database, run_id, 1, [card(1)])
    database.call(run_rows.mark_stale, run_id, later(60), "no heartbeat")
    with pytest.raises(collected_cards.CollectionLost):
        commit(database, run_id)


def test_thousands_of_cards_are_stored_in_one_commit(database: Database, run_id: int) -> None:
    for page in range(30):
        collect(database, run_id, page, [card(page * 90 + n, 100 + n, later(page)) for n in range(90)])
    unit, new = commit(database, run_id)
    assert (unit.counts.new, len(new)) == (2700, 100)
    assert database.value("SELECT count(*) FROM price_history") == 2700
