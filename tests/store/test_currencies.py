"""Prices in several currencies: amounts of different currencies are never compared."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from pricewatch.money import Money
from pricewatch.rules.market_membership import PriceRange
from pricewatch.store.people import rule_evaluation, watch_rules
from pricewatch.store.source_registry import market_rows
from pricewatch.store.views import admin_listings, product_list, public_listings
from pricewatch.store.views.listing_filter import ListingFilter
from pricewatch.store.writing import incoming_rows, market_sync
from tests.databases import Database
from tests.store.observations import MARKET, card, later, store

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PRICES = {1: (2_000, "USD"), 2: (1_500, "USD"), 3: (900, "JPY"), 4: (5_000, "KWD"), 5: (1, "EUR")}


@pytest.fixture
def product(database: Database) -> int:
    """Return a product with offers in dollars, yen and dinars, and one in euros that is out of stock."""
    rows = [card(number, price, currency=currency) for number, (price, currency) in PRICES.items()]
    store(database.engine, rows)
    database.do("UPDATE listings SET availability = 'OUT_OF_STOCK' WHERE currency = 'EUR'")
    product = database.value("INSERT INTO products (key, title) VALUES ('x', 'Thing') RETURNING id")
    database.do("UPDATE listings SET product_id = :product", product=product)
    return int(product)


def test_a_product_has_a_lowest_price_in_each_currency(database: Database, product: int) -> None:
    row = database.call(product_list.product, product)
    assert [(one.lowest, one.highest, one.on_sale) for one in row.prices] == [
        (Money(1_500, "USD"), Money(2_000, "USD"), 2),
        (Money(900, "JPY"), Money(900, "JPY"), 1),
        (Money(5_000, "KWD"), Money(5_000, "KWD"), 1),
    ]
    assert row.lowest_in_currency_of(Money(2_000, "USD")) == Money(1_500, "USD")
    assert row.lowest_in_currency_of(Money(2_000, "EUR")) is None
    assert row.lowest_in_currency_of(None) is None
    assert database.call(product_list.products, most=5) == [row]
    assert database.call(product_list.products, title_query="thing", most=5) == [row]


def test_offers_are_grouped_by_currency_and_sorted_by_price(database: Database, product: int) -> None:
    offers = database.call(product_list.offers, product, NOW)
    in_stock = [str(offer["price"]) for offer in offers if offer["availability"] == "IN_STOCK"]
    assert in_stock == ["900 JPY", "5.000 KWD", "15.00 USD", "20.00 USD"]


@pytest.mark.parametrize(
    ("prices", "numbers"),
    [
        (PriceRange.of(1_600, None, "USD"), {1}),
        (PriceRange.of(None, 5_000, "USD"), {1, 2}),
        (PriceRange.of(1, 99_999_999, "JPY"), {3}),
        (PriceRange.of(1, None, "CHF"), set()),
    ],
)
def test_a_search_by_price_matches_one_currency_only(
    database: Database, product: int, prices: PriceRange, numbers: set[int]
) -> None:
    criteria = ListingFilter(prices=prices)
    found, _ = database.call(admin_listings.listings_page, criteria, now=NOW, most=10)
    assert {_number(row) for row in found} == numbers
    database.do("UPDATE listings SET last_seen_at = now()")
    seen, _ = database.call(public_listings.listings, criteria, 10)
    assert {_number(row) for row in seen} == numbers
    dollars, _ = database.call(public_listings.listings, ListingFilter(currency="USD"), 10)
    assert {_number(row) for row in dollars} == {1, 2}


def _number(row: dict[str, Any]) -> int:
    return int(row["title"].removeprefix("Thing "))


def test_a_watch_rule_ignores_prices_in_other_currencies(database: Database, product: int) -> None:
    threshold = Money(2_000, "EUR")
    database.call(watch_rules.add, kind="price_at_or_below", product_id=product, threshold=threshold, now=NOW)
    priced = [(n, price, code) for n, (price, code) in PRICES.items() if price > 1]
    cheaper = [card(n, price - 1, later(9), currency=code) for n, price, code in priced]
    store(database.engine, cheaper)
    assert database.call(rule_evaluation.evaluate, NOW) == 0
    # Now in euros and below the threshold; the earlier price in yen is not compared with it.
    store(database.engine, [card(3, 1_999, later(19), currency="EUR")])
    assert database.call(rule_evaluation.evaluate, NOW) == 1
    message = database.value("SELECT title FROM messages")
    assert message == "Thing 3: now costs 19.99 EUR, before 899 JPY"
    rule = database.row("SELECT last_fired_price_cents, last_fired_currency FROM watch_rules")
    assert rule == (1_999, "EUR")


def test_price_changes_are_computed_within_one_currency(database: Database) -> None:
    store(database.engine, [card(1, 10_000, currency="JPY")])
    listing = database.value("SELECT id FROM listings")
    database.call(watch_rules.add, kind="fell_by", listing_id=listing, threshold_percent=10, now=NOW)
    store(database.engine, [card(1, 6_000, later(1), currency="EUR")])
    assert database.call(rule_evaluation.evaluate, NOW) == 0
    store(database.engine, [card(1, 5_000, later(2), currency="EUR")])
    assert database.call(rule_evaluation.evaluate, NOW) == 1
    assert database.value("SELECT title FROM messages") == "Thing 1: fell from 60.00 EUR to 50.00 EUR"


@pytest.mark.parametrize(
    ("currencies", "found"), [(["EUR"], "EUR"), (["EUR", "USD"], None), ([], None), (["JPY", "JPY"], "JPY")]
)
def test_the_currency_of_a_product_is_known_if_all_its_listings_have_it(
    database: Database, currencies: list[str], found: str | None
) -> None:
    product = database.value("INSERT INTO products (key, title) VALUES ('x', 'Thing') RETURNING id")
    rows = [card(n, 100, currency=code) for n, code in enumerate(currencies)]
    store(database.engine, rows or [card(1, None)])
    database.do("UPDATE listings SET product_id = :product", product=product)
    assert database.call(watch_rules.currency_of, product_id=product) == found


def test_listings_in_another_currency_stay_in_the_market(database: Database) -> None:
    """Only a price in the currency of the range can be outside of the range."""
    store(database.engine, [card(1, 100), card(2, 100, currency="JPY"), card(3, None), card(4, 900)])
    database.do("UPDATE markets SET min_price_cents = 500, price_currency = 'EUR' WHERE id = :id", id=MARKET)

    def sync(connection: Any) -> dict[str, int]:
        incoming_rows.load(connection, [])
        return market_sync.sync(connection, market_rows.load_market(connection, MARKET), NOW)

    assert database.call(sync)["inspect/removed"] == 1
    left = database.rows(
        "SELECT title FROM listings l JOIN market_listings m ON m.listing_id = l.id ORDER BY l.title"
    )
    assert [row.title for row in left] == ["Thing 2", "Thing 3", "Thing 4"]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO watch_rules (kind, threshold_cents) VALUES ('price_at_or_below', 5)",
        "UPDATE markets SET min_price_cents = 5",
        "UPDATE markets SET max_price_cents = 5",
        "UPDATE markets SET max_price_cents = 5, price_currency = 'eur'",
    ],
)
def test_amounts_without_a_currency_are_refused(database: Database, statement: str) -> None:
    with pytest.raises(IntegrityError):
        database.do(statement)
