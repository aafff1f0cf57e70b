"""Quarantine: one open row for the same thing and reason, each page once, and none for ever."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from pricewatch.items import Offer, ProductPage, Quarantine
from pricewatch.parsing.identity import identity_key
from pricewatch.store.maintenance import daily
from pricewatch.store.writing import held_jumps, incoming_rows, listing_upsert, quarantine_rows
from pricewatch.store.writing.batch import BatchWriter, Write, WriteUnit
from pricewatch.store.writing.incoming_rows import Row
from pricewatch.vocabulary import Availability, QuarantineReason
from tests.databases import Database
from tests.store.observations import MARKET, START, card, later, offer, on_rows

WRITES: list[Write] = on_rows(held_jumps.hold, listing_upsert.upsert, quarantine_rows.settle_read)
URL = "https://bazaar.example/item/1"


def held_page(
    minutes: float = 0,
    page: bytes = b"<p>1 or 2</p>",
    reason: QuarantineReason = QuarantineReason.AMBIGUOUS_PRICE,
    identity: str = "PID:1",
    **fields: Any,
) -> ProductPage:
    made = Offer(
        url=URL,
        title="Thing 1",
        price_cents=0,
        currency="",
        availability=Availability.UNKNOWN,
        source="bazaar",
        observed_at=later(minutes),
        identity_key=identity,
        adapter_version="1.0.0",
    )
    held = Quarantine(reason, {"minutes": minutes})
    return ProductPage(offer=made, page=page, adapter_id="bazaar", held=held, **fields)


def hold(database: Database, item: ProductPage, run_id: int = 1) -> None:
    database.call(quarantine_rows.hold, item, run_id=run_id, at=START)


def store(database: Database, rows: list[Row], run_id: int) -> None:
    unit = WriteUnit(rows)
    with database.engine.connect() as connection:
        BatchWriter(WRITES, run_id, MARKET).store(connection, [unit])
    assert unit.stored


def held_rows(database: Database) -> list[Any]:
    return database.rows("SELECT * FROM quarantine ORDER BY id")


def page_count(database: Database) -> int:
    count: int = database.value("SELECT count(*) FROM quarantine_pages")
    return count


def test_the_same_thing_held_again_is_one_row_with_the_newest_page(database: Database) -> None:
    for number in range(5):
        hold(database, held_page(number, f"<p>page {number}</p>".encode()), run_id=number)
    (row,) = held_rows(database)
    assert (row.times_seen, row.first_seen_at, row.observed_at) == (5, later(0), later(4))
    assert (row.run_id, row.details["minutes"]) == (4, 4)
    found: Any = database.call(quarantine_rows.get, row.id)
    assert found["page"] == b"<p>page 4</p>"
    hold(database, held_page(9, reason=QuarantineReason.ZERO_PRICE_EXTRACTED))
    hold(database, held_page(9, identity="PID:2"))
    assert [row.times_seen for row in held_rows(database)] == [5, 1, 1]


def test_what_a_person_settled_is_opened_anew_when_it_is_held_again(database: Database) -> None:
    hold(database, held_page(0))
    database.call(quarantine_rows.reject, [1], by="Ada", note=None, now=later(1))
    hold(database, held_page(2))
    assert [(row.status, row.times_seen) for row in held_rows(database)] == [("rejected", 1), ("pending", 1)]


def test_many_who_hold_the_same_thing_at_once_make_one_row(database: Database) -> None:
    together = threading.Barrier(4)

    def work(number: int) -> None:
        together.wait()
        hold(database, held_page(number, b"<p>the same page</p>"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (row,) = held_rows(database)
    assert row.times_seen == 4
    assert page_count(database) == 1


def test_a_page_is_known_by_its_listing_whatever_was_read_of_it(database: Database) -> None:
    store(database, [card(1)], run_id=1)
    listing_id = database.value("SELECT id FROM listings")
    for minutes, identity in enumerate(["PID:1", "SKU:x", "URL:0123456789abcdef"]):
        hold(database, held_page(minutes, identity=identity, listing_id=listing_id))
    assert [(row.identity_key, row.times_seen) for row in held_rows(database)] == [("PID:1", 3)]


@pytest.mark.parametrize("identity", ["PID:1", identity_key(None, None, URL)])
def test_a_page_that_can_be_read_again_waits_for_nobody(database: Database, identity: str) -> None:
    hold(database, held_page(0, identity=identity))
    hold(database, held_page(0, reason=QuarantineReason.DRIFT_DETECTED, identity=identity))
    hold(database, held_page(0, identity="PID:2"))
    # Its card says nothing about its page, and neither does a look from before.
    store(database, [card(1, 1000, later(1))], run_id=2)
    store(database, [offer(1, 1000, later(-5))], run_id=2)
    assert {row.status for row in held_rows(database)} == {"pending"}
    store(database, [offer(1, 1000, later(2))], run_id=3)
    assert [row.status for row in held_rows(database)] == ["rejected", "rejected", "pending"]
    assert held_rows(database)[0].note == "run 3 could read it"


def test_a_price_that_jumps_takes_the_open_row_of_its_reason(database: Database) -> None:
    failed = QuarantineReason.VALIDATION_FAILED
    store(database, [card(1, 1000)], run_id=1)
    hold(database, held_page(1, reason=failed))
    store(database, [offer(1, 5000, later(2))], run_id=2)
    store(database, [offer(1, 5000, later(3))], run_id=2)
    (row,) = held_rows(database)
    assert (row.listing_id is not None, row.offer["price_cents"], row.times_seen) == (True, 5000, 2)
    store(database, [offer(1, 5000, later(4))], run_id=3)
    assert [row.status for row in held_rows(database)] == ["accepted"]


def test_pages_go_when_they_are_settled_or_old(database: Database) -> None:
    now = START + timedelta(days=40)

    def remove(keep: int) -> bool:
        more: bool = database.call(daily.remove_pages, now, timedelta(days=keep))
        return more

    def minutes(days: float) -> float:
        return days * 24 * 60

    hold(database, held_page(0, b"old"))
    hold(database, held_page(minutes(30), b"recent", identity="PID:2"))
    hold(database, held_page(minutes(30), b"settled", identity="PID:3"))
    hold(database, held_page(minutes(39.9), b"settled today", identity="PID:4"))
    # Two rows with one page: it stays as long as one of them is open.
    hold(database, held_page(minutes(30), b"recent", identity="PID:5"))
    database.call(quarantine_rows.reject, [3, 4, 5], by="Ada", note=None, now=now)
    assert remove(90) is False
    assert page_count(database) == 3
    remove(30)
    assert page_count(database) == 2
    found: Any = database.call(quarantine_rows.get, 1)
    assert found["page"] is None
    assert "KEEP_HELD_PAGES_DAYS" in quarantine_rows.no_page(found)
    kept: Any = database.call(quarantine_rows.get, 2)
    assert kept["page"] == b"recent"


def test_however_much_is_held_a_batch_asks_the_index(database: Database) -> None:
    database.do(
        "INSERT INTO quarantine (source_id, adapter_id, adapter_version, url, identity_key, reason,"
        " observed_at) SELECT 'bazaar', 'bazaar', '1', 'u' || n, 'PID:' || n, 'AMBIGUOUS_PRICE', now()"
        " FROM generate_series(1, 20000) AS n"
    )
    with database.engine.connect() as connection:
        incoming_rows.load(connection, [offer(number, 1000, later(1)) for number in range(50)])
        plan = connection.execute(text(f"EXPLAIN {quarantine_rows._READ_AGAIN.text}")).scalars().all()
    assert not [line for line in plan if "Seq Scan on quarantine" in line]
