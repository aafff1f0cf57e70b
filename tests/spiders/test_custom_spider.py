"""Custom spiders in this project: fetched with pricewatch's middlewares, validated and stored."""

from __future__ import annotations

import os
import signal
from typing import Any
from urllib.parse import urlsplit

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.conftest import Crawl
from tests.databases import Database
from tests.fetching.conftest import keeps_rate
from tests.spiders.conftest import World
from tests.waiting import until

SPIDERS = {"SPIDER_MODULES": "pricewatch.spiders,tests.spiders.custom_spiders"}
PAGES = ["/c/bikes", *(f"/c/bikes?page={number}" for number in range(2, 6))]


class CustomCrawl:
    """Runs a custom spider on the bikes, or on another page."""

    def __init__(self, world: World) -> None:
        self.bazaar: Bazaar = world.bazaar
        self.database: Database = world.database
        self.crawler = world.crawler

    def __call__(self, spider: str, settings: dict[str, Any] | None = None, **arguments: Any) -> Any:
        return self.crawler(
            spider,
            database_url=self.database.url,
            settings={**SPIDERS, **(settings or {})},
            **{"url": f"{self.bazaar.url}/c/bikes", **arguments},
        )

    @property
    def paths(self) -> list[str]:
        return [entry.path for entry in self.bazaar.log()]

    @property
    def listed(self) -> set[tuple[str, int]]:
        """Return the path and price of the listed bikes."""
        return {(true.url, true.price) for true in self.bazaar.truth("bikes") if true.shown[-1].listed}

    @property
    def stored(self) -> set[tuple[str, int]]:
        found = self.database.rows("SELECT canonical_url, price_cents FROM listings WHERE active")
        return {(urlsplit(row.canonical_url).path, row.price_cents) for row in found}


@pytest.fixture
def custom(world: World) -> CustomCrawl:
    return CustomCrawl(world)


def test_yielded_items_are_stored(custom: CustomCrawl) -> None:
    ran = custom("cards", colour="red")
    assert (ran["status"], ran["outcome"]) == ("finished", None)
    assert custom.stored == custom.listed
    assert custom.paths == ["/robots.txt", *PAGES]
    run = custom.database.last_run("cards")
    assert (run.adapter_id, run.source_id, run.market_id) == ("spider:cards", "bazaar", None)
    assert (run.trigger, run.arguments) == ("MANUAL", {"colour": "red"})
    assert (run.offers_extracted, run.offers_valid, run.new_listings) == (150, 150, 150)
    assert (run.urls_attempted, run.urls_succeeded, run.urls_failed) == (5, 5, 0)
    (drift,) = custom.database.rows("SELECT * FROM adapter_batches")
    assert (drift.adapter_id, drift.source_id, drift.run_id) == ("spider:cards", "bazaar", run.id)
    # The same price again adds no history row.
    again = custom("cards")
    assert (again["new"], again["price_rows"]) == (0, 0)
    assert custom.database.value("SELECT count(*) FROM price_history") == 150


def test_a_spider_names_its_source(custom: CustomCrawl) -> None:
    refused = custom("cards", source="my-bikes", domain="shop.example")
    assert refused["status"] == "failed"
    assert "`scrapy sources approve my-bikes --by NAME`" in refused["outcome"]
    assert custom("cards", source="bazaar", domain="")["status"] == "finished"
    assert custom.database.last_run("cards").source_id == "bazaar"


def test_allowed_domains_are_respected(custom: CustomCrawl) -> None:
    """A start request may leave them, as in Scrapy; robots.txt applies, and no link is followed."""
    ran = custom("cards", source="bazaar", domain="shop.example")
    assert ran["status"] == "finished"
    assert custom.paths == ["/robots.txt", "/c/bikes"]
    assert ran["counters"]["urls_attempted"] == 1


def test_error_in_its_code_loses_only_that_page(custom: CustomCrawl) -> None:
    ran = custom("failing")
    assert (ran["status"], ran["partial"]) == ("failed", True)
    assert ran["outcome"] == "1 errors in the spider's code; see the log"
    assert custom.paths == ["/robots.txt", *PAGES]
    assert len(custom.stored) == 120
    run = custom.database.last_run("failing")
    assert "ValueError: failed" in str(run.errors)


def test_a_run_that_finds_nothing_concludes_nothing(custom: CustomCrawl) -> None:
    custom("cards")
    before = custom.stored
    ran = custom("empty")
    assert (ran["status"], ran["new"]) == ("finished", 0)
    assert custom.stored == before
    assert custom.database.value("SELECT count(*) FROM alerts") == 0


def test_added_components_do_not_replace_pricewatchs(custom: CustomCrawl) -> None:
    ran = custom("components")
    assert ran["status"] == "finished"
    assert custom.paths == ["/robots.txt", "/c/bikes"]
    assert custom.bazaar.log()[1].header("X-Counted") == "yes"
    titles = [row.title for row in custom.database.rows("SELECT title FROM listings")]
    assert len(titles) == 30
    assert all(title.startswith("Mine: ") for title in titles)
    assert (ran["counters"]["urls_failed"], ran["reasons"]["failure/robots"]) == (1, 1)


def test_a_spider_may_opt_out(custom: CustomCrawl, crawl: Crawl) -> None:
    ended = crawl("opted_out", settings=SPIDERS, url=f"{custom.bazaar.url}/c/bikes")
    assert ended.returncode == 0, ended.stderr
    assert custom.paths == ["/robots.txt", *PAGES]
    assert custom.database.rows("SELECT 1 FROM runs") == []
    assert custom.database.rows("SELECT 1 FROM listings") == []


@pytest.mark.parametrize("name", ["DOWNLOAD_DELAY", "DOWNLOAD_SLOTS"])
def test_a_delay_by_scrapys_settings_is_part_of_the_rate_limit(custom: CustomCrawl, name: str) -> None:
    custom.database.do("UPDATE sources SET requests_per_second = 50 WHERE id = 'bazaar'")
    slots = {urlsplit(custom.bazaar.url).netloc: {"delay": 0.3}}
    assert custom("cards", {name: slots if name == "DOWNLOAD_SLOTS" else 0.3})["status"] == "finished"
    assert custom.paths == ["/robots.txt", *PAGES]
    assert keeps_rate([entry.time for entry in custom.bazaar.log()], 0.3)


def test_autothrottle_does_not_waste_reservations(custom: CustomCrawl) -> None:
    custom.database.do("UPDATE sources SET requests_per_second = 50 WHERE id = 'bazaar'")
    throttled = {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.5}
    assert custom("cards", throttled)["status"] == "finished"
    assert custom.stored == custom.listed


def test_same_spider_can_run_twice_at_once(custom: CustomCrawl, crawl: Crawl) -> None:
    custom.bazaar.fault("hold", "page=3")
    url = f"{custom.bazaar.url}/c/bikes"
    both = [crawl.start("cards", settings=SPIDERS, url=url) for _ in range(2)]
    until(lambda: custom.paths.count("/c/bikes?page=3") == 2)
    custom.bazaar.clear_faults()
    assert [one.end().returncode for one in both] == [0, 0]
    assert custom.stored == custom.listed
    assert custom.database.value("SELECT count(*) FROM price_history") == 150
    runs = custom.database.rows("SELECT status, offers_valid, new_listings FROM runs")
    assert [(run.status, run.offers_valid) for run in runs] == [("finished", 150)] * 2
    assert sum(run.new_listings for run in runs) == 150


@pytest.mark.parametrize("stop_signal", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_keeps_what_it_found(
    custom: CustomCrawl, crawl: Crawl, stop_signal: signal.Signals
) -> None:
    custom.bazaar.fault("hold", "page=3")
    running = crawl.start("cards", settings=SPIDERS, url=f"{custom.bazaar.url}/c/bikes")
    until(lambda: custom.paths[-1:] == ["/c/bikes?page=3"])
    os.kill(running.pid, stop_signal)
    until(lambda: "shutting down gracefully" in running._written()[1])
    custom.bazaar.clear_faults()
    ended = running.end()
    assert ended.returncode == 1
    assert "pricewatch: stopped by a signal" in ended.stderr
    run = custom.database.last_run("cards")
    assert (run.status, run.offers_valid) == ("cancelled", 90)
    assert len(custom.stored) == 90


def test_invalid_setting_of_a_spider_is_reported_in_one_sentence(custom: CustomCrawl, crawl: Crawl) -> None:
    ended = crawl("invalid_setting", settings=SPIDERS, url=custom.bazaar.url)
    assert ended.returncode == 1
    assert ended.stderr == "pricewatch: RETRY_TIMES is 'often'; it must be a number of at least 0.\n"
