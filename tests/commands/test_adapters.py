"""`scrapy adapters` and `scrapy resolve`."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import pytest

from pricewatch.errors import RunRefused
from pricewatch.rules.custom_spiders import reader_id
from pricewatch.store.operations import adapter_status
from pricewatch.store.source_registry import spider_sources
from pricewatch.store.writing import run_rows
from tests.store.drift_batches import BAD, end_run
from tests.store.sample_targets import NOW


@pytest.mark.proof
def test_adapter_is_disabled_and_enabled(crawl, database):
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
    assert "its next run is watched" in scrapy("enable", "bazaar", "--by", "Ada", "--note", "repaired").stdout
    assert scrapy("enable", "nobody", "--by", "Ada", "--note", "x").returncode == 2
    assert database.value("SELECT note FROM adapter_status") == "enabled by Ada: repaired"
    done = scrapy("disable", "bazaar", "--source", "bazaar", "--reason", "x")
    assert "bazaar on bazaar is now disabled" in done.stdout
    assert "is disabled for bazaar" in crawl("sweep", market="bazaar-bikes").stderr
    assert scrapy("disable", "bazaar", "--source", "nowhere", "--reason", "x").returncode == 2
    assert "is now enabled" in scrapy("enable", "bazaar", "--by", "Ada", "--note", "x").stdout


def test_drifted_spider_is_enabled_by_the_command_in_the_error(crawl, database):
    def scrapy(*words: str) -> Any:
        return crawl.command("adapters", *words).end()

    source = database.call(spider_sources.source_for, "my toys", None, "http://localhost:8000/", NOW)
    reader = reader_id("my toys")
    for _ in range(2):
        end_run(database, {reader: BAD}, source=source.id)
    listed = scrapy("list").stdout
    assert "spider:my toys" in listed
    assert "disabled (DRIFT_DETECTED)" in listed
    assert "not registered" not in listed
    rows = {row["adapter_id"]: row for row in map(json.loads, scrapy("list", "--json").stdout.splitlines())}
    assert rows[reader]["spider"] == "my toys"
    assert rows[reader]["sources"] == [source.id]
    with pytest.raises(RunRefused) as refused:
        database.call(adapter_status.check_enabled, reader, source.id)
    command = re.search("`scrapy adapters (.+)`", str(refused.value))
    assert command
    done = scrapy(*shlex.split(command[1]))
    assert done.stdout == "The spider my toys on localhost:8000 is now enabled; its next run is watched.\n"
    assert database.call(adapter_status.check_enabled, reader, source.id)


def test_custom_spider_can_be_disabled_after_its_first_run(crawl, database):
    def scrapy(*words: str) -> Any:
        return crawl.command("adapters", *words).end()

    refused = scrapy("disable", "spider:toys", "--reason", "x")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "No spider 'toys' has run yet" in refused.stderr
    database.call(run_rows.open_run, now=NOW, spider="toys", adapter_id="spider:toys", source_id="bazaar")
    assert "spider:toys" in scrapy("list").stdout
    done = scrapy("disable", "spider:toys", "--reason", "the site moved", "--by", "Ada")
    assert done.stdout == "The spider toys is now disabled.\n"
    with pytest.raises(RunRefused, match=r"The spider toys is disabled since .*MANUAL: the site moved"):
        database.call(adapter_status.check_enabled, "spider:toys", "bazaar")
    done = scrapy("enable", "spider:toys", "--by", "Ada", "--note", "repaired")
    assert done.stdout == "The spider toys is now enabled; its next run is watched.\n"


def test_listings_of_a_trusted_source_are_resolved_by_gtin(crawl, database, marketplace):
    assert crawl("discovery", market="bazaar-bikes").returncode == 0
    # The run resolved its listings, but without trust only by brand and part number.
    linked = "SELECT count(*) FROM listings WHERE product_link ->> 'by' = :by"
    assert database.value("SELECT count(*) FROM listings WHERE resolve_requested_at IS NOT NULL") == 0
    assert database.value(linked, by="gtin") == 0
    assert database.value(linked, by="brand_mpn") > 0
    done = crawl.command("resolve", "--trust", "bazaar").end()
    assert "listings resolved" in done.stdout
    assert database.value(linked, by="gtin") > 0
    assert database.value("SELECT count(*) FROM products WHERE gtin IS NOT NULL") > 0
    assert crawl.command("resolve").end().stdout == "0 listings resolved.\n"
