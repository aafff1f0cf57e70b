"""What a batch changes in listings, price history and sellers, and what it leaves unchanged."""

from __future__ import annotations

from datetime import timedelta

from pricewatch import clock
from pricewatch.items import SellerInfo
from pricewatch.vocabulary import Availability, SellerType
from tests.databases import Database
from tests.store.observations import MARKET, START, card, later, offer, store

STABLE_COLUMNS = (
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
    counts = store(database.engine, [card(1, 1500), card(2, None)])
    assert (counts.new, counts.updated, counts.price_rows) == (2, 0, 1)
    first = database.row("SELECT * FROM listings WHERE identity_key = 'PID:1'")
    assert (first.price_cents, first.currency, first.availability) == (1500, "EUR", "IN_STOCK")
    assert (first.title, first.market_id, first.times_seen, first.active) == ("Thing 1", MARKET, 1, True)
    assert first.first_seen_at == first.last_seen_at == START
    assert first.last_scraped_at is None
    assert database.value("SELECT count(*) FROM market_listings WHERE market_id = :m", m=MARKET) == 2
    assert [tuple(row) for row in database.rows(HISTORY)] == [("PID:1", 1500, "EUR", "IN_STOCK", START, 1)]
    assert database.value("SELECT DISTINCT run_type FROM price_history") == "SCRAPE"


def test_storing_the_same_page_again_only_updates_when_listings_were_seen(database: Database) -> None:
    page = [card(n, 1000 + n) for n in range(90)]
    store(database.engine, page)
    before = database.rows(STABLE_COLUMNS)
    again = [{**row, "observed_at": later(30).isoformat()} for row in page]
    counts = store(database.engine, again, run_id=2)
    assert (counts.new, counts.updated, counts.price_rows) == (0, 90, 0)
    assert database.rows(STABLE_COLUMNS) == before
    assert database.rows("SELECT DISTINCT last_seen_at, times_seen, last_seen_run_id FROM listings") == [
        (later(30), 2, 2)
    ]
    assert database.value("SELECT count(*) FROM price_history") == 90
    assert database.value("SELECT count(*) FROM seller_history") == 1


def test_times_written_while_a_clock_was_ahead_do_not_block_new_observations(database: Database) -> None:
    """History rows with future times stay, and current observations are stored."""
    ahead = clock.now() + timedelta(days=400)
    store(database.engine, [card(1, 1000), offer(2, 1000)])
    store(database.engine, [card(1, 1100, at=ahead), offer(2, 1000, at=ahead)], run_id=2)
    counts = store(database.engine, [card(1, 1200, at=later(60)), card(2, 1300, at=later(60))], run_id=3)
    assert (counts.updated, counts.price_rows) == (2, 2)
    assert prices(database) == [
        ("PID:1", 1000),
        ("PID:1", 1200),
        ("PID:1", 1100),
        ("PID:2", 1000),
        ("PID:2", 1300),
    ]
    for row in database.rows("SELECT * FROM listings"):
        assert (row.last_seen_at, row.price_observed_at, row.anchor_at) == (later(60),) * 3
    # The product page is due again, too.
    assert database.value("SELECT detail_due_at FROM listings WHERE identity_key = 'PID:2'") == later(60)
    assert store(database.engine, [card(1, 1200, at=later(90))], run_id=4).price_rows == 0


def test_times_seen_counts_runs_not_pages(database: Database) -> None:
    for minute in range(3):
        store(database.engine, [card(1, at=later(minute))], run_id=7)
    assert database.value("SELECT times_seen FROM listings") == 1


def test_history_rows_are_appended_only_for_changes(database: Database) -> None:
    observations = [
        card(1, 1000, later(0)),
        card(1, 1000, later(1)),
        card(1, 900, later(2)),
        card(1, None, later(3)),
        card(1, 900, later(4), availability=Availability.OUT_OF_STOCK),
        card(1, None, later(5), availability=Availability.IN_STOCK),
        card(1, 900, later(6), currency="CHF"),
    ]
    changed = [store(database.engine, [row], run_id=n).price_rows for n, row in enumerate(observations, 1)]
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


def test_an_older_observation_changes_no_stored_values(database: Database) -> None:
    store(
        database.engine,
        [card(1, 900, later(10), availability=Availability.SOLD, title="New title")],
        run_id=2,
    )
    before = database.rows(STABLE_COLUMNS)
    counts = store(database.engine, [card(1, 1000, later(5))], run_id=1)
    assert counts.price_rows == 0
    assert database.rows(STABLE_COLUMNS) == before
    assert database.row("SELECT times_seen, last_seen_at FROM listings") == (2, later(10))
    assert prices(database) == [("PID:1", 900)]


def test_the_first_of_two_observations_with_the_same_time_wins(database: Database) -> None:
    store(database.engine, [card(1, 900)])
    store(database.engine, [card(1, 1000)], run_id=2)
    assert database.value("SELECT price_cents FROM listings") == 900
    assert prices(database) == [("PID:1", 900)]


def test_a_listing_seen_before_it_was_deactivated_stays_inactive(database: Database) -> None:
    store(database.engine, [card(1)])
    database.do("UPDATE listings SET active = false, deactivated_at = :at", at=later(60))
    store(database.engine, [card(1, at=later(30))], run_id=2)
    assert database.value("SELECT active FROM listings") is False
    store(database.engine, [card(1, at=later(90))], run_id=3)
    assert database.row("SELECT active, deactivated_at FROM listings") == (True, None)


def test_a_new_platform_id_at_a_known_url_is_the_same_listing(database: Database) -> None:
    store(database.engine, [card(1, 1000)])
    counts = store(database.engine, [card(2, 900, later(1), url="https://bazaar.example/item/1")], run_id=2)
    assert (counts.new, counts.updated) == (0, 1)
    assert database.row("SELECT identity_key, platform_id, first_seen_at FROM listings") == (
        "PID:2",
        "2",
        START,
    )
    assert prices(database) == [("PID:2", 1000), ("PID:2", 900)]


def test_a_known_id_at_the_url_of_another_listing_does_not_merge_them(database: Database) -> None:
    store(database.engine, [card(1), card(2)])
    store(database.engine, [card(1, at=later(1), url="https://bazaar.example/item/2")], run_id=2)
    assert [
        tuple(row) for row in database.rows("SELECT identity_key, canonical_url FROM listings ORDER BY 1")
    ] == [
        ("PID:1", "https://bazaar.example/item/1"),
        ("PID:2", "https://bazaar.example/item/2"),
    ]


def test_the_product_page_adds_fields_that_the_card_lacks(database: Database) -> None:
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


def test_a_sold_listing_is_inactive_until_it_is_available_again(database: Database) -> None:
    store(database.engine, [card(1, availability=Availability.SOLD)])
    assert database.row("SELECT active, deactivated_at FROM listings") == (False, START)
    store(database.engine, [card(1, at=later(1))], run_id=2)
    assert database.row("SELECT active, deactivated_at, sold_at FROM listings") == (True, None, None)
    assert [row.availability for row in database.rows(HISTORY)] == ["SOLD", "IN_STOCK"]


def test_changes_of_a_sellers_name_are_recorded(database: Database) -> None:
    names = ["Ada", "Ada", None, "Ada & Sons"]
    for minute, name in enumerate(names):
        seller = SellerInfo("7", name, SellerType.USER)
        store(database.engine, [card(1, at=later(minute), seller=seller)], run_id=minute + 1)
    assert [row.name for row in database.rows("SELECT name FROM seller_history ORDER BY id")] == [
        "Ada",
        "Ada & Sons",
    ]
    assert database.row("SELECT name, type FROM sellers") == ("Ada & Sons", "user")
