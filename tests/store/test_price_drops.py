"""Price decreases: the newest first, with the price before; and the attributes that can be filtered by."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from pricewatch.money import Money
from pricewatch.store.views import attribute_facets, price_drop_list
from pricewatch.store.views.attribute_facets import AttributeFacet
from pricewatch.store.views.listing_filter import AttributeCondition, ListingFilter
from pricewatch.store.views.price_drop_list import DropFilter, DropPosition
from pricewatch.vocabulary import Availability
from tests.databases import Database
from tests.store.observations import MARKET, card, store

NOW = datetime.now(UTC)
DAY = DropFilter(since=NOW - timedelta(hours=24))


@pytest.fixture
def fallen(database: Database) -> Database:
    """1 falls by 10 % and by half, 2 rises, 3 changes its currency, 4 was out of stock, 5 fell long ago."""
    prices: dict[int, list[tuple[float, int | None, dict[str, Any]]]] = {
        1: [(50, 1000, {}), (6, 900, {}), (2, 450, {})],
        2: [(50, 1000, {}), (5, 1100, {})],
        3: [(50, 1000, {}), (4, 500, {"currency": "USD"})],
        4: [(50, 1000, {}), (8, None, {"availability": Availability.OUT_OF_STOCK}), (3, 990, {})],
        5: [(90, 1000, {}), (40, 100, {})],
    }
    observed = [
        (hours, number, price, fields) for number, rows in prices.items() for hours, price, fields in rows
    ]
    for run, (hours, number, price, fields) in enumerate(
        sorted(observed, reverse=True, key=lambda o: o[:2]), 1
    ):
        row = card(number, price, NOW - timedelta(hours=hours), **fields)
        store(database.engine, [row], run, MARKET if number != 4 else "bazaar-toys")
    return database


def found(database: Database, filter_: DropFilter, **options: Any) -> list[tuple[str, str, str]]:
    rows, _ = database.call(price_drop_list.price_drops, filter_, most=10, **options)
    return [(row["title"], str(row["before"]), str(row["price"])) for row in rows]


def test_decreases_are_found_with_the_price_before(fallen: Database) -> None:
    half = ("Thing 1", "9.00 EUR", "4.50 EUR")
    tenth = ("Thing 1", "10.00 EUR", "9.00 EUR")
    little = ("Thing 4", "10.00 EUR", "9.90 EUR")
    assert found(fallen, DAY) == [half, little, tenth]
    assert found(fallen, DropFilter(since=DAY.since, min_percent=10)) == [half, tenth]
    assert found(fallen, DropFilter(since=DAY.since, min_percent=50)) == [half]
    assert found(fallen, DropFilter(since=DAY.since, min_percent=50.1)) == []
    assert found(fallen, DropFilter(since=DAY.since, market_id=MARKET)) == [half, tenth]
    assert found(fallen, DropFilter(since=DAY.since, source_id="other")) == []
    week = DropFilter(since=NOW - timedelta(days=7), min_percent=80)
    assert found(fallen, week) == [("Thing 5", "10.00 EUR", "1.00 EUR")]
    assert len(found(fallen, DAY, only_visible=True)) == 3
    fallen.do("UPDATE listings SET active = false WHERE title = 'Thing 1'")
    assert found(fallen, DAY, only_visible=True) == [little]
    assert len(found(fallen, DAY)) == 3


@pytest.mark.parametrize(("most", "window"), [(1, 5_000), (10, 1), (10, 2), (2, 3)])
def test_pages_of_decreases_are_complete(
    database: Database, monkeypatch: pytest.MonkeyPatch, most: int, window: int
) -> None:
    """Cards of one page have the same time, so that a page may end between them."""
    monkeypatch.setattr(price_drop_list, "HISTORY_WINDOW", window)
    for run, (price, hours) in enumerate(((1000, 2), (900, 1)), 1):
        store(database.engine, [card(n, price, NOW - timedelta(hours=hours)) for n in range(5)], run)
    titles, position, pages = [], None, 0
    while pages < 20:
        filter_ = DropFilter(since=DAY.since, before=position)
        rows, position = database.call(price_drop_list.price_drops, filter_, most=most)
        assert all(row["before"] == Money(1000, "EUR") and row["percent"] == 10 for row in rows)
        titles += [row["title"] for row in rows]
        pages += 1
        if position is None:
            break
        assert DropPosition.parse(str(position)) == position
    assert sorted(titles) == [f"Thing {n}" for n in range(5)]
    assert 1 < pages < 20


def test_decreases_are_read_from_the_index_on_time(database: Database) -> None:
    database.do(
        "INSERT INTO listings (source_id, identity_key, url, canonical_url, title, availability,"
        " first_seen_at, last_seen_at) SELECT 'bazaar', 'PID:' || n, 'u' || n, 'u' || n, 'x', 'IN_STOCK',"
        " now(), now() FROM generate_series(1, 3000) n"
    )
    database.do(
        "INSERT INTO price_history (listing_id, observed_at, price_cents, currency, availability)"
        " SELECT id, now() - n * interval '1 hour', 1000, 'EUR', 'IN_STOCK'"
        " FROM listings, generate_series(1, 10) n"
    )
    database.do("ANALYZE")
    changes = price_drop_list._CHANGES.format(position="true").replace(
        ":since", "now() - interval '90 minutes'"
    )
    plan = str(database.rows(f"EXPLAIN {changes} LIMIT 50"))
    assert "observed_at_idx" in plan
    assert "Seq Scan" not in plan.replace("Seq Scan on price_history_other", "")


def test_attributes_of_a_market_are_offered_as_filters(database: Database) -> None:
    fuels = ["Diesel", "Petrol", "Diesel", "Electric"]
    rows = [
        card(
            n,
            attributes={
                "km": f"{n + 1}.000 km",
                "fuel": fuel,
                "rooms": str(n),
                "wheels": "4",
                "vin": f"{'x' * 61}{n}",
                "extras": ["a", "b"],
                "note": "",
                "doors": n,
            },
        )
        for n, fuel in enumerate(fuels)
    ]
    store(database.engine, rows)
    offered = [
        AttributeFacet("doors", (), Decimal(0), Decimal(3)),
        AttributeFacet("fuel", ("Diesel", "Electric", "Petrol")),
        AttributeFacet("km", (), Decimal(1000), Decimal(4000)),
    ]
    for chosen in (ListingFilter(market_id=MARKET), ListingFilter(source_id="bazaar")):
        assert database.call(attribute_facets.facets, chosen) == offered
    assert database.call(attribute_facets.facets, ListingFilter(market_id="bazaar-toys")) == []
    typed = ListingFilter(attributes=(AttributeCondition("colour", "red"),))
    assert database.call(attribute_facets.facets, typed) == [AttributeFacet("colour", ("red",))]
