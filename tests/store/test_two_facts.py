"""A sighting and a price are two facts, each as old as what was read; a silent card tells no stock."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from pricewatch import clock
from pricewatch.items import Card, SellerInfo
from pricewatch.money import Money
from pricewatch.pipelines.validate import richer
from pricewatch.services import quarantine_review
from pricewatch.store.views import admin_listings, public_listings
from pricewatch.store.views.admin_listings import ListingsWanted
from pricewatch.store.writing import held_jumps, history_append, verification_rows
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


def silent(price: int | None = 1000, at: datetime = START) -> Row:
    """A card that says nothing of stock."""
    return card(1, price, at, availability=None)


def listing(database: Database) -> Any:
    return database.row("SELECT * FROM listings")


def rows(database: Database) -> list[tuple[int, str]]:
    found = database.rows("SELECT price_cents, availability FROM price_history ORDER BY observed_at")
    return [tuple(row) for row in found]


def out_of_stock_page(database: Database, at: datetime) -> None:
    database.call(history_append.note_out_of_stock, listing(database).id, at, 9, "1.0.0")


class TestAgeOfThePrice:
    def test_a_card_without_a_price_is_a_sighting_only(self, database: Database) -> None:
        store(database.engine, [card(1, 1000)])
        store(database.engine, [card(1, None, later(60))], run_id=2)
        found = listing(database)
        assert (found.last_seen_at, found.price_observed_at) == (later(60), START)
        assert (found.price_cents, found.currency, found.times_seen) == (1000, "EUR", 2)
        assert found.stock_observed_at == later(60)
        store(database.engine, [card(1, 1000, later(90))], run_id=3)
        assert listing(database).price_observed_at == later(90)
        assert rows(database) == [(1000, "IN_STOCK")]

    def test_a_listing_that_never_showed_a_price_has_no_age_of_it(self, database: Database) -> None:
        store(database.engine, [silent(None)])
        found = listing(database)
        assert (found.price_observed_at, found.stock_observed_at, found.last_seen_at) == (None, None, START)
        store(database.engine, [offer(1, 900, later(10))], run_id=2)
        found = listing(database)
        assert (found.price_observed_at, found.stock_observed_at) == (later(10), later(10))
        assert rows(database) == [(900, "IN_STOCK")]

    def test_a_price_that_is_held_makes_the_old_one_no_fresher(self, database: Database) -> None:
        steps = [*on_rows(held_jumps.hold), *WRITES]
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

    def test_a_page_that_is_out_of_stock_without_a_price(self, database: Database) -> None:
        store(database.engine, [card(1, 1000)])
        out_of_stock_page(database, later(30))
        out_of_stock_page(database, later(60))
        found = listing(database)
        assert (found.availability, found.price_observed_at) == ("OUT_OF_STOCK", START)
        assert found.stock_observed_at == later(60)
        assert rows(database) == [(1000, "IN_STOCK"), (1000, "OUT_OF_STOCK")]
        # Older news, and news of the same instant, do not go over it.
        out_of_stock_page(database, later(20))
        store(database.engine, [card(1, 1000, later(45)), card(2, 1)], run_id=3)
        assert listing_of(database, 1).availability == "OUT_OF_STOCK"
        store(database.engine, [card(1, 700, later(60))], run_id=4)
        assert listing_of(database, 1).price_cents == 1000
        assert listing_of(database, 1).price_observed_at == START

    def test_a_sold_page_without_a_price(self, database: Database) -> None:
        store(database.engine, [card(1, 1000)])
        store(database.engine, [card(1, None, later(30), availability=SOLD)], run_id=2)
        found = listing(database)
        assert (found.availability, found.active, found.price_observed_at) == ("SOLD", False, START)
        assert rows(database) == [(1000, "IN_STOCK"), (1000, "SOLD")]

    def test_a_price_noted_while_the_clock_was_ahead_is_not_fresh_for_ever(self, database: Database) -> None:
        store(database.engine, [card(1, 1000, clock.now() + timedelta(days=400))])
        store(database.engine, [silent(None, later(60))], run_id=2)
        found = listing(database)
        assert (found.last_seen_at, found.price_observed_at) == (later(60), later(60))

    def test_consumers_and_people_see_both(self, database: Database) -> None:
        database.do("UPDATE sources SET visibility = 'VISIBLE' WHERE id = 'bazaar'")
        now = clock.now()
        store(database.engine, [card(1, 1000, now - timedelta(days=2)), card(2, None, now)])
        store(database.engine, [card(1, None, now)], run_id=2)
        with database.engine.connect() as connection:
            seen, _ = public_listings.listings(connection, ListingsWanted(), 10)
            fresh, _ = public_listings.listings(
                connection, ListingsWanted(price_read_since=now - timedelta(days=1)), 10
            )
            priced = next(row for row in seen if row["price_cents"])
            bare = next(row for row in seen if not row["price_cents"])
            stale, _ = admin_listings.listings_page(
                connection, ListingsWanted(price_read_before=now - timedelta(days=1)), now=now, most=10
            )
        # Seen a moment ago, but at the price of two days ago: 100 - 48 h × 1.5, in a hot market.
        assert priced["confidence"] >= 99
        assert (priced["price_confidence"], priced["freshness_confidence"]) == (27, 27)
        assert (bare["price_confidence"], bare["freshness_confidence"]) == (None, bare["confidence"])
        assert fresh == []
        assert [(row["id"], row["price_confidence"]) for row in stale] == [(priced["id"], 28)]


def listing_of(database: Database, number: int) -> Any:
    return database.row("SELECT * FROM listings WHERE identity_key = :key", key=f"PID:{number}")


class TestListed:
    def test_a_new_listing_is_listed_until_its_page_tells(self, database: Database) -> None:
        store(database.engine, [silent()])
        assert listing(database).availability == "LISTED"
        store(database.engine, [offer(1, 1000, later(10))], run_id=2)
        store(database.engine, [silent(1000, later(20))], run_id=3)
        assert rows(database) == [(1000, "LISTED"), (1000, "IN_STOCK")]

    @pytest.mark.parametrize("known", [IN, OUT, BACKORDER, LISTED])
    def test_a_silent_card_changes_no_known_stock(self, database: Database, known: Availability) -> None:
        first = silent() if known is LISTED else card(1, availability=known)
        store(database.engine, [first])
        assert store(database.engine, [silent(1000, later(10))], run_id=2).price_rows == 0
        store(database.engine, [silent(900, later(20))], run_id=3)
        assert rows(database) == [(1000, known), (900, known)]
        found = listing(database)
        assert found.stock_observed_at == (None if known is LISTED else START)
        assert found.price_observed_at == later(20)

    @pytest.mark.parametrize("said", [IN, OUT, BACKORDER])
    def test_a_card_that_tells_is_believed(self, database: Database, said: Availability) -> None:
        store(database.engine, [silent()])
        store(database.engine, [card(1, 1000, later(10), availability=said)], run_id=2)
        assert rows(database) == [(1000, "LISTED"), (1000, said)]

    def test_what_was_sold_and_is_shown_again_is_listed(self, database: Database) -> None:
        store(database.engine, [card(1, availability=SOLD)])
        store(database.engine, [silent(1000, later(10))], run_id=2)
        found = listing(database)
        assert (found.availability, found.active, found.sold_at) == ("LISTED", True, None)
        assert rows(database) == [(1000, "SOLD"), (1000, "LISTED")]
        # What comes late does not go over it.
        store(database.engine, [card(1, 1000, later(5), availability=OUT)], run_id=3)
        assert listing(database).availability == "LISTED"

    @pytest.mark.parametrize("known", [IN, OUT])
    def test_what_was_gone_and_is_shown_again_is_listed(
        self, database: Database, known: Availability
    ) -> None:
        store(database.engine, [card(1, availability=known)])
        database.do(
            "UPDATE listings SET active = false, deactivated_at = :at, verification_status = 'gone'",
            at=later(5),
        )
        store(database.engine, [silent(None, later(10))], run_id=2)
        found = listing(database)
        assert (found.availability, found.active, found.price_observed_at) == ("LISTED", True, START)
        assert rows(database) == [(1000, known), (1000, "LISTED")]

    def test_what_verification_finds_alive_is_no_longer_sold(self, database: Database) -> None:
        store(database.engine, [card(1, availability=SOLD)])
        row = {"listing_id": listing(database).id, "last_seen_at": START.isoformat(), "strikes": 0}
        row |= {"struck": False, "alive": True, "gone": False, "sold": False, "sold_at": None}
        database.call(verification_rows.apply, 2, [{**row, "verification_status": "verified"}], later(30))
        assert listing(database).availability == "LISTED"
        assert rows(database) == [(1000, "SOLD"), (1000, "LISTED")]

    def test_an_accepted_jump_of_a_silent_card_tells_no_stock(self, database: Database) -> None:
        steps = [*on_rows(held_jumps.hold), *WRITES]
        for row, run_id in ((silent(), 1), (silent(9000, later(10)), 2)):
            with database.engine.connect() as connection:
                BatchWriter(steps, run_id, MARKET).store(connection, [WriteUnit([row])])
        held = database.row("SELECT id, offer FROM quarantine")
        assert held.offer["availability"] == "LISTED"
        done = database.call(quarantine_review.accept, held.id, by="Ada", note=None, now=later(20))
        assert done.outcome is quarantine_review.Review.STORED
        assert rows(database) == [(1000, "LISTED"), (9000, "LISTED")]
        assert listing(database).price_observed_at == later(10)

    def test_of_two_cards_of_one_listing_the_stock_that_one_tells_is_kept(self) -> None:
        url, seller = "https://bazaar.example/item/1", SellerInfo("7")
        bare = Card(url=url, title="Thing", availability=OUT)
        rich = Card(url=url, title="Thing", price_cents=100, currency="EUR", seller=seller, location="Wien")
        merged = richer(bare, rich)
        assert (merged.price_cents, merged.availability) == (100, OUT)

    def test_a_product_on_sale_may_be_only_listed(self, database: Database) -> None:
        store(database.engine, [silent()])
        database.do("INSERT INTO products (key, title) VALUES ('x', 'Thing')")
        database.do("UPDATE listings SET product_id = (SELECT id FROM products)")
        with database.engine.connect() as connection:
            (product,) = admin_listings.products(connection, most=5)
        assert (product.on_sale, product.prices[0].lowest) == (1, Money(1000, "EUR"))
