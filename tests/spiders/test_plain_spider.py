"""Spiders that know nothing of pricewatch, in this project: fetched by our rules, checked and stored."""

from __future__ import annotations

import os
import signal
from typing import Any
from urllib.parse import urlsplit

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.chaos.checks import busiest
from tests.conftest import Crawl
from tests.databases import Database
from tests.spiders.conftest import World
from tests.waiting import until

SPIDERS = {"SPIDER_MODULES": "pricewatch.spiders,tests.spiders.plain"}
PAGES = ["/c/bikes", *(f"/c/bikes?page={number}" for number in range(2, 6))]


class Plain:
    """Lets a plain spider read the bikes, or another page."""

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
    def shown(self) -> set[tuple[str, int]]:
        """What cards of bikes show, by the path of their pages."""
        return {(true.url, true.price) for true in self.bazaar.truth("bikes") if true.shown[-1].listed}

    @property
    def stored(self) -> set[tuple[str, int]]:
        found = self.database.rows("SELECT canonical_url, price_cents FROM listings WHERE active")
        return {(urlsplit(row.canonical_url).path, row.price_cents) for row in found}


@pytest.fixture
def plain(world: World) -> Plain:
    return Plain(world)


def test_what_it_yields_is_stored(plain: Plain) -> None:
    ran = plain("cards", colour="red")
    assert (ran["status"], ran["outcome"]) == ("finished", None)
    assert plain.stored == plain.shown
    assert plain.paths == ["/robots.txt", *PAGES]
    run = plain.database.last_run("cards")
    assert (run.adapter_id, run.source_id, run.market_id) == ("spider:cards", "bazaar", None)
    assert (run.trigger, run.arguments) == ("MANUAL", {"colour": "red"})
    assert (run.offers_extracted, run.offers_valid, run.new_listings) == (150, 150, 150)
    assert (run.urls_attempted, run.urls_succeeded, run.urls_failed) == (5, 5, 0)
    (drift,) = plain.database.rows("SELECT * FROM adapter_batches")
    assert (drift.adapter_id, drift.source_id, drift.run_id) == ("spider:cards", "bazaar", run.id)
    # What is seen again at the same price is no news.
    again = plain("cards")
    assert (again["new"], again["price_rows"]) == (0, 0)
    assert plain.database.value("SELECT count(*) FROM price_history") == 150


def test_a_spider_names_its_source(plain: Plain) -> None:
    refused = plain("cards", source="my-bikes", domain="shop.example")
    assert refused["status"] == "failed"
    assert "`scrapy sources approve my-bikes --by NAME`" in refused["outcome"]
    assert plain("cards", source="bazaar", domain="")["status"] == "finished"
    assert plain.database.last_run("cards").source_id == "bazaar"


def test_allowed_domains_are_kept_to(plain: Plain) -> None:
    """A start request may leave them, as ever with Scrapy; its robots.txt counts, and no link is followed."""
    ran = plain("cards", source="bazaar", domain="shop.example")
    assert ran["status"] == "finished"
    assert plain.paths == ["/robots.txt", "/c/bikes"]
    assert ran["counters"]["urls_attempted"] == 1


def test_an_error_in_its_code_is_one_page_less(plain: Plain) -> None:
    ran = plain("stumbling")
    assert (ran["status"], ran["partial"]) == ("failed", True)
    assert ran["outcome"] == "1 errors in the spider's own code; see the log"
    assert plain.paths == ["/robots.txt", *PAGES]
    assert len(plain.stored) == 120
    run = plain.database.last_run("stumbling")
    assert "ValueError: stumbled" in str(run.errors)


def test_a_run_that_finds_nothing_concludes_nothing(plain: Plain) -> None:
    plain("cards")
    before = plain.stored
    ran = plain("empty")
    assert (ran["status"], ran["new"]) == ("finished", 0)
    assert plain.stored == before
    assert plain.database.value("SELECT count(*) FROM alerts") == 0


def test_components_of_its_own_do_not_replace_ours(plain: Plain) -> None:
    ran = plain("curious")
    assert ran["status"] == "finished"
    assert plain.paths == ["/robots.txt", "/c/bikes"]
    assert plain.bazaar.log()[1].header("X-Counted") == "yes"
    titles = [row.title for row in plain.database.rows("SELECT title FROM listings")]
    assert len(titles) == 30
    assert all(title.startswith("Mine: ") for title in titles)
    assert (ran["counters"]["urls_failed"], ran["reasons"]["failure/robots"]) == (1, 1)


def test_a_spider_may_opt_out(plain: Plain, crawl: Crawl) -> None:
    ended = crawl("opted_out", settings=SPIDERS, url=f"{plain.bazaar.url}/c/bikes")
    assert ended.returncode == 0, ended.stderr
    assert plain.paths == ["/robots.txt", *PAGES]
    assert plain.database.rows("SELECT 1 FROM runs") == []
    assert plain.database.rows("SELECT 1 FROM listings") == []


@pytest.mark.parametrize("name", ["DOWNLOAD_DELAY", "DOWNLOAD_SLOTS"])
def test_a_delay_by_scrapys_settings_is_part_of_the_rate_limit(plain: Plain, name: str) -> None:
    plain.database.do("UPDATE sources SET requests_per_second = 50 WHERE id = 'bazaar'")
    slots = {urlsplit(plain.bazaar.url).netloc: {"delay": 0.3}}
    assert plain("cards", {name: slots if name == "DOWNLOAD_SLOTS" else 0.3})["status"] == "finished"
    assert plain.paths == ["/robots.txt", *PAGES]
    assert busiest([entry.time for entry in plain.bazaar.log()], 0.15)[0] == 1


def test_autothrottle_does_not_let_turns_pass(plain: Plain) -> None:
    plain.database.do("UPDATE sources SET requests_per_second = 50 WHERE id = 'bazaar'")
    throttled = {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.5}
    assert plain("cards", throttled)["status"] == "finished"
    assert plain.stored == plain.shown


def test_the_same_spider_twice_at_once(plain: Plain, crawl: Crawl) -> None:
    plain.bazaar.fault("hold", "page=3")
    url = f"{plain.bazaar.url}/c/bikes"
    both = [crawl.start("cards", settings=SPIDERS, url=url) for _ in range(2)]
    until(lambda: plain.paths.count("/c/bikes?page=3") == 2)
    plain.bazaar.clear_faults()
    assert [one.end().returncode for one in both] == [0, 0]
    assert plain.stored == plain.shown
    assert plain.database.value("SELECT count(*) FROM price_history") == 150
    runs = plain.database.rows("SELECT status, offers_valid, new_listings FROM runs")
    assert [(run.status, run.offers_valid) for run in runs] == [("finished", 150)] * 2
    assert sum(run.new_listings for run in runs) == 150


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_keeps_what_it_found(plain: Plain, crawl: Crawl, told: signal.Signals) -> None:
    plain.bazaar.fault("hold", "page=3")
    running = crawl.start("cards", settings=SPIDERS, url=f"{plain.bazaar.url}/c/bikes")
    until(lambda: plain.paths[-1:] == ["/c/bikes?page=3"])
    os.kill(running.pid, told)
    until(lambda: "shutting down gracefully" in running._written()[1])
    plain.bazaar.clear_faults()
    ended = running.end()
    assert ended.returncode == 1
    assert "pricewatch: stopped by a signal" in ended.stderr
    run = plain.database.last_run("cards")
    assert (run.status, run.offers_valid) == ("cancelled", 90)
    assert len(plain.stored) == 90


def test_a_setting_of_a_spider_that_cannot_be_used_is_one_sentence(plain: Plain, crawl: Crawl) -> None:
    ended = crawl("unusable", settings=SPIDERS, url=plain.bazaar.url)
    assert ended.returncode == 1
    assert ended.stderr == "pricewatch: RETRY_TIMES is 'often'; it should be a number, at least 0.\n"
