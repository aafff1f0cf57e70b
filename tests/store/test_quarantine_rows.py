"""Quarantine: one open row per offer and reason, and pages that are stored once, for a limited time."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from pricewatch.items import Offer, ProductPage, Quarantine
from pricewatch.parsing.identity import identity_key
from pricewatch.store.operations import daily_maintenance
from pricewatch.store.writing import incoming_rows, jump_quarantine, listing_upsert, quarantine_rows
from pricewatch.store.writing.batch import BatchWriter, Write, WriteUnit
from pricewatch.store.writing.incoming_rows import Row
from pricewatch.vocabulary import Availability, QuarantineReason
from tests.databases import Database
from tests.store.observations import MARKET, START, card, later, offer, on_rows

WRITES: list[Write] = on_rows(
    jump_quarantine.quarantine_jumps, listing_upsert.upsert, quarantine_rows.reject_readable
)
URL = "https://bazaar.example/item/1"


def quarantined_page(
    minutes: float = 0,
    page: bytes = b"<p>1 or 2</p>",
    reason: QuarantineReason = QuarantineReason.AMBIGUOUS_PRICE,
    identity: str = "PID:1",
    **fields: Any,
) -> ProductPage:
    found = Offer(
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
    quarantine = Quarantine(reason, {"minutes": minutes})
    return ProductPage(offer=found, page=page, adapter_id="bazaar", quarantine=quarantine, **fields)


def quarantine(database: Database, item: ProductPage, run_id: int = 1) -> None:
    database.call(quarantine_rows.quarantine_offer, item, run_id=run_id, at=START)


def store(database: Database, rows: list[Row], run_id: int) -> None:
    unit = WriteUnit(rows)
    with database.engine.connect() as connection:
        BatchWriter(WRITES, run_id, MARKET).store(connection, [unit])
    assert unit.stored


def quarantine_table(database: Database) -> list[Any]:
    return database.rows("SELECT * FROM quarantine ORDER BY id")


def page_count(database: Database) -> int:
    count: int = database.value("SELECT count(*) FROM quarantine_pages")
    return count


def test_an_offer_quarantined_again_updates_its_row_and_page(database: Database) -> None:
    for number in range(5):
        quarantine(database, quarantined_page(number, f"<p>page {number}</p>".encode()), run_id=number)
    (row,) = quarantine_table(database)
    assert (row.times_seen, row.first_seen_at, row.observed_at) == (5, later(0), later(4))
    assert (row.run_id, row.details["minutes"]) == (4, 4)
    found: Any = database.call(quarantine_rows.get, row.id)
    assert found["page"] == b"<p>page 4</p>"
    quarantine(database, quarantined_page(9, reason=QuarantineReason.ZERO_PRICE_EXTRACTED))
    quarantine(database, quarantined_page(9, identity="PID:2"))
    assert [row.times_seen for row in quarantine_table(database)] == [5, 1, 1]


def test_a_reviewed_offer_gets_a_new_row_when_quarantined_again(database: Database) -> None:
    quarantine(database, quarantined_page(0))
    database.call(quarantine_rows.reject, [1], by="Ada", note=None, now=later(1))
    quarantine(database, quarantined_page(2))
    assert [(row.status, row.times_seen) for row in quarantine_table(database)] == [
        ("rejected", 1),
        ("pending", 1),
    ]


def test_concurrent_quarantining_of_an_offer_creates_one_row(database: Database) -> None:
    together = threading.Barrier(4)

    def work(number: int) -> None:
        together.wait()
        quarantine(database, quarantined_page(number, b"<p>the same page</p>"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (row,) = quarantine_table(database)
    assert row.times_seen == 4
    assert page_count(database) == 1


def test_the_identity_key_is_that_of_the_known_listing(database: Database) -> None:
    store(database, [card(1)], run_id=1)
    listing_id = database.value("SELECT id FROM listings")
    for minutes, identity in enumerate(["PID:1", "SKU:x", "URL:0123456789abcdef"]):
        quarantine(database, quarantined_page(minutes, identity=identity, listing_id=listing_id))
    assert [(row.identity_key, row.times_seen) for row in quarantine_table(database)] == [("PID:1", 3)]


@pytest.mark.parametrize("identity", ["PID:1", identity_key(None, None, URL)])
def test_pending_rows_are_rejected_when_the_page_can_be_read(database: Database, identity: str) -> None:
    quarantine(database, quarantined_page(0, identity=identity))
    quarantine(database, quarantined_page(0, reason=QuarantineReason.DRIFT_DETECTED, identity=identity))
    quarantine(database, quarantined_page(0, identity="PID:2"))
    # Neither a card nor an older offer shows that the page can be read now.
    store(database, [card(1, 1000, later(1))], run_id=2)
    store(database, [offer(1, 1000, later(-5))], run_id=2)
    assert {row.status for row in quarantine_table(database)} == {"pending"}
    store(database, [offer(1, 1000, later(2))], run_id=3)
    assert [row.status for row in quarantine_table(database)] == ["rejected", "rejected", "pending"]
    assert quarantine_table(database)[0].note == "run 3 could read it"


def test_a_price_jump_reuses_the_open_row_of_its_reason(database: Database) -> None:
    failed = QuarantineReason.VALIDATION_FAILED
    store(database, [card(1, 1000)], run_id=1)
    quarantine(database, quarantined_page(1, reason=failed))
    store(database, [offer(1, 5000, later(2))], run_id=2)
    store(database, [offer(1, 5000, later(3))], run_id=2)
    (row,) = quarantine_table(database)
    assert (row.listing_id is not None, row.offer["price_cents"], row.times_seen) == (True, 5000, 2)
    store(database, [offer(1, 5000, later(4))], run_id=3)
    assert [row.status for row in quarantine_table(database)] == ["accepted"]


def test_pages_are_removed_after_review_or_when_old(database: Database) -> None:
    now = START + timedelta(days=40)

    def remove(keep: int) -> bool:
        more: bool = database.call(daily_maintenance.remove_quarantine_pages, now, timedelta(days=keep))
        return more

    def minutes(days: float) -> float:
        return days * 24 * 60

    quarantine(database, quarantined_page(0, b"old"))
    quarantine(database, quarantined_page(minutes(30), b"recent", identity="PID:2"))
    quarantine(database, quarantined_page(minutes(30), b"reviewed", identity="PID:3"))
    quarantine(database, quarantined_page(minutes(39.9), b"reviewed today", identity="PID:4"))
    # Two rows share this page; it stays while one of them is open.
    quarantine(database, quarantined_page(minutes(30), b"recent", identity="PID:5"))
    database.call(quarantine_rows.reject, [3, 4, 5], by="Ada", note=None, now=now)
    assert remove(90) is False
    assert page_count(database) == 3
    remove(30)
    assert page_count(database) == 2
    found: Any = database.call(quarantine_rows.get, 1)
    assert found["page"] is None
    assert "KEEP_HELD_PAGES_DAYS" in quarantine_rows.why_no_page(found)
    recent: Any = database.call(quarantine_rows.get, 2)
    assert recent["page"] == b"recent"


def test_pending_rows_are_found_by_index(database: Database) -> None:
    database.do(
        "INSERT INTO quarantine (source_id, adapter_id, adapter_version, url, identity_key, reason,"
        " observed_at) SELECT 'bazaar', 'bazaar', '1', 'u' || n, 'PID:' || n, 'AMBIGUOUS_PRICE', now()"
        " FROM generate_series(1, 20000) AS n"
    )
    with database.engine.connect() as connection:
        incoming_rows.load(connection, [offer(number, 1000, later(1)) for number in range(50)])
        plan = connection.execute(text(f"EXPLAIN {quarantine_rows._READ_AGAIN.text}")).scalars().all()
    assert not [line for line in plan if "Seq Scan on quarantine" in line]
