"""A batch: what it changes, what it leaves alone, and what it does with rows that the database refuses."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from pricewatch.items import Availability, Seller, SellerType
from pricewatch.store.batch import Batch, Tally, Unit
from tests.conftest import Database
from tests.store.observations import MARKET, START, STEPS, card, later, offer, store

EVERYTHING = (
    "SELECT to_jsonb(l) - ARRAY['last_seen_at', 'last_seen_run_id', 'times_seen', 'anchor_at',"
    " 'price_observed_at'] FROM listings l ORDER BY id"
)
HISTORY = (
    "SELECT identity_key, h.price_cents, h.currency, h.availability, h.observed_at, h.run_id"
    " FROM price_history h JOIN listings l ON l.id = h.listing_id ORDER BY identity_key, h.observed_at"
)


def prices(database: Database) -> list[tuple[str, int]]:
    return [(row.identity_key, row.price_cents) for row in database.rows(HISTORY)]


def test_a_new_listing_is_stored_with_its_first_price(database: Database) -> None:
    tally = store(database.engine, [card(1, 1500), card(2, None)])
    assert (tally.new, tally.updated, tally.price_rows, tally.refused) == (2, 0, 1, [])
    first = database.row("SELECT * FROM listings WHERE identity_key = 'PID:1'")
    assert (first.price_cents, first.currency, first.availability) == (1500, "EUR", "IN_STOCK")
    assert (first.title, first.market_id, first.times_seen, first.active) == ("Thing 1", MARKET, 1, True)
    assert first.first_seen_at == first.last_seen_at == START
    assert first.last_scraped_at is None
    assert database.value("SELECT count(*) FROM market_listings WHERE market_id = :m", m=MARKET) == 2
    assert [tuple(row) for row in database.rows(HISTORY)] == [("PID:1", 1500, "EUR", "IN_STOCK", START, 1)]
    assert database.value("SELECT DISTINCT run_type FROM price_history") == "SCRAPE"


def test_the_same_page_twice_changes_nothing_but_the_sighting(database: Database) -> None:
    page = [card(n, 1000 + n) for n in range(90)]
    store(database.engine, page)
    before = database.rows(EVERYTHING)
    again = [{**row, "observed_at": later(30).isoformat()} for row in page]
    tally = store(database.engine, again, run_id=2)
    assert (tally.new, tally.updated, tally.price_rows) == (0, 90, 0)
    assert database.rows(EVERYTHING) == before
    assert database.rows("SELECT DISTINCT last_seen_at, times_seen, last_seen_run_id FROM listings") == [
        (later(30), 2, 2)
    ]
    assert database.value("SELECT count(*) FROM price_history") == 90
    assert database.value("SELECT count(*) FROM seller_history") == 1


def test_times_seen_counts_runs_and_not_pages(database: Database) -> None:
    for minute in range(3):
        store(database.engine, [card(1, at=later(minute))], run_id=7)
    assert database.value("SELECT times_seen FROM listings") == 1


def test_history_grows_only_with_a_change(database: Database) -> None:
    seen = [
        card(1, 1000, later(0)),
        card(1, 1000, later(1)),
        card(1, 900, later(2)),
        card(1, None, later(3)),
        card(1, 900, later(4), availability=Availability.OUT_OF_STOCK),
        card(1, None, later(5), availability=Availability.IN_STOCK),
        card(1, 900, later(6), currency="CHF"),
    ]
    changed = [store(database.engine, [row], run_id=n).price_rows for n, row in enumerate(seen, 1)]
    assert changed == [1, 0, 1, 0, 1, 1, 1]
    assert [
        (row.price_cents, row.currency, row.availability, row.run_id) for row in database.rows(HISTORY)
    ] == [
        (1000, "EUR", "IN_STOCK", 1),
        (900, "EUR", "IN_STOCK", 3),
        (900, "EUR", "OUT_OF_STOCK", 5),
        (900, "EUR", "IN_STOCK", 6),
        (900, "CHF", "IN_STOCK", 7),
    ]


def test_an_older_observation_turns_nothing_back(database: Database) -> None:
    store(
        database.engine,
        [card(1, 900, later(10), availability=Availability.SOLD, title="New title")],
        run_id=2,
    )
    before = database.rows(EVERYTHING)
    tally = store(database.engine, [card(1, 1000, later(5))], run_id=1)
    assert tally.price_rows == 0
    assert database.rows(EVERYTHING) == before
    assert database.row("SELECT times_seen, last_seen_at FROM listings") == (2, later(10))
    assert prices(database) == [("PID:1", 900)]


def test_of_two_observations_of_one_instant_the_first_one_stands(database: Database) -> None:
    store(database.engine, [card(1, 900)])
    store(database.engine, [card(1, 1000)], run_id=2)
    assert database.value("SELECT price_cents FROM listings") == 900
    assert prices(database) == [("PID:1", 900)]


def test_a_listing_seen_before_it_was_found_gone_stays_gone(database: Database) -> None:
    store(database.engine, [card(1)])
    database.do("UPDATE listings SET active = false, deactivated_at = :at", at=later(60))
    store(database.engine, [card(1, at=later(30))], run_id=2)
    assert database.value("SELECT active FROM listings") is False
    store(database.engine, [card(1, at=later(90))], run_id=3)
    assert database.row("SELECT active, deactivated_at FROM listings") == (True, None)


def test_a_new_platform_id_at_a_known_address_is_the_same_listing(database: Database) -> None:
    store(database.engine, [card(1, 1000)])
    tally = store(database.engine, [card(2, 900, later(1), url="https://bazaar.example/item/1")], run_id=2)
    assert (tally.new, tally.updated) == (0, 1)
    assert database.row("SELECT identity_key, platform_id, first_seen_at FROM listings") == (
        "PID:2",
        "2",
        START,
    )
    assert prices(database) == [("PID:2", 1000), ("PID:2", 900)]


def test_a_known_id_at_the_address_of_another_listing_merges_nothing(database: Database) -> None:
    store(database.engine, [card(1), card(2)])
    store(database.engine, [card(1, at=later(1), url="https://bazaar.example/item/2")], run_id=2)
    assert [
        tuple(row) for row in database.rows("SELECT identity_key, canonical_url FROM listings ORDER BY 1")
    ] == [
        ("PID:1", "https://bazaar.example/item/1"),
        ("PID:2", "https://bazaar.example/item/2"),
    ]


def test_its_own_page_adds_what_the_card_did_not_say(database: Database) -> None:
    store(database.engine, [card(1, 1000, location="Wien", attributes={"colour": "red"})])
    store(
        database.engine, [offer(1, 1000, later(1), gtin="4006381333931", mpn="X-1", attributes={"size": "M"})]
    )
    listing = database.row("SELECT * FROM listings")
    assert (listing.gtin, listing.mpn, listing.location) == ("4006381333931", "X-1", "Wien")
    assert listing.attributes == {"colour": "red", "size": "M"}
    assert listing.last_scraped_at == later(1)
    assert listing.detail_due_at == later(1) + timedelta(hours=24)
    assert {tuple(row) for row in database.rows("SELECT kind, value FROM listing_identifiers")} == {
        ("GTIN", "4006381333931"),
        ("MPN", "X-1"),
    }


def test_sold_is_seen_but_not_on_sale_and_can_come_back(database: Database) -> None:
    store(database.engine, [card(1, availability=Availability.SOLD)])
    assert database.row("SELECT active, deactivated_at FROM listings") == (False, START)
    store(database.engine, [card(1, at=later(1))], run_id=2)
    assert database.row("SELECT active, deactivated_at, sold_at FROM listings") == (True, None, None)
    assert [row.availability for row in database.rows(HISTORY)] == ["SOLD", "IN_STOCK"]


def test_a_sellers_change_of_name_is_remembered(database: Database) -> None:
    names = ["Ada", "Ada", None, "Ada & Sons"]
    for minute, name in enumerate(names):
        seller = Seller("7", name, SellerType.USER)
        store(database.engine, [card(1, at=later(minute), seller=seller)], run_id=minute + 1)
    assert [row.name for row in database.rows("SELECT name FROM seller_history ORDER BY id")] == [
        "Ada",
        "Ada & Sons",
    ]
    assert database.row("SELECT name, type FROM sellers") == ("Ada & Sons", "user")


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
    tally = store(database.engine, mixed)
    assert (tally.new, tally.price_rows) == (90, 90)
    assert sorted(row["identity_key"] for row, _ in tally.refused) == sorted(
        row["identity_key"] for row in BAD.values()
    )
    assert all(why and "\n" not in why for _, why in tally.refused)
    assert database.value("SELECT count(*) FROM listings") == 90


def test_a_bad_row_alone_is_refused_with_a_reason(database: Database) -> None:
    for what, row in BAD.items():
        tally = store(database.engine, [row])
        assert [row for row, _ in tally.refused] == [row], what
    assert database.value("SELECT count(*) FROM listings") == 0


def test_what_belongs_to_the_rows_is_written_with_them_or_neither_is(database: Database) -> None:
    def checkpoint(connection: Connection, _: Tally) -> None:
        connection.execute(text("UPDATE markets SET sweep_page = 3 WHERE id = :id"), {"id": MARKET})

    def impossible(connection: Connection, _: Tally) -> None:
        checkpoint(connection, _)
        connection.execute(text("UPDATE markets SET tier = 'none' WHERE id = :id"), {"id": MARKET})

    fails, holds = Unit([card(1)], impossible), Unit([card(2), card(3, 0)], checkpoint)
    with database.engine.connect() as connection:
        batch = Batch(STEPS, 1, MARKET)
        batch.store(connection, [fails])
        assert database.value("SELECT sweep_page FROM markets WHERE id = :id", id=MARKET) is None
        batch.store(connection, [fails, holds])
    assert not fails.stored
    assert [row["identity_key"] for row, _ in fails.tally.refused] == ["PID:1"]
    assert "ck_markets_tier" in str(fails.error)
    assert holds.stored
    assert [row["identity_key"] for row, _ in holds.tally.refused] == ["PID:3"]
    assert [key for (key,) in database.rows("SELECT identity_key FROM listings")] == ["PID:2"]
    assert database.value("SELECT sweep_page FROM markets WHERE id = :id", id=MARKET) == 3


def test_units_of_one_batch_have_their_own_tallies(database: Database) -> None:
    store(database.engine, [card(1)])
    units = [Unit([card(1, 1, later(1)), card(2)]), Unit([]), Unit([card(3)])]
    with database.engine.connect() as connection:
        Batch(STEPS, 2, MARKET).store(connection, units)
    assert [(unit.tally.new, unit.tally.updated, unit.tally.price_rows) for unit in units] == [
        (1, 1, 2),
        (0, 0, 0),
        (1, 0, 1),
    ]


def test_an_outage_is_raised_and_what_was_stored_is_not_stored_again(database: Database) -> None:
    """The first unit is refused, the second stored by itself, the third meets an outage."""
    away = True

    def break_off(connection: Connection, _: Tally) -> None:
        if away:
            connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    def page(connection: Connection, _: Tally) -> None:
        connection.execute(text("UPDATE markets SET sweep_cycle_seen = sweep_cycle_seen + 1"))

    def bad(connection: Connection, _: Tally) -> None:
        connection.execute(text("SELECT 1 / 0"))

    units = [Unit([card(1)], bad), Unit([card(2)], page), Unit([card(3)], break_off)]
    batch = Batch(STEPS, 1, MARKET)
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
