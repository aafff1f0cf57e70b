"""`scrapy adapters` and `scrapy resolve`."""

from __future__ import annotations

import json
from typing import Any


def test_an_adapter_is_disabled_and_enabled_with_a_reason(crawl, database):
    def scrapy(*words: str) -> Any:
        return crawl.command("adapters", *words).end()

    assert scrapy("disable", "bazaar").returncode == 2
    done = scrapy("disable", "bazaar", "--reason", "the site moved", "--by", "Ada")
    assert "is now disabled" in done.stdout
    assert "is already disabled" in scrapy("disable", "bazaar", "--reason", "again").stdout
    refused = crawl("sweep", market="bazaar-bikes")
    assert refused.returncode == 1
    assert "The adapter bazaar is disabled" in refused.stderr
    assert "MANUAL: the site moved" in refused.stderr
    rows = {row["adapter_id"]: row for row in map(json.loads, scrapy("list", "--json").stdout.splitlines())}
    assert rows["bazaar"]["enabled"] is False
    assert rows["generic"]["enabled"] is True
    assert "disabled (MANUAL)" in scrapy("list").stdout
    assert "its next run is watched" in scrapy("enable", "bazaar", "--by", "Ada", "--note", "mended").stdout
    assert scrapy("enable", "nobody", "--by", "Ada", "--note", "x").returncode == 2
    assert database.value("SELECT note FROM adapter_status") == "enabled by Ada: mended"
    done = scrapy("disable", "bazaar", "--source", "bazaar", "--reason", "x")
    assert "bazaar on bazaar is now disabled" in done.stdout
    assert "is disabled for bazaar" in crawl("sweep", market="bazaar-bikes").stderr
    assert scrapy("disable", "bazaar", "--source", "nowhere", "--reason", "x").returncode == 2
    assert "is now enabled" in scrapy("enable", "bazaar", "--by", "Ada", "--note", "x").stdout


def test_a_source_is_trusted_and_its_listings_are_resolved(crawl, database, marketplace):
    assert crawl("discovery", market="bazaar-bikes").returncode == 0
    # Every run resolves what it read: shops that sell the same thing name the same part number.
    linked = "SELECT count(*) FROM listings WHERE product_link ->> 'by' = :by"
    assert database.value("SELECT count(*) FROM listings WHERE resolve_requested_at IS NOT NULL") == 0
    assert database.value(linked, by="gtin") == 0
    assert database.value(linked, by="brand_mpn") > 0
    done = crawl.command("resolve", "--trust", "bazaar").end()
    assert "listings resolved" in done.stdout
    assert database.value(linked, by="gtin") > 0
    assert database.value("SELECT count(*) FROM products WHERE gtin IS NOT NULL") > 0
    assert crawl.command("resolve").end().stdout == "0 listings resolved.\n"
