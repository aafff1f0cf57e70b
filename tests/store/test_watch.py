"""Watch rules over what is stored: one message per change, none for a failed crawl and its recovery."""

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


def told(database: Database) -> list[str]:
    database.call(watch_rules.evaluate, NOW)
    return [row.title for row in database.rows("SELECT title FROM messages ORDER BY id")]


def rule(database: Database, listing: int, kind: str, **threshold: Any) -> int:
    return int(database.call(watch_rules.add, kind=kind, listing_id=listing, now=NOW, **threshold))


def see(database: Database, price: int | None, minutes: int, **fields: Any) -> None:
    store(database.engine, [card(1, price, later(minutes), **fields)], run_id=minutes)


def test_tells_of_a_price_once(database: Database, listing: int) -> None:
    rule(database, listing, "price_at_or_below", threshold=Money(900, "EUR"))
    assert told(database) == []
    see(database, 850, 10)
    first = ["Thing 1: now costs 8.50 EUR, before 10.00 EUR"]
    assert told(database) == first
    assert told(database) == first
    see(database, 840, 20)
    assert told(database) == first
    see(database, 950, 30)
    see(database, 900, 40)
    assert told(database) == [*first, "Thing 1: now costs 9.00 EUR, before 9.50 EUR"]


def test_what_was_stored_before_the_rule_is_no_news(database: Database, listing: int) -> None:
    see(database, 500, 10)
    rule(database, listing, "price_at_or_below", threshold=Money(900, "EUR"))
    rule(database, listing, "fell_by", threshold_percent=10)
    assert told(database) == []


def test_a_failed_crawl_and_its_recovery_are_no_change(database: Database, listing: int) -> None:
    for kind in ("price_at_or_below", "fell_by", "rose_by", "back_in_stock", "sold", "gone"):
        needs: dict[str, Any] = {
            "price_at_or_below": {"threshold": Money(2000, "EUR")},
            "fell_by": {"threshold_percent": 1},
        }
        needs["rose_by"] = needs["fell_by"]
        rule(database, listing, kind, **needs.get(kind, {}))
    # Nobody could see it for days: trust fades, it is looked at, and then it is there again as it was.
    database.do(
        "UPDATE listings SET verification_status = 'pending', active = false, deactivated_at = :at",
        at=later(60),
    )
    assert told(database) == []
    see(database, 1000, 5000)
    assert database.value("SELECT active FROM listings")
    assert told(database) == []


def test_a_page_that_tells_of_stock_for_the_first_time_brings_nothing_back(database: Database) -> None:
    store(database.engine, [card(1, 1000, availability=None)])
    rule(database, int(database.value("SELECT id FROM listings")), "back_in_stock")
    see(database, 1000, 10)
    assert told(database) == []
    # Sold, shown again by a card that says nothing, and then its page tells: that is news, once.
    see(database, 1000, 20, availability=Availability.SOLD)
    see(database, 1000, 30, availability=None)
    assert told(database) == []
    see(database, 1000, 40)
    assert told(database) == ["Thing 1: is back in stock for 10.00 EUR"]


def test_tells_of_stock_and_sale(database: Database, listing: int) -> None:
    rule(database, listing, "back_in_stock")
    rule(database, listing, "sold")
    see(database, 1000, 10, availability=Availability.OUT_OF_STOCK)
    assert told(database) == []
    see(database, 1000, 20)
    see(database, 1000, 30, availability=Availability.SOLD)
    assert told(database) == ["Thing 1: is back in stock for 10.00 EUR", "Thing 1: was sold for 10.00 EUR"]


def test_gone_is_told_with_evidence_once_each_time(database: Database, listing: int) -> None:
    rule(database, listing, "gone")
    gone = (
        "UPDATE listings SET active = false, verification_status = 'gone',"
        " deactivated_at = CAST(:at AS timestamptz)"
    )
    database.do(gone, at=NOW)
    assert told(database) == told(database) == ["Thing 1: is gone; it last cost 10.00 EUR"]
    see(database, 1000, 100)
    database.do("UPDATE listings SET active = true, verification_status = NULL")
    assert len(told(database)) == 1
    database.do(gone, at=NOW + timedelta(days=1))
    assert len(told(database)) == 2


def test_a_rule_of_a_product_watches_all_its_listings(database: Database, listing: int) -> None:
    store(database.engine, [card(2, 2000)])
    product = database.value("INSERT INTO products (key, title) VALUES ('k', 'The thing') RETURNING id")
    database.do("UPDATE listings SET product_id = :product", product=product)
    database.call(watch_rules.add, kind="fell_by", product_id=product, threshold_percent=10, now=NOW)
    store(database.engine, [card(1, 800, later(10)), card(2, 1000, later(10))])
    assert len(told(database)) == 2


def test_a_rule_of_a_target_begins_with_its_first_look(database: Database) -> None:
    target = database.value(
        "INSERT INTO targets (source_id, adapter_id, url, canonical_url)"
        " VALUES ('bazaar', 'bazaar', 'https://a.example/1', 'https://a.example/1') RETURNING id"
    )
    database.call(
        watch_rules.add, kind="price_at_or_below", target_id=target, threshold=Money(900, "EUR"), now=NOW
    )
    assert told(database) == []
    store(database.engine, [card(1, 800)])
    database.do("UPDATE targets SET listing_id = (SELECT id FROM listings)")
    assert told(database) == []
    see(database, 1000, 10)
    see(database, 700, 20)
    assert told(database) == ["Thing 1: now costs 7.00 EUR, before 10.00 EUR"]


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "price_at_or_below"},
        {"kind": "fell_by"},
        {"kind": "nonsense"},
        {"kind": "sold", "product_id": 1},
        {"kind": "sold", "listing_id": 10**12},
    ],
)
def test_a_rule_without_sense_is_refused(database: Database, listing: int, given: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        database.call(watch_rules.add, **{"listing_id": listing, "now": NOW, **given})
