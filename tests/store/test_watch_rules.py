"""Watch rules: one message per change, none for a failed crawl and its recovery."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pricewatch.errors import UserError
from pricewatch.money import Money
from pricewatch.rules.watch_conditions import KINDS
from pricewatch.store.people import rule_evaluation, watch_rules
from pricewatch.vocabulary import Availability
from tests.databases import Database
from tests.store.observations import card, later, store

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def listing(database: Database) -> int:
    store(database.engine, [card(1, 1000)])
    return int(database.value("SELECT id FROM listings"))


def messages(database: Database) -> list[str]:
    database.call(rule_evaluation.evaluate, NOW)
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
    add_rule(database, listing, "fell_by", threshold_percent=10)
    for kind in ("any_change", "lowest_ever", "lowest_in_30_days", "back_in_stock", "sold", "gone"):
        add_rule(database, listing, kind)
    assert messages(database) == []


def test_a_rule_that_is_true_already_fires_at_once_and_only_once(database: Database, listing: int) -> None:
    rule = add_rule(database, listing, "price_at_or_below", threshold=Money(1500, "EUR"))
    told = ["Thing 1: costs 10.00 EUR already, which is at most 15.00 EUR"]
    assert [row.title for row in database.rows("SELECT title FROM messages")] == told
    assert messages(database) == told
    # The message about this price is not repeated by a change of the rule.
    limit = {"kind": "price_at_or_below", "threshold": Money(1200, "EUR")}
    assert database.call(watch_rules.change, rule, now=NOW, **limit)
    assert messages(database) == told
    store_price(database, 1300, 10)
    store_price(database, 1200, 20)
    assert messages(database) == [*told, "Thing 1: now costs 12.00 EUR, before 13.00 EUR"]


def test_a_threshold_in_another_currency_is_not_true_already(database: Database, listing: int) -> None:
    add_rule(database, listing, "price_at_or_below", threshold=Money(1500, "USD"))
    assert messages(database) == []


def test_gone_and_sold_listings_fire_new_rules(database: Database, listing: int) -> None:
    store_price(database, 1000, 10, availability=Availability.SOLD)
    database.do("UPDATE listings SET verification_status = 'gone'")
    add_rule(database, listing, "sold")
    add_rule(database, listing, "gone")
    assert messages(database) == [
        "Thing 1: was sold already, for 10.00 EUR",
        "Thing 1: is gone; it last cost 10.00 EUR",
    ]


def test_changed_threshold_fires_if_it_is_true_now(database: Database, listing: int) -> None:
    rule = add_rule(database, listing, "price_at_or_below", threshold=Money(500, "EUR"))
    assert messages(database) == []
    limit = {"kind": "price_at_or_below", "threshold": Money(1100, "EUR")}
    assert database.call(watch_rules.change, rule, now=NOW, **limit)
    assert messages(database) == ["Thing 1: costs 10.00 EUR already, which is at most 11.00 EUR"]
    assert not database.call(watch_rules.change, rule + 1, now=NOW, **limit)


def test_paused_rule_does_not_fire_and_continues_from_the_current_price(
    database: Database, listing: int
) -> None:
    rule = add_rule(database, listing, "any_change")
    assert database.call(watch_rules.set_enabled, rule, NOW, enabled=False)
    store_price(database, 800, 10)
    assert messages(database) == []
    assert database.call(watch_rules.set_enabled, rule, NOW, enabled=True)
    assert messages(database) == []
    store_price(database, 700, 20)
    assert messages(database) == ["Thing 1: now costs 7.00 EUR, before 8.00 EUR"]
    assert not database.call(watch_rules.set_enabled, rule + 1, NOW, enabled=True)


def test_any_change_of_price_or_stock_fires(database: Database, listing: int) -> None:
    add_rule(database, listing, "any_change")
    store_price(database, 1100, 10)
    store_price(database, 1100, 20, availability=Availability.OUT_OF_STOCK)
    store_price(database, 900, 30)
    assert messages(database) == [
        "Thing 1: now costs 11.00 EUR, before 10.00 EUR",
        "Thing 1: is out of stock for 11.00 EUR",
        "Thing 1: now costs 9.00 EUR, before 11.00 EUR, and is in stock for 9.00 EUR",
    ]


def test_lowest_price_is_compared_with_all_earlier_prices_or_with_those_of_30_days(
    database: Database, listing: int
) -> None:
    day = 24 * 60
    add_rule(database, listing, "lowest_ever")
    add_rule(database, listing, "lowest_in_30_days")
    store_price(database, 700, day)
    ever = "Thing 1: costs {}, the lowest price so far; the lowest before was {}"
    month = "Thing 1: costs {}, the lowest price in 30 days; the lowest before was {}"
    first = [text.format("7.00 EUR", "10.00 EUR") for text in (ever, month)]
    assert messages(database) == first
    store_price(database, 950, 2 * day)
    store_price(database, 800, 20 * day)
    assert messages(database) == first
    # 7.00 was the price until day 2, which is more than 30 days ago. 9.50 and 8.00 are not.
    store_price(database, 790, 40 * day)
    assert messages(database) == [*first, month.format("7.90 EUR", "8.00 EUR")]
    # The price of a listing that is out of stock or in another currency is no comparison.
    store_price(database, 100, 41 * day, availability=Availability.OUT_OF_STOCK)
    store_price(database, 650, 42 * day, currency="USD")
    store_price(database, 690, 43 * day)
    last = [text.format("6.90 EUR", low) for text, low in ((ever, "7.00 EUR"), (month, "7.90 EUR"))]
    assert messages(database)[3:] == last


def test_offers_that_join_a_product_fire_its_rules(database: Database, listing: int) -> None:
    product = database.value("INSERT INTO products (key, title) VALUES ('k', 'The thing') RETURNING id")
    link = "UPDATE listings SET product_id = CAST(:product AS bigint) WHERE title = :title"
    database.do(link, product=product, title="Thing 1")
    for kind in ("price_at_or_below", "lowest_ever", "any_change", "fell_by", "back_in_stock"):
        limits: dict[str, Any] = {"threshold": Money(900, "EUR")} if kind == "price_at_or_below" else {}
        limits |= {"threshold_percent": 10} if kind == "fell_by" else {}
        database.call(watch_rules.add, kind=kind, product_id=product, now=NOW, **limits)
    assert messages(database) == []
    store(database.engine, [card(2, 850), card(3, 2000)])
    database.do(link, product=product, title="Thing 2")
    assert messages(database) == ["Thing 2: is a new offer for 8.50 EUR"] * 3
    database.do(link, product=product, title="Thing 3")
    joined = [*["Thing 2: is a new offer for 8.50 EUR"] * 3, "Thing 3: is a new offer for 20.00 EUR"]
    assert messages(database) == joined
    # An offer that leaves the product is no longer watched; its return does not repeat the message.
    database.do(link, product=None, title="Thing 2")
    store(database.engine, [card(2, 800, later(10))], run_id=10)
    assert messages(database) == joined
    store(database.engine, [card(2, 850, later(20))], run_id=20)
    database.do(link, product=product, title="Thing 2")
    assert len(messages(database)) > len(joined)
    again = messages(database)
    database.do(link, product=None, title="Thing 2")
    messages(database)
    database.do(link, product=product, title="Thing 2")
    assert messages(database) == again


def test_failed_crawl_and_recovery_do_not_fire(database: Database, listing: int) -> None:
    for kind in KINDS:
        needs: dict[str, Any] = {
            "price_at_or_below": {"threshold": Money(500, "EUR")},
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
    first = ["Thing 1: costs 8.00 EUR already, which is at most 9.00 EUR"]
    assert messages(database) == first
    store_price(database, 1000, 10)
    store_price(database, 700, 20)
    assert messages(database) == [*first, "Thing 1: now costs 7.00 EUR, before 10.00 EUR"]


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
