"""Batches: rows that the database refuses, outages, and concurrent writers."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from pricewatch.store.writing.batch import BatchWriter, WriteCounts, WriteUnit
from tests.databases import Database
from tests.store.observations import MARKET, REFUSED_CARDS, WRITES, card, later, store, stored_unit


def test_refused_rows_have_reasons_and_the_others_are_stored(database: Database) -> None:
    good = [card(n, 1000 + n) for n in range(90)]
    mixed = list(good)
    for index, row in zip(range(0, 90, 6), REFUSED_CARDS.values(), strict=True):
        mixed.insert(index, row)
    unit = stored_unit(database.engine, mixed)
    assert (unit.counts.new, unit.counts.price_rows) == (90, 90)
    assert sorted(row["identity_key"] for row, _ in unit.refused) == sorted(
        row["identity_key"] for row in REFUSED_CARDS.values()
    )
    assert all(reason and "\n" not in reason for _, reason in unit.refused)
    assert database.value("SELECT count(*) FROM listings") == 90


def test_a_single_refused_row_is_reported(database: Database) -> None:
    for problem, row in REFUSED_CARDS.items():
        unit = stored_unit(database.engine, [row])
        assert [refused for refused, _ in unit.refused] == [row], problem
    assert database.value("SELECT count(*) FROM listings") == 0


def test_rows_and_the_item_of_a_unit_are_written_together_or_not_at_all(database: Database) -> None:
    def checkpoint(connection: Connection, _: WriteCounts) -> None:
        connection.execute(text("UPDATE markets SET sweep_page = 3 WHERE id = :id"), {"id": MARKET})

    def fail(connection: Connection, _: WriteCounts) -> None:
        checkpoint(connection, _)
        connection.execute(text("UPDATE markets SET tier = 'none' WHERE id = :id"), {"id": MARKET})

    failing, partial = WriteUnit([card(1)], fail), WriteUnit([card(2), card(3, 0)], checkpoint)
    with database.engine.connect() as connection:
        batch = BatchWriter(WRITES, 1, MARKET)
        batch.store(connection, [failing])
        assert database.value("SELECT sweep_page FROM markets WHERE id = :id", id=MARKET) is None
        batch.store(connection, [failing, partial])
    assert not failing.stored
    assert [row["identity_key"] for row, _ in failing.refused] == ["PID:1"]
    assert "ck_markets_tier" in str(failing.error)
    assert partial.stored
    assert [row["identity_key"] for row, _ in partial.refused] == ["PID:3"]
    assert [key for (key,) in database.rows("SELECT identity_key FROM listings")] == ["PID:2"]
    assert database.value("SELECT sweep_page FROM markets WHERE id = :id", id=MARKET) == 3


def test_units_of_one_batch_have_separate_counts(database: Database) -> None:
    store(database.engine, [card(1)])
    units = [WriteUnit([card(1, 1, later(1)), card(2)]), WriteUnit([]), WriteUnit([card(3)])]
    with database.engine.connect() as connection:
        BatchWriter(WRITES, 2, MARKET).store(connection, units)
    assert [(unit.counts.new, unit.counts.updated, unit.counts.price_rows) for unit in units] == [
        (1, 1, 2),
        (0, 0, 0),
        (1, 0, 1),
    ]


def test_an_outage_is_raised_and_stored_units_are_not_stored_again(database: Database) -> None:
    """The first unit is refused, the second is stored, and the third has an outage."""
    is_down = True

    def disconnect(connection: Connection, _: WriteCounts) -> None:
        if is_down:
            connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    def count_page(connection: Connection, _: WriteCounts) -> None:
        connection.execute(text("UPDATE markets SET sweep_cycle_seen = sweep_cycle_seen + 1"))

    def fail(connection: Connection, _: WriteCounts) -> None:
        connection.execute(text("SELECT 1 / 0"))

    units = [WriteUnit([card(1)], fail), WriteUnit([card(2)], count_page), WriteUnit([card(3)], disconnect)]
    batch = BatchWriter(WRITES, 1, MARKET)
    with database.engine.connect() as connection, pytest.raises(OperationalError):
        batch.store(connection, units)
    assert [unit.stored for unit in units] == [False, True, False]
    is_down = False
    with database.engine.connect() as connection:
        batch.store(connection, units)
    assert [unit.stored for unit in units] == [False, True, True]
    assert database.value("SELECT max(sweep_cycle_seen) FROM markets") == 1
    assert [key for (key,) in database.rows("SELECT identity_key FROM listings ORDER BY 1")] == [
        "PID:2",
        "PID:3",
    ]


def test_concurrent_writers_of_the_same_listings_create_no_duplicates(database: Database) -> None:
    """Several writers store the same new listings in opposite orders."""
    numbers = list(range(60))
    barrier = threading.Barrier(4)
    failures: list[BaseException] = []

    def write(run_id: int) -> None:
        try:
            barrier.wait()
            ordered = numbers if run_id % 2 else numbers[::-1]
            for part in range(0, 60, 15):
                rows = [card(n, 1000, later(run_id)) for n in ordered[part : part + 15]]
                store(database.engine, rows, run_id=run_id)
        except BaseException as error:  # noqa: BLE001 - reported by the test
            failures.append(error)

    threads = [threading.Thread(target=write, args=(run_id,)) for run_id in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert database.value("SELECT count(*) FROM listings") == 60
    assert database.value("SELECT count(*) FROM price_history") == 60
    assert database.value("SELECT count(*) FROM sellers") == 1
    assert database.rows("SELECT DISTINCT times_seen FROM listings") == [(4,)]
