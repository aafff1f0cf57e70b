"""A batch: rows that the database refuses, a database that is away, and writers that race each other."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from pricewatch.store.writing.batch import BatchWriter, WriteCounts, WriteUnit
from pricewatch.vocabulary import Availability
from tests.databases import Database
from tests.store.observations import MARKET, WRITES, card, later, store, stored_unit

BAD = {
    "NUL in a text": card(90, title="a\x00b"),
    "half a character": card(91, title="\ud800"),
    "a currency of four letters": card(92, currency="EURO"),
    "a currency in small letters": card(93, currency="eur"),
    "a price without a currency": {**card(94), "currency": None},
    "a price of nothing": card(95, 0),
    "a price beyond all bounds": card(96, 100_000_000),
    "a price beyond the type": card(97, 10**15),
    "an unknown availability": card(98, availability=Availability.UNKNOWN),
    "an identity that is none": card(99, identity_key="99"),
    "an address too long for an index": card(
        100, url="https://bazaar.example/" + "".join(map(str, range(40_000)))
    ),
    "an unknown kind of seller": {**card(101), "seller_type": "robot"},
    "no time": {**card(102), "observed_at": None},
    "an area that is no number": card(103, area=float("nan")),
    "what JSON cannot carry": card(104, attributes={"made": {1, 2}}),
}


def test_bad_rows_are_counted_with_their_reasons_and_the_good_ones_stored(database: Database) -> None:
    good = [card(n, 1000 + n) for n in range(90)]
    mixed = list(good)
    for place, row in zip(range(0, 90, 6), BAD.values(), strict=True):
        mixed.insert(place, row)
    tally = stored_unit(database.engine, mixed)
    assert (tally.counts.new, tally.counts.price_rows) == (90, 90)
    assert sorted(row["identity_key"] for row, _ in tally.refused) == sorted(
        row["identity_key"] for row in BAD.values()
    )
    assert all(why and "\n" not in why for _, why in tally.refused)
    assert database.value("SELECT count(*) FROM listings") == 90


def test_a_bad_row_alone_is_refused_with_a_reason(database: Database) -> None:
    for what, row in BAD.items():
        tally = stored_unit(database.engine, [row])
        assert [row for row, _ in tally.refused] == [row], what
    assert database.value("SELECT count(*) FROM listings") == 0


def test_what_belongs_to_the_rows_is_written_with_them_or_neither_is(database: Database) -> None:
    def checkpoint(connection: Connection, _: WriteCounts) -> None:
        connection.execute(text("UPDATE markets SET sweep_page = 3 WHERE id = :id"), {"id": MARKET})

    def impossible(connection: Connection, _: WriteCounts) -> None:
        checkpoint(connection, _)
        connection.execute(text("UPDATE markets SET tier = 'none' WHERE id = :id"), {"id": MARKET})

    fails, holds = WriteUnit([card(1)], impossible), WriteUnit([card(2), card(3, 0)], checkpoint)
    with database.engine.connect() as connection:
        batch = BatchWriter(WRITES, 1, MARKET)
        batch.store(connection, [fails])
        assert database.value("SELECT sweep_page FROM markets WHERE id = :id", id=MARKET) is None
        batch.store(connection, [fails, holds])
    assert not fails.stored
    assert [row["identity_key"] for row, _ in fails.refused] == ["PID:1"]
    assert "ck_markets_tier" in str(fails.error)
    assert holds.stored
    assert [row["identity_key"] for row, _ in holds.refused] == ["PID:3"]
    assert [key for (key,) in database.rows("SELECT identity_key FROM listings")] == ["PID:2"]
    assert database.value("SELECT sweep_page FROM markets WHERE id = :id", id=MARKET) == 3


def test_units_of_one_batch_have_their_own_tallies(database: Database) -> None:
    store(database.engine, [card(1)])
    units = [WriteUnit([card(1, 1, later(1)), card(2)]), WriteUnit([]), WriteUnit([card(3)])]
    with database.engine.connect() as connection:
        BatchWriter(WRITES, 2, MARKET).store(connection, units)
    assert [(unit.counts.new, unit.counts.updated, unit.counts.price_rows) for unit in units] == [
        (1, 1, 2),
        (0, 0, 0),
        (1, 0, 1),
    ]


def test_an_outage_is_raised_and_what_was_stored_is_not_stored_again(database: Database) -> None:
    """The first unit is refused, the second stored by itself, the third meets an outage."""
    away = True

    def break_off(connection: Connection, _: WriteCounts) -> None:
        if away:
            connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    def page(connection: Connection, _: WriteCounts) -> None:
        connection.execute(text("UPDATE markets SET sweep_cycle_seen = sweep_cycle_seen + 1"))

    def bad(connection: Connection, _: WriteCounts) -> None:
        connection.execute(text("SELECT 1 / 0"))

    units = [WriteUnit([card(1)], bad), WriteUnit([card(2)], page), WriteUnit([card(3)], break_off)]
    batch = BatchWriter(WRITES, 1, MARKET)
    with database.engine.connect() as connection, pytest.raises(OperationalError):
        batch.store(connection, units)
    assert [unit.stored for unit in units] == [False, True, False]
    away = False
    with database.engine.connect() as connection:
        batch.store(connection, units)
    assert [unit.stored for unit in units] == [False, True, True]
    assert database.value("SELECT max(sweep_cycle_seen) FROM markets") == 1
    assert [key for (key,) in database.rows("SELECT identity_key FROM listings ORDER BY 1")] == [
        "PID:2",
        "PID:3",
    ]


def test_writers_that_race_for_the_same_listings_make_no_duplicates(database: Database) -> None:
    """Several at once, the same new listings in opposite orders, prices that differ."""
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
