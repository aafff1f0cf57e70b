"""Prices that jump are quarantined, for cards and offers, and stored when another run confirms them."""

from __future__ import annotations

import zlib
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from pricewatch.items import Offer, ProductPage
from pricewatch.money import Money
from pricewatch.rules.price_jump import agrees, is_jump
from pricewatch.store.writing import history_append, incoming_rows, jump_quarantine, listing_upsert
from pricewatch.store.writing.batch import Batch, BatchWriter, Write, WriteCounts, WriteUnit
from pricewatch.store.writing.incoming_rows import Row
from pricewatch.vocabulary import Availability
from tests.databases import Database
from tests.store.observations import MARKET, call_items, card, later, offer, on_rows

WRITES: list[Write] = [
    *on_rows(jump_quarantine.quarantine_jumps, listing_upsert.upsert, history_append.append),
    call_items,
]
CENTS = st.integers(1, 99_999_999)


def store(database: Database, rows: list[Row], run_id: int, item: Any = None) -> WriteCounts:
    unit = WriteUnit(rows, item)
    with database.engine.connect() as connection:
        BatchWriter(WRITES, run_id, MARKET).store(connection, [unit])
    assert unit.stored
    return unit.counts


def listing(database: Database) -> Any:
    return database.row("SELECT * FROM listings")


def prices(database: Database) -> list[int]:
    return [price for (price,) in database.rows("SELECT price_cents FROM price_history ORDER BY observed_at")]


def quarantined(database: Database) -> list[tuple[str, int]]:
    rows = database.rows("SELECT status, (details ->> 'price_cents')::integer FROM quarantine ORDER BY id")
    return [tuple(row) for row in rows]


def test_a_jump_is_quarantined_and_the_listing_counts_as_seen(database: Database) -> None:
    store(database, [card(1, 1000)], run_id=1)
    counts = store(database, [card(1, 5000, later(60), availability=Availability.OUT_OF_STOCK)], run_id=2)
    assert (counts.updated, counts.quarantined, counts.quarantined_offers, counts.price_rows) == (1, 1, 0, 0)
    found = listing(database)
    assert (found.price_cents, found.currency, found.availability) == (1000, "EUR", "IN_STOCK")
    assert (found.times_seen, found.last_seen_at) == (2, later(60))
    assert prices(database) == [1000]
    row = database.row("SELECT * FROM quarantine")
    assert (row.reason, row.status, row.listing_id) == ("VALIDATION_FAILED", "pending", found.id)
    assert row.details["stored_price_cents"] == 1000
    assert row.offer["price_cents"] == 5000
    assert row.offer["seller"]["id"] == "7"


def test_a_price_is_confirmed_by_another_run_only(database: Database) -> None:
    store(database, [card(1, 1000)], run_id=1)
    store(database, [card(1, 5000, later(60))], run_id=2)
    assert store(database, [offer(1, 5000, later(61))], run_id=2).quarantined_offers == 1
    assert quarantined(database) == [("pending", 5000)]
    counts = store(database, [offer(1, 5100, later(90))], run_id=3)
    assert (counts.quarantined, counts.price_rows) == (0, 1)
    assert quarantined(database) == [("accepted", 5000)]
    assert prices(database) == [1000, 5100]
    assert listing(database).price_cents == 5100
    assert database.value("SELECT note FROM quarantine") == "run 3 saw it too"


def test_a_third_price_replaces_the_quarantined_one(database: Database) -> None:
    store(database, [card(1, 1000)], run_id=1)
    store(database, [card(1, 5000, later(1))], run_id=2)
    store(database, [card(1, 9000, later(2))], run_id=3)
    assert quarantined(database) == [("rejected", 5000), ("pending", 9000)]
    store(database, [card(1, 1010, later(3))], run_id=4)
    assert quarantined(database) == [("rejected", 5000), ("rejected", 9000)]
    assert prices(database) == [1000, 1010]


def test_a_price_stays_pending_without_a_newer_price(database: Database) -> None:
    store(database, [card(1, 1000)], run_id=1)
    store(database, [card(1, 200, later(10))], run_id=2)
    store(database, [card(1, None, later(11))], run_id=3)
    store(database, [card(1, 1000, later(-5))], run_id=4)
    assert quarantined(database) == [("pending", 200)]


def test_new_listings_and_other_currencies_are_not_jumps(database: Database) -> None:
    store(database, [card(1, 1000), card(2, 99_999_999)], run_id=1)
    store(database, [card(1, 90_000, later(1), currency="JPY")], run_id=2)
    assert quarantined(database) == []


def test_a_jump_does_not_affect_other_listings_of_the_page(database: Database) -> None:
    store(database, [card(number, 1000) for number in range(50)], run_id=1)
    page = [card(number, 5000 if number == 7 else 1100, later(1)) for number in range(50)]
    counts = store(database, page, run_id=2)
    assert (counts.updated, counts.quarantined, counts.price_rows) == (50, 1, 49)


def test_the_page_of_a_quarantined_offer_is_stored(database: Database) -> None:
    store(database, [card(1, 1000)], run_id=1)
    row = offer(1, 5000, later(1))
    found = Offer(
        url=row["canonical_url"],
        title=row["title"],
        price_cents=5000,
        currency="EUR",
        availability=Availability.IN_STOCK,
        source="bazaar",
        identity_key="PID:1",
        gtin="4006381333931",
    )
    item = ProductPage(
        offer=found,
        page=b"<html>5000</html>",
        encoding="utf-8",
        evidence=["price: here"],
        adapter_id="bazaar",
    )

    def attach(connection: Connection, counts: WriteCounts) -> None:
        assert counts.quarantined
        jump_quarantine.attach_page(connection, item, run_id=2)

    store(database, [row], run_id=2, item=attach)
    stored = database.row("SELECT * FROM quarantine")
    page = database.value("SELECT page FROM quarantine_pages WHERE hash = :hash", hash=stored.page_hash)
    assert zlib.decompress(page) == b"<html>5000</html>"
    assert stored.offer["gtin"] == "4006381333931"
    assert stored.details["evidence"] == ["price: here"]
    assert stored.details["stored_price_cents"] == 1000


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(known=CENTS, factor=st.sampled_from([0.2, 0.249, 0.25, 0.251, 1, 3.99, 4, 4.01, 5]), nudge=CENTS)
def test_the_sql_agrees_with_the_rules(database: Database, known: int, factor: float, nudge: int) -> None:
    seen = min(max(round(known * factor), 1), 99_999_999)
    second = min(max(seen + nudge % max(1, seen // 10), 1), 99_999_999)
    with database.engine.connect() as connection, connection.begin() as trial:

        def observe(price: int, minutes: int, run_id: int) -> bool:
            incoming_rows.load(connection, [card(1, price, later(minutes))])
            for write in (jump_quarantine.quarantine_jumps, listing_upsert.upsert, history_append.append):
                write(connection, Batch(run_id, MARKET, [WriteUnit([])]))
            found = connection.exec_driver_sql("SELECT quarantined FROM incoming")
            return bool(found.scalar())

        assert not observe(known, 0, 1)
        is_quarantined = observe(seen, 1, 2)
        first, jumped, again = (Money(cents, "EUR") for cents in (known, seen, second))
        assert is_quarantined == is_jump(first, jumped)
        if is_quarantined:
            assert observe(second, 2, 3) == (is_jump(first, again) and not agrees(jumped, again))
        trial.rollback()
