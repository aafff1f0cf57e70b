"""A batch: what it changes, and what it leaves alone."""

from __future__ import annotations

from datetime import timedelta

from pricewatch import clock
from pricewatch.items import SellerInfo
from pricewatch.vocabulary import Availability, SellerType
from tests.databases import Database
from tests.store.observations import MARKET, START, card, later, offer, store

EVERYTHING = (
    "SELECT to_jsonb(l) - ARRAY['last_seen_at', 'last_seen_run_id', 'times_seen', 'anchor_at',"
    " 'price_observed_at', 'stock_observed_at'] FROM listings l ORDER BY id"
)
HISTORY = (
    "SELECT identity_key, h.price_cents, h.currency, h.availability, h.observed_at, h.run_id"
    " FROM price_history h JOIN listings l ON l.id = h.listing_id ORDER BY identity_key, h.observed_at"
)


def prices(database: Database) -> list[tuple[str, int]]:
    return [(row.identity_key, row.price_cents) for row in database.rows(HISTORY)]


def test_a_new_listing_is_stored_with_its_first_price(database: Database) -> None:
    tally = store(database.engine, [card(1, 1500), card(2, None)])
    assert (tally.new, tally.updated, tally.price_rows) == (2, 0, 1)
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


def test_what_was_noted_while_the_clock_was_ahead_keeps_nothing_back(database: Database) -> None:
    """Not for ever, that is: the rows of that time stay, and what is seen now counts."""
    ahead = clock.now() + timedelta(days=400)
    store(database.engine, [card(1, 1000), offer(2, 1000)])
    store(database.engine, [card(1, 1100, at=ahead), offer(2, 1000, at=ahead)], run_id=2)
    tally = store(database.engine, [card(1, 1200, at=later(60)), card(2, 1300, at=later(60))], run_id=3)
    assert (tally.updated, tally.price_rows) == (2, 2)
    assert prices(database) == [
        ("PID:1", 1000),
        ("PID:1", 1200),
        ("PID:1", 1100),
        ("PID:2", 1000),
        ("PID:2", 1300),
    ]
    for row in database.rows("SELECT * FROM listings"):
        assert (row.last_seen_at, row.price_observed_at, row.anchor_at) == (later(60),) * 3
    # Nor is its page taken for fresh.
    assert database.value("SELECT detail_due_at FROM listings WHERE identity_key = 'PID:2'") == later(60)
    assert store(database.engine, [card(1, 1200, at=later(90))], run_id=4).price_rows == 0


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
        seller = SellerInfo("7", name, SellerType.USER)
        store(database.engine, [card(1, at=later(minute), seller=seller)], run_id=minute + 1)
    assert [row.name for row in database.rows("SELECT name FROM seller_history ORDER BY id")] == [
        "Ada",
        "Ada & Sons",
    ]
    assert database.row("SELECT name, type FROM sellers") == ("Ada & Sons", "user")
