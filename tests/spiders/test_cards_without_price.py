"""Cards that no longer show their price, and cards that do not show the stock."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

PAGES = range(1, 9)
FACTS = "SELECT id, price_cents, price_observed_at, stock_observed_at, availability FROM listings ORDER BY id"
OPEN = "SELECT kind FROM alerts WHERE resolved_at IS NULL ORDER BY kind"


@pytest.fixture
def market(world: Any) -> Any:
    world.set_market(page_size=20)
    return world


def serve_without(world: Any, *attributes: str) -> None:
    """Serve the same overview pages with cards that lack these attributes."""
    for number in PAGES:
        path = f"/c/bikes?page={number}&rows=20"
        page = httpx.get(f"{world.bazaar.url}{path}").text
        for attribute in attributes:
            page = re.sub(rf'(<article[^>]*) {attribute}="[^"]*"', r"\1", page)
        if "data-price" in attributes:
            page = re.sub(r'(class="card-price">)[^<]*', r"\1", page)
        world.bazaar.fault("respond", path=rf"page={number}&", status=200, body=page)


def sweep(world: Any, **arguments: Any) -> Any:
    world.advance(hours=2)
    return world.crawl("sweep", **{"max_details": 0, **arguments})


def open_alerts(world: Any) -> list[str]:
    return [kind for (kind,) in world.database.rows(OPEN)]


@pytest.mark.proof
def test_sweep_of_cards_without_prices_refreshes_no_price(market: Any) -> None:
    assert not sweep(market)["partial"]
    before = market.database.rows(FACTS)
    serve_without(market, "data-price", "data-status")
    run = sweep(market)
    assert (run["status"], run["partial"], run["price_rows"]) == ("finished", True, 0)
    assert not run["progress"]["cycle"]["complete"]
    # Listings are seen again, but their prices and stock are not refreshed.
    assert market.database.rows(FACTS) == before
    assert (
        market.database.value("SELECT count(*) FROM listings WHERE last_seen_run_id < :id", id=run["id"]) == 0
    )
    assert open_alerts(market) == ["cards_without_price"]
    alert = market.database.row("SELECT * FROM alerts")
    assert (alert.severity, alert.subject, alert.details["share"]) == ("P2", market.market, 0)
    # A second cycle with the same result is accepted.
    run = sweep(market)
    assert (run["partial"], run["progress"]["cycle"]["complete"]) == (False, True)
    assert open_alerts(market) == []
    assert market.database.rows(FACTS) == before


def test_returning_prices_resolve_the_alert(market: Any) -> None:
    sweep(market)
    serve_without(market, "data-price")
    sweep(market)
    assert open_alerts(market) == ["cards_without_price"]
    market.bazaar.clear_faults()
    run = sweep(market)
    assert not run["partial"]
    assert open_alerts(market) == []
    share = "SELECT sweep_last_price_share, sweep_doubted_price_share FROM markets WHERE id = :id"
    assert market.database.row(share, id=market.market) == (1, None)


def test_accepted_drop_of_the_price_share_is_a_setting(market: Any) -> None:
    sweep(market)
    serve_without(market, "data-price")
    market.advance(hours=2)
    settings = {"SWEEP_PRICE_SHARE_DROP": 1}
    assert not market.crawl("sweep", settings=settings, max_details=0)["partial"]
    assert open_alerts(market) == []


def test_cards_without_stock_are_listed_until_their_pages_are_read(market: Any) -> None:
    serve_without(market, "data-status")
    sweep(market, max_details=10)
    stocks = "SELECT last_scraped_at IS NOT NULL, availability, count(*) FROM listings GROUP BY 1, 2"
    found = {(read, stock): count for read, stock, count in market.database.rows(stocks)}
    assert found.pop((False, "LISTED")) >= 140
    assert {read for read, _ in found} == {True}
    assert "LISTED" not in {stock for _, stock in found}
    history = market.database.value("SELECT count(*) FROM price_history")
    assert sweep(market)["price_rows"] == 0
    assert market.database.value("SELECT count(*) FROM price_history") == history
    with_stock = (
        "SELECT count(*) FROM price_history h JOIN listings l ON l.id = h.listing_id"
        " WHERE l.last_scraped_at IS NULL AND h.availability <> 'LISTED'"
    )
    assert market.database.value(with_stock) == 0
