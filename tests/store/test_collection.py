"""What a discovery run collects: kept aside page by page, committed as a whole or not at all."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection

from pricewatch.store.writing import collected_cards, run_rows
from pricewatch.store.writing.batch import Batch, BatchWriter, WriteUnit
from pricewatch.store.writing.incoming_rows import Row
from pricewatch.vocabulary import Availability
from tests.databases import Database, Server
from tests.store.observations import MARKET, START, WRITES, card, later, store
from tests.store.test_batch_refusals import BAD

UNCOLLECTABLE = {"PID:90", "PID:91", "PID:103", "PID:104"}


@pytest.fixture
def run_id(database: Database) -> int:
    number: int = database.call(run_rows.open_run, now=START, spider="discovery", market_id=MARKET)
    return number


def collect(database: Database, run_id: int, page: int, rows: list[Row]) -> tuple[int, list[tuple[Row, str]]]:
    """As the pipelines do it: the cards, and their number on the run's row."""
    new = 0

    def keep(connection: Connection, batch: Batch) -> None:
        nonlocal new
        for unit in batch.units:
            new = collected_cards.collect(connection, run_id, "/c/bikes", page, unit.rows)
            run_rows.record(connection, run_id, {"cards": len(unit.rows)}, {})

    unit = WriteUnit(rows, set_aside=True)
    with database.engine.connect() as connection:
        BatchWriter([keep], run_id, MARKET).store(connection, [unit])
    return new, unit.refused


def commit(database: Database, run_id: int, most: int = 100) -> tuple[WriteUnit, list[tuple[int, str]]]:
    wanted: list[tuple[int, str]] = []

    def conclude(connection: Connection, _: Batch) -> None:
        wanted[:] = collected_cards.new_listings(connection, run_id, most)
        collected_cards.clear(connection, run_id)

    unit = collected_cards.CollectedUnit([], run_id=run_id)
    with database.engine.connect() as connection:
        BatchWriter([*WRITES, conclude], run_id, MARKET).store(connection, [unit])
    return unit, wanted


def test_nothing_is_stored_before_the_commit_and_nothing_left_after_it(
    database: Database, run_id: int
) -> None:
    collect(database, run_id, 1, [card(1), card(2)])
    collect(database, run_id, 2, [card(3)])
    assert database.value("SELECT count(*) FROM listings") == 0
    unit, wanted = commit(database, run_id)
    assert (unit.counts.new, unit.counts.price_rows) == (3, 3)
    assert len(wanted) == 3
    assert database.value("SELECT count(*) FROM collected_cards") == 0
    assert database.value("SELECT count(*) FROM listings") == 3


def test_new_is_what_neither_the_market_nor_this_run_has_shown(database: Database, run_id: int) -> None:
    store(database.engine, [card(1)])
    first, _ = collect(database, run_id, 1, [card(1), card(2), card(9, url="https://bazaar.example/item/1")])
    second, _ = collect(database, run_id, 2, [card(2), card(3)])
    assert (first, second) == (1, 1)


def test_a_listing_that_moved_from_page_to_page_is_stored_once_as_it_was_last(
    database: Database, run_id: int
) -> None:
    collect(database, run_id, 1, [card(1, 1000, later(0))])
    collect(database, run_id, 2, [card(1, 900, later(1)), card(2, at=later(1))])
    # The same address under another number: the site renumbered it while we read.
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


def test_pages_are_wanted_of_new_listings_on_sale_in_the_order_of_the_site(
    database: Database, run_id: int
) -> None:
    store(database.engine, [card(1)], run_id=99)
    collect(database, run_id, 1, [card(1, at=later(1)), card(9, at=later(1)), card(2, at=later(1))])
    collect(database, run_id, 2, [card(3, at=later(2)), card(4, at=later(2), availability=Availability.SOLD)])
    _, wanted = commit(database, run_id, most=10)
    assert [url.rpartition("/")[2] for _, url in wanted] == ["9", "2", "3"]
    ids = dict(database.rows("SELECT url, id FROM listings"))
    assert [listing_id for listing_id, _ in wanted] == [ids[url] for _, url in wanted]


def test_bad_cards_are_left_out_with_their_reasons(database: Database, run_id: int) -> None:
    _, refused = collect(database, run_id, 1, [card(1), *BAD.values(), card(2)])
    at_once = {row["identity_key"] for row, _ in refused}
    assert at_once == UNCOLLECTABLE
    assert database.value("SELECT count(*) FROM collected_cards") == 2 + len(BAD) - len(UNCOLLECTABLE)
    collect(database, run_id, 2, [card(n) for n in range(3, 80)])
    unit, wanted = commit(database, run_id)
    at_commit = {row["identity_key"] for row, _ in unit.refused}
    assert at_once | at_commit == {row["identity_key"] for row in BAD.values()}
    assert unit.counts.new == unit.counts.price_rows == 79
    assert len(wanted) == 79
    assert database.value("SELECT count(*) FROM listings") == 79
    assert database.value("SELECT count(*) FROM collected_cards") == 0


def test_a_collection_that_a_crash_of_the_server_emptied_is_not_committed(
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


def test_a_run_that_was_given_up_commits_nothing(database: Database, run_id: int) -> None:
    collect(database, run_id, 1, [card(1)])
    database.call(run_rows.mark_stale, run_id, later(60), "no sign of life")
    with pytest.raises(collected_cards.CollectionLost):
        commit(database, run_id)


def test_the_whole_collection_of_thousands_is_committed_at_once(database: Database, run_id: int) -> None:
    for page in range(30):
        collect(database, run_id, page, [card(page * 90 + n, 100 + n, later(page)) for n in range(90)])
    unit, wanted = commit(database, run_id)
    assert (unit.counts.new, len(wanted)) == (2700, 100)
    assert database.value("SELECT count(*) FROM price_history") == 2700
