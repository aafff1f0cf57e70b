"""Listings are linked to products during the crawl, and none is left at its end."""

from __future__ import annotations

from tests.spiders.conftest import World


def test_products_are_created_before_the_crawl_ends(world: World) -> None:
    # Small batches, so that not all pages are written at once.
    settings = {"RESOLVE_EVERY_PAGES": 10, "WRITE_BATCH_ROWS": 5}
    run = world.crawl("discovery", settings=settings, max_details=35)
    assert run["status"] == "finished"
    database = world.database
    assert database.value("SELECT count(*) FROM listings WHERE last_scraped_at IS NOT NULL") > 30
    unresolved = "last_scraped_at IS NOT NULL AND product_link IS NULL OR resolve_requested_at IS NOT NULL"
    assert database.value(f"SELECT count(*) FROM listings WHERE {unresolved}") == 0
    assert database.value("SELECT count(DISTINCT created_at) FROM products") > 1
