"""When a listing was seen, when its price was read and when its stock was read are stored separately."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from pricewatch import clock
from pricewatch.items import Card, SellerInfo
from pricewatch.money import Money
from pricewatch.pipelines.validate import merge_cards
from pricewatch.services import quarantine_review
from pricewatch.store.views import admin_listings, product_list, public_listings
from pricewatch.store.views.listing_filter import ListingFilter
from pricewatch.store.writing import history_append, jump_quarantine, verification_rows
from pricewatch.store.writing.batch import BatchWriter, WriteUnit
from pricewatch.store.writing.incoming_rows import Row
from pricewatch.vocabulary import Availability
from tests.databases import Database
from tests.store.observations import MARKET, START, WRITES, card, later, offer, on_rows, store

IN, OUT, BACKORDER, SOLD, LISTED = (
    Availability.IN_STOCK,
    Availability.OUT_OF_STOCK,
    Availability.BACKORDER,
    Availability.SOLD,
    Availability.LISTED,
)


def card_without_stock(price: int | None = 1000, at: datetime = START) -> Row:
    """Return a card without stock information."""
    return card(1, price, at, availability=None)


def listing(database: Database) -> Any:
    return database.row("SELECT * FROM listings")


def history(database: Database) -> list[tuple[int, str]]:
    found = database.rows("SELECT price_cents, availability FROM price_history ORDER BY observed_at")
    return [tuple(row) for row in found]


def store_out_of_stock_page(database: Database, at: datetime) -> None:
    database.call(history_append.record_out_of_stock, listing(database).id, at, 9, "1.0.0")


class TestPriceAge:
    def test_a_card_without_a_price_does_not_refresh_the_price(self, database: Database) -> None:
        store(database.engine, [card(1, 1000)])
        store(database.engine, [card(1, None, later(60))], run_id=2)
        found = listing(database)
        assert (found.last_seen_at, found.price_observed_at) == (later(60), START)
        assert (found.price_cents, found.currency, found.times_seen) == (1000, "EUR", 2)
        assert found.stock_observed_at == later(60)
        store(database.engine, [card(1, 1000, later(90))], run_id=3)
        assert listing(database).price_observed_at == later(90)
        assert history(database) == [(1000, "IN_STOCK")]

    def test_a_listing_without_a_price_has_no_price_age(self, database: Database) -> None:
        store(database.engine, [card_without_stock(None)])
        found = listing(database)
        assert (found.price_observed_at, found.stock_observed_at, found.last_seen_at) == (None, None, START)
        store(database.engine, [offer(1, 900, later(10))], run_id=2)
        found = listing(database)
        assert (found.price_observed_at, found.stock_observed_at) == (later(10), later(10))
        assert history(database) == [(900, "IN_STOCK")]

    def test_a_quarantined_price_does_not_refresh_the_stored_one(self, database: Database) -> None:
        steps = [*on_rows(jump_quarantine.quarantine_jumps), *WRITES]
        for row, run_id in ((card(1, 1000), 1), (card(1, 9000, later(60), availability=OUT), 2)):
            unit = WriteUnit([row])
            with database.engine.connect() as connection:
                BatchWriter(steps, run_id, MARKET).store(connection, [unit])
        found = listing(database)
        assert (found.last_seen_at, found.price_observed_at, found.stock_observed_at) == (
            later(60),
            START,
            START,
        )

    def test_an_out_of_stock_page_without_a_price_refreshes_the_stock_only(self, database: Database) -> None:
        store(database.engine, [card(1, 1000)])
        store_out_of_stock_page(database, later(30))
        store_out_of_stock_page(database, later(60))
        found = listing(database)
        assert (found.availability, found.price_observed_at) == ("OUT_OF_STOCK", START)
        assert found.stock_observed_at == later(60)
        assert history(database) == [(1000, "IN_STOCK"), (1000, "OUT_OF_STOCK")]
        # Observations that are older, or have the same time, do not change it.
        store_out_of_stock_page(database, later(20))
        store(database.engine, [card(1, 1000, later(45)), card(2, 1)], run_id=3)
        assert listing_number(database, 1).availability == "OUT_OF_STOCK"
        store(database.engine, [card(1, 700, later(60))], run_id=4)
        assert listing_number(database, 1).price_cents == 1000
        assert listing_number(database, 1).price_observed_at == START

    def test_a_sold_card_without_a_price_does_not_refresh_the_price(self, database: Database) -> None:
        store(database.engine, [card(1, 1000)])
        store(database.engine, [card(1, None, later(30), availability=SOLD)], run_id=2)
        found = listing(database)
        assert (found.availability, found.active, found.price_observed_at) == ("SOLD", False, START)
        assert history(database) == [(1000, "IN_STOCK"), (1000, "SOLD")]

    def test_a_price_dated_while_a_clock_was_ahead_is_corrected(self, database: Database) -> None:
        store(database.engine, [card(1, 1000, clock.now() + timedelta(days=400))])
        store(database.engine, [card_without_stock(None, later(60))], run_id=2)
        found = listing(database)
        assert (found.last_seen_at, found.price_observed_at) == (later(60), later(60))

    def test_listings_show_the_confidence_of_the_listing_and_of_its_price(self, database: Database) -> None:
        database.do("UPDATE sources SET visibility = 'VISIBLE' WHERE id = 'bazaar'")
        now = clock.now()
        store(database.engine, [card(1, 1000, now - timedelta(days=2)), card(2, None, now)])
        store(database.engine, [card(1, None, now)], run_id=2)
        with database.engine.connect() as connection:
            seen, _ = public_listings.listings(connection, ListingFilter(), 10)
            fresh, _ = public_listings.listings(
                connection, ListingFilter(price_read_since=now - timedelta(days=1)), 10
            )
            priced = next(row for row in seen if row["price_cents"])
            unpriced = next(row for row in seen if not row["price_cents"])
            stale, _ = admin_listings.listings_page(
                connection, ListingFilter(price_read_before=now - timedelta(days=1)), now=now, most=10
            )
        # Seen now, with a price that is two days old: 100 - 48 h × 1.5 in a hot market.
        assert priced["confidence"] >= 99
        assert (priced["price_confidence"], priced["freshness_confidence"]) == (27, 27)
        assert (unpriced["price_confidence"], unpriced["freshness_confidence"]) == (
            None,
            unpriced["confidence"],
        )
        assert fresh == []
        assert [(row["id"], row["price_confidence"]) for row in stale] == [(priced["id"], 28)]


def listing_number(database: Database, number: int) -> Any:
    return database.row("SELECT * FROM listings WHERE identity_key = :key", key=f"PID:{number}")


class TestStock:
    def test_a_new_listing_is_listed_until_its_page_is_read(self, database: Database) -> None:
        store(database.engine, [card_without_stock()])
        assert listing(database).availability == "LISTED"
        store(database.engine, [offer(1, 1000, later(10))], run_id=2)
        store(database.engine, [card_without_stock(1000, later(20))], run_id=3)
        assert history(database) == [(1000, "LISTED"), (1000, "IN_STOCK")]

    @pytest.mark.parametrize("known", [IN, OUT, BACKORDER, LISTED])
    def test_a_card_without_stock_does_not_change_the_known_stock(
        self, database: Database, known: Availability
    ) -> None:
        first = card_without_stock() if known is LISTED else card(1, availability=known)
        store(database.engine, [first])
        assert store(database.engine, [card_without_stock(1000, later(10))], run_id=2).price_rows == 0
        store(database.engine, [card_without_stock(900, later(20))], run_id=3)
        assert history(database) == [(1000, known), (900, known)]
        found = listing(database)
        assert found.stock_observed_at == (None if known is LISTED else START)
        assert found.price_observed_at == later(20)

    @pytest.mark.parametrize("stock", [IN, OUT, BACKORDER])
    def test_the_stock_of_a_card_is_stored(self, database: Database, stock: Availability) -> None:
        store(database.engine, [card_without_stock()])
        store(database.engine, [card(1, 1000, later(10), availability=stock)], run_id=2)
        assert history(database) == [(1000, "LISTED"), (1000, stock)]

    def test_a_sold_listing_that_is_shown_again_is_listed(self, database: Database) -> None:
        store(database.engine, [card(1, availability=SOLD)])
        store(database.engine, [card_without_stock(1000, later(10))], run_id=2)
        found = listing(database)
        assert (found.availability, found.active, found.sold_at) == ("LISTED", True, None)
        assert history(database) == [(1000, "SOLD"), (1000, "LISTED")]
        # An older observation does not change it.
        store(database.engine, [card(1, 1000, later(5), availability=OUT)], run_id=3)
        assert listing(database).availability == "LISTED"

    @pytest.mark.parametrize("known", [IN, OUT])
    def test_a_gone_listing_that_is_shown_again_is_listed(
        self, database: Database, known: Availability
    ) -> None:
        store(database.engine, [card(1, availability=known)])
        database.do(
            "UPDATE listings SET active = false, deactivated_at = :at, verification_status = 'gone'",
            at=later(5),
        )
        store(database.engine, [card_without_stock(None, later(10))], run_id=2)
        found = listing(database)
        assert (found.availability, found.active, found.price_observed_at) == ("LISTED", True, START)
        assert history(database) == [(1000, known), (1000, "LISTED")]

    def test_a_sold_listing_that_is_verified_as_alive_is_listed(self, database: Database) -> None:
        store(database.engine, [card(1, availability=SOLD)])
        row = {"listing_id": listing(database).id, "last_seen_at": START.isoformat(), "strikes": 0}
        row |= {"struck": False, "alive": True, "gone": False, "sold": False, "sold_at": None}
        database.call(
            verification_rows.apply_results, 2, [{**row, "verification_status": "verified"}], later(30)
        )
        assert listing(database).availability == "LISTED"
        assert history(database) == [(1000, "SOLD"), (1000, "LISTED")]

    def test_an_accepted_jump_of_a_card_without_stock_keeps_listed(self, database: Database) -> None:
        steps = [*on_rows(jump_quarantine.quarantine_jumps), *WRITES]
        for row, run_id in ((card_without_stock(), 1), (card_without_stock(9000, later(10)), 2)):
            with database.engine.connect() as connection:
                BatchWriter(steps, run_id, MARKET).store(connection, [WriteUnit([row])])
        quarantined = database.row("SELECT id, offer FROM quarantine")
        assert quarantined.offer["availability"] == "LISTED"
        done = database.call(quarantine_review.accept, quarantined.id, by="Ada", note=None, now=later(20))
        assert done.outcome is quarantine_review.Review.STORED
        assert history(database) == [(1000, "LISTED"), (9000, "LISTED")]
        assert listing(database).price_observed_at == later(10)

    def test_merging_two_cards_keeps_the_stock_of_either(self) -> None:
        url, seller = "https://bazaar.example/item/1", SellerInfo("7")
        with_stock = Card(url=url, title="Thing", availability=OUT)
        with_price = Card(
            url=url, title="Thing", price_cents=100, currency="EUR", seller=seller, location="Wien"
        )
        merged = merge_cards(with_stock, with_price)
        assert (merged.price_cents, merged.availability) == (100, OUT)

    def test_listed_offers_count_as_on_sale(self, database: Database) -> None:
        store(database.engine, [card_without_stock()])
        database.do("INSERT INTO products (key, title) VALUES ('x', 'Thing')")
        database.do("UPDATE listings SET product_id = (SELECT id FROM products)")
        with database.engine.connect() as connection:
            (product,) = product_list.products(connection, most=5)
        assert (product.on_sale, product.prices[0].lowest) == (1, Money(1000, "EUR"))
