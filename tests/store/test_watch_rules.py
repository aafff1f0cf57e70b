"""Watch rules: one message per change, none for a failed crawl and its recovery."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pricewatch.errors import UserError
from pricewatch.money import Money
from pricewatch.store.people import watch_rules
from pricewatch.vocabulary import Availability
from tests.databases import Database
from tests.store.observations import card, later, store

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def listing(database: Database) -> int:
    store(database.engine, [card(1, 1000)])
    return int(database.value("SELECT id FROM listings"))


def messages(database: Database) -> list[str]:
    database.call(watch_rules.evaluate, NOW)
    return [row.title for row in database.rows("SELECT title FROM messages ORDER BY id")]


def add_rule(database: Database, listing: int, kind: str, **threshold: Any) -> int:
    return int(database.call(watch_rules.add, kind=kind, listing_id=listing, now=NOW, **threshold))


def store_price(database: Database, price: int | None, minutes: int, **fields: Any) -> None:
    store(database.engine, [card(1, price, later(minutes), **fields)], run_id=minutes)


def test_price_threshold_fires_once_per_crossing(database: Database, listing: int) -> None:
    add_rule(database, listing, "price_at_or_below", threshold=Money(900, "EUR"))
    assert messages(database) == []
    store_price(database, 850, 10)
    first = ["Thing 1: now costs 8.50 EUR, before 10.00 EUR"]
    assert messages(database) == first
    assert messages(database) == first
    store_price(database, 840, 20)
    assert messages(database) == first
    store_price(database, 950, 30)
    store_price(database, 900, 40)
    assert messages(database) == [*first, "Thing 1: now costs 9.00 EUR, before 9.50 EUR"]


def test_changes_before_the_rule_do_not_fire(database: Database, listing: int) -> None:
    store_price(database, 500, 10)
    add_rule(database, listing, "price_at_or_below", threshold=Money(900, "EUR"))
    add_rule(database, listing, "fell_by", threshold_percent=10)
    assert messages(database) == []


def test_failed_crawl_and_recovery_do_not_fire(database: Database, listing: int) -> None:
    for kind in ("price_at_or_below", "fell_by", "rose_by", "back_in_stock", "sold", "gone"):
        needs: dict[str, Any] = {
            "price_at_or_below": {"threshold": Money(2000, "EUR")},
            "fell_by": {"threshold_percent": 1},
        }
        needs["rose_by"] = needs["fell_by"]
        add_rule(database, listing, kind, **needs.get(kind, {}))
    # Not seen for days: confidence falls, verification is pending, and then it is seen again unchanged.
    database.do(
        "UPDATE listings SET verification_status = 'pending', active = false, deactivated_at = :at",
        at=later(60),
    )
    assert messages(database) == []
    store_price(database, 1000, 5000)
    assert database.value("SELECT active FROM listings")
    assert messages(database) == []


def test_first_known_availability_does_not_fire_back_in_stock(database: Database) -> None:
    store(database.engine, [card(1, 1000, availability=None)])
    add_rule(database, int(database.value("SELECT id FROM listings")), "back_in_stock")
    store_price(database, 1000, 10)
    assert messages(database) == []
    # Sold, then seen on a card without availability, then in stock on its page: fires once.
    store_price(database, 1000, 20, availability=Availability.SOLD)
    store_price(database, 1000, 30, availability=None)
    assert messages(database) == []
    store_price(database, 1000, 40)
    assert messages(database) == ["Thing 1: is back in stock for 10.00 EUR"]


def test_back_in_stock_and_sold_fire(database: Database, listing: int) -> None:
    add_rule(database, listing, "back_in_stock")
    add_rule(database, listing, "sold")
    store_price(database, 1000, 10, availability=Availability.OUT_OF_STOCK)
    assert messages(database) == []
    store_price(database, 1000, 20)
    store_price(database, 1000, 30, availability=Availability.SOLD)
    assert messages(database) == [
        "Thing 1: is back in stock for 10.00 EUR",
        "Thing 1: was sold for 10.00 EUR",
    ]


def test_verified_gone_fires_once_each_time(database: Database, listing: int) -> None:
    add_rule(database, listing, "gone")
    gone = (
        "UPDATE listings SET active = false, verification_status = 'gone',"
        " deactivated_at = CAST(:at AS timestamptz)"
    )
    database.do(gone, at=NOW)
    assert messages(database) == messages(database) == ["Thing 1: is gone; it last cost 10.00 EUR"]
    store_price(database, 1000, 100)
    database.do("UPDATE listings SET active = true, verification_status = NULL")
    assert len(messages(database)) == 1
    database.do(gone, at=NOW + timedelta(days=1))
    assert len(messages(database)) == 2


def test_rule_on_a_product_watches_all_its_listings(database: Database, listing: int) -> None:
    store(database.engine, [card(2, 2000)])
    product = database.value("INSERT INTO products (key, title) VALUES ('k', 'The thing') RETURNING id")
    database.do("UPDATE listings SET product_id = :product", product=product)
    database.call(watch_rules.add, kind="fell_by", product_id=product, threshold_percent=10, now=NOW)
    store(database.engine, [card(1, 800, later(10)), card(2, 1000, later(10))])
    assert len(messages(database)) == 2


def test_rule_on_a_target_starts_with_its_first_check(database: Database) -> None:
    target = database.value(
        "INSERT INTO targets (source_id, adapter_id, url, canonical_url)"
        " VALUES ('bazaar', 'bazaar', 'https://a.example/1', 'https://a.example/1') RETURNING id"
    )
    database.call(
        watch_rules.add, kind="price_at_or_below", target_id=target, threshold=Money(900, "EUR"), now=NOW
    )
    assert messages(database) == []
    store(database.engine, [card(1, 800)])
    database.do("UPDATE targets SET listing_id = (SELECT id FROM listings)")
    assert messages(database) == []
    store_price(database, 1000, 10)
    store_price(database, 700, 20)
    assert messages(database) == ["Thing 1: now costs 7.00 EUR, before 10.00 EUR"]


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "price_at_or_below"},
        {"kind": "fell_by"},
        {"kind": "nonsense"},
        {"kind": "sold", "product_id": 1},
        {"kind": "sold", "listing_id": 10**12},
    ],
)
def test_invalid_rules_are_refused(database: Database, listing: int, fields: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        database.call(watch_rules.add, **{"listing_id": listing, "now": NOW, **fields})
