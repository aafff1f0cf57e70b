"""Feeds: one row per accepted listing, with readable fields, after it is committed."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pricewatch import settings as ours
from tests.conftest import Crawl
from tests.spiders.conftest import World, crawler, world
from tests.spiders.target_runs import fetch, readable, watch

__all__ = ["crawler", "world"]
FIELDS = ["source", "title", "price", "price_max", "currency", "availability", "url", "seen_at"]


def rows_of(world: World, spider: str, path: Path, **arguments: Any) -> tuple[Any, list[dict[str, Any]]]:
    settings = {"FEEDS": {str(path): {"format": "jsonlines", "overwrite": True}}}
    run = world.crawl(spider, settings=settings, **arguments)
    lines = path.read_text().splitlines() if path.exists() else []
    return run, [json.loads(line) for line in lines]


@pytest.mark.parametrize("spider", ["discovery", "sweep"])
def test_cards_and_offers_are_rows(world: World, tmp_path: Path, spider: str) -> None:
    run, rows = rows_of(world, spider, tmp_path / "out.jsonl", max_pages=2, max_details=4)
    assert run["status"] == "finished"
    cards = world.database.value("SELECT cards FROM runs")
    assert len(rows) == cards + run["counters"]["details"]
    assert {row["url"] for row in rows} == {url for (url,) in world.database.rows("SELECT url FROM listings")}
    stored = {
        row.url: row
        for row in world.database.rows("SELECT url, title, price_cents, currency, source_id FROM listings")
    }
    for row in rows:
        assert list(row) == FIELDS
        known = stored[row["url"]]
        assert (row["title"], row["currency"], row["source"]) == (known.title, "EUR", "bazaar")
        assert Decimal(row["price"]) * 100 == known.price_cents


def test_a_targets_run_writes_its_offers(world: World, tmp_path: Path) -> None:
    listings, path = readable(world, 3), tmp_path / "out.jsonl"
    watch(world, listings)
    run = fetch(world, settings={"FEEDS": {str(path): {"format": "jsonlines"}}})
    assert run["status"] == "finished"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted((row["title"], Decimal(row["price"])) for row in rows) == sorted(
        (true.title, Decimal(true.price).scaleb(-2)) for true in listings
    )


def test_verification_writes_a_row_for_each_listing_that_it_checked(world: World, tmp_path: Path) -> None:
    world.crawl("discovery", max_details=0)
    gone, *others = world.on_sale()[:3]
    for true in (gone, *others):
        world.make_unseen(true, hours=30)
    world.bazaar.fault("status", f"^{gone.url}$", status=404)
    run, rows = rows_of(world, "verification", tmp_path / "out.jsonl", max_listings=3)
    assert run["status"] == "finished"
    found = {row["url"].rpartition("/item/")[2]: row for row in rows}
    assert len(rows) == 3
    assert found[gone.url.rpartition("/item/")[2]]["outcome"] == "not_found"
    assert sorted(row["outcome"] for row in rows) == ["alive", "alive", "not_found"]
    assert list(rows[0]) == [*FIELDS, "checked_at", "outcome"]


@pytest.mark.parametrize("addon", ["BreaksOnOffers", "DropsOffers"])
def test_quarantined_or_dropped_offers_are_not_exported(
    world: World, crawl: Crawl, tmp_path: Path, addon: str
) -> None:
    world.crawl("discovery", max_pages=1, max_details=0)
    path = tmp_path / "out.jsonl"
    settings = {
        "FEEDS": json.dumps({str(path): {"format": "jsonlines"}}),
        "ADDONS": json.dumps({f"tests.spiders.broken.{addon}": 1}),
        "EXTENSIONS": json.dumps({**ours.EXTENSIONS, "tests.extensions.scraped_items.ScrapedExtension": 7}),
    }
    crawl("sweep", market=world.market, max_pages=1, max_details=5, settings=settings)
    run = world.database.row("SELECT * FROM runs ORDER BY id DESC LIMIT 1")
    assert run.status == "finished"
    assert run.offers_quarantined + run.offers_dropped == 5
    assert len(path.read_text().splitlines()) == run.cards
    assert run.reasons["scraped/OverviewPage"] == 1
    assert "scraped/ProductPage" not in run.reasons


def test_csv_feed_has_the_configured_fields(world: World, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    settings = {"FEEDS": {str(path): {"format": "csv", "fields": ["title", "price", "currency"]}}}
    world.crawl("discovery", settings=settings, max_pages=1, max_details=0)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == world.database.value("SELECT cards FROM runs")
    assert list(rows[0]) == ["title", "price", "currency"]


def test_failed_discovery_leaves_an_empty_feed(world: World, tmp_path: Path) -> None:
    world.bazaar.fault("status", "page=2", status=500, times=20)
    run, rows = rows_of(world, "discovery", tmp_path / "out.jsonl", max_pages=3)
    assert run["status"] == "failed"
    assert rows == []
