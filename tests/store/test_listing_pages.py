"""Paged queries without an index: each page examines a limited number of rows, and all pages are complete."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pricewatch.money import Money
from pricewatch.rules.market_membership import PriceRange
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_filter import TargetFilter
from pricewatch.store.views import admin_listings, gauges, product_list, public_listings
from pricewatch.store.views.listing_filter import ListingFilter
from tests.databases import Database
from tests.store.observations import MARKET, card, store
from tests.store.sample_targets import make_targets

Pages = Callable[[int | None], tuple[list[dict[str, Any]], int | None]]


def walk(page: Pages) -> tuple[list[int], int]:
    """Return the ids on all pages, and the number of pages."""
    found: list[int] = []
    following: int | None = None
    for number in range(1, 100):
        rows, following = page(following)
        found += [row["id"] for row in rows]
        if following is None:
            return found, number
    raise AssertionError("the pages do not end")


@pytest.fixture
def shop(database: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    """Thirty listings; only the first and the last are expensive."""
    monkeypatch.setattr(admin_listings, "WINDOW", 7)
    monkeypatch.setattr(target_rows, "WINDOW", 7)
    now = datetime.now(UTC)
    prices = [90_000 if number in (1, 30) else 1_000 for number in range(1, 31)]
    store(
        database.engine, [card(n, price, at=now, title=f"Thing no{n}") for n, price in enumerate(prices, 1)]
    )
    database.do("UPDATE sources SET visibility = 'VISIBLE' WHERE id = 'bazaar'")
    return database


@pytest.mark.parametrize("market_id", [None, MARKET])
def test_rare_listings_are_found_across_pages(shop: Database, market_id: str | None) -> None:
    def page(before: int | None) -> tuple[list[dict[str, Any]], int | None]:
        criteria = ListingFilter(
            prices=PriceRange(Money(50_000, "EUR")), market_id=market_id, before_id=before
        )
        found: tuple[list[dict[str, Any]], int | None] = shop.call(public_listings.listings, criteria, 5)
        return found

    expensive = shop.rows("SELECT id FROM listings WHERE price_cents > 50000 ORDER BY id DESC")
    found, pages = walk(page)
    assert found == [row.id for row in expensive]
    assert pages > 3


@pytest.mark.parametrize(
    "criteria", [ListingFilter(), ListingFilter(market_id=MARKET), ListingFilter(title_query="thing")]
)
def test_an_export_contains_all_visible_listings(
    shop: Database, monkeypatch: pytest.MonkeyPatch, criteria: ListingFilter
) -> None:
    monkeypatch.setattr(public_listings, "EXPORT_PAGE", 4)
    connect = shop.engine.connect
    assert len({row["id"] for row in public_listings.all_listings(connect, criteria, 1000)}) == 30
    assert len(list(public_listings.all_listings(connect, criteria, 9))) == 9


def test_paging_ends_when_nothing_is_visible(shop: Database) -> None:
    shop.do("UPDATE sources SET visibility = 'INELIGIBLE'")
    found, _ = walk(lambda before: shop.call(public_listings.listings, ListingFilter(before_id=before), 5))
    assert found == []


def test_targets_are_found_by_a_part_of_their_url(shop: Database) -> None:
    make_targets(shop, 30)
    last = shop.value("SELECT url FROM targets ORDER BY id DESC LIMIT 1").rpartition("/")[2]

    def page(after: int | None) -> tuple[list[dict[str, Any]], int | None]:
        found: tuple[list[dict[str, Any]], int | None] = shop.call(
            target_rows.page, TargetFilter(contains=f"/{last}"), most=5, after=after or 0
        )
        return found

    found, pages = walk(page)
    assert found == [shop.value("SELECT max(id) FROM targets")]
    assert pages > 3
    assert (
        len(walk(lambda after: shop.call(target_rows.page, TargetFilter(), most=5, after=after or 0))[0])
        == 30
    )


def test_titles_are_searched_by_word(shop: Database) -> None:
    shop.do("INSERT INTO products (key, title) VALUES ('a', 'Road bike'), ('b', 'City bike')")
    (found,) = shop.call(
        admin_listings.listings, ListingFilter(title_query="no1"), now=datetime.now(UTC), most=5
    )
    assert found["title"] == "Thing no1"
    assert [row.title for row in shop.call(product_list.products, title_query="ROAD", most=5)] == [
        "Road bike"
    ]
    assert len(shop.call(product_list.products, title_query="bike", most=5)) == 2


def test_a_large_number_of_targets_is_counted_at_intervals(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counted(at: datetime) -> int:
        return sum(row.count for row in database.call(gauges.read, at)["targets"])

    now = datetime.now(UTC)
    make_targets(database, 3)
    assert counted(now) == 3
    monkeypatch.setattr("pricewatch.store.views.dashboard.COUNTED_BELOW", -1)
    make_targets(database, 5, first=3)
    assert counted(now + timedelta(minutes=4)) == 3
    assert counted(now + timedelta(minutes=6)) == 8
