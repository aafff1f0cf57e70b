"""The add-on, in a project made by `scrapy startproject` with one line added to its settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from scrapy.settings import Settings

from pricewatch import settings as ours
from pricewatch.addon import PROJECT_SETTINGS, Pricewatch
from pricewatch.bazaar.client import Bazaar
from pricewatch.errors import UserError
from pricewatch.store.engine.database import var_directory
from tests.chaos.checks import busiest
from tests.conftest import ROOT
from tests.databases import Database

ADDONS = 'ADDONS = {"pricewatch.addon.Pricewatch": 500}'
COMMANDS = 'COMMANDS_MODULE = "pricewatch.commands"'
COMPONENTS = """
ITEM_PIPELINES = {"toys.pipelines.ToysPipeline": 50, "toys.pipelines.Arrived": 950}
DOWNLOADER_MIDDLEWARES = {"toys.middlewares.Marking": 543}
"""
# The first two cards have no valid price.
SPIDER = """
import scrapy


class BikesSpider(scrapy.Spider):
    name = "bikes"
    allowed_domains = ["127.0.0.1"]
    start_urls = ["{url}/c/bikes"]

    def parse(self, response):
        for number, card in enumerate(response.css("article.card")):
            yield {{
                "url": response.urljoin(card.css("a.card-link::attr(href)").get()),
                "title": card.css("a.card-link::text").get(),
                "price": ["ask us", "0"][number] if number < 2 else card.css(".card-price::text").get(),
                "currency": "EUR",
            }}
        yield response.follow("/private/page")
        yield response.follow("https://elsewhere.example/")
"""
PIPELINES = """

class Arrived:
    def open_spider(self):
        self.file = open("arrived.jsonl", "w")

    def process_item(self, item):
        import json
        self.file.write(json.dumps(item) + "\\n")
        return item

    def close_spider(self):
        self.file.close()
"""
MARKING = """

class Marking:
    def process_request(self, request):
        request.headers["X-Toys"] = "yes"
"""

# Without the project that another test may have set.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("SCRAPY_")}
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def project(tmp_path: Path, marketplace: Bazaar, database: Database) -> Path:
    """A new project; the marketplace it crawls is not a source yet."""
    database.do("UPDATE sources SET base_url = 'http://127.0.0.1:1' WHERE id = 'bazaar'")
    started = [sys.executable, "-m", "scrapy", "startproject", "toys", str(tmp_path / "toys")]
    subprocess.run(started, cwd=tmp_path, env=ENVIRONMENT, check=True, capture_output=True)
    module = tmp_path / "toys" / "toys"
    settings = (module / "settings.py").read_text()
    # The template's settings must not conflict with the add-on's.
    assert "\nADDONS = {}\n" in settings
    assert "\nDOWNLOAD_DELAY = 1\n" in settings
    assert "\nCONCURRENT_REQUESTS_PER_DOMAIN = 1\n" in settings
    (module / "settings.py").write_text(settings.replace("ADDONS = {}", ADDONS))
    (module / "spiders" / "bikes.py").write_text(SPIDER.format(url=marketplace.url))
    return tmp_path / "toys"


@pytest.fixture
def run(project: Path, database: Database) -> Run:
    def run(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        ended = subprocess.run(
            [sys.executable, "-m", "scrapy", *words],
            cwd=project,
            env={**ENVIRONMENT, "DATABASE_URL": database.url, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert ended.returncode == code, ended.stderr
        return ended

    return run


def add(file: Path, text: str) -> None:
    file.write_text(f"{file.read_text()}\n{text}\n")


@pytest.mark.slow
@pytest.mark.proof
def test_one_line_enables_pricewatch_in_another_project(
    project: Path, run: Run, marketplace: Bazaar, database: Database
) -> None:
    source = urlsplit(marketplace.url).netloc
    refusal = (
        f"Nobody has approved fetching from {source} yet: read its terms, then "
        f"`scrapy sources approve {source} --by NAME`."
    )
    # Scrapy's command only logs the error, and the command it recommends is not enabled yet.
    assert f"Closing spider ({refusal})" in run("crawl", "bikes").stderr
    assert "Unknown command: sources" in run("sources", "list", code=2).stdout
    add(project / "toys" / "settings.py", COMMANDS)
    assert run("crawl", "bikes", "--nolog", code=1).stderr == f"pricewatch: {refusal}\n"
    assert marketplace.log() == []
    run("sources", "approve", source, "--by", "Ada")
    run("sources", "set", source, "--requests-per-second", "50", "--min-delay-ms", "0")

    add(project / "toys" / "settings.py", COMPONENTS)
    add(project / "toys" / "pipelines.py", PIPELINES)
    add(project / "toys" / "middlewares.py", MARKING)
    run("crawl", "bikes", "-O", "out.jsonl")

    log = marketplace.log()
    assert [entry.path for entry in log] == ["/robots.txt", "/c/bikes"]
    assert {entry.header("X-Toys") for entry in log} == {"yes"}
    assert busiest([entry.time for entry in log], 0.5)[0] == 1  # DOWNLOAD_DELAY of the project
    found = database.last_run("bikes")
    assert (found.status, found.adapter_id, found.source_id) == ("finished", "spider:bikes", source)
    assert (found.offers_extracted, found.offers_valid) == (30, 28)
    assert (found.offers_dropped, found.offers_quarantined) == (1, 1)
    assert found.reasons["dropped/INVALID_PRICE"] == 1
    assert found.reasons["failure/robots"] == 1
    held = database.row("SELECT * FROM quarantine")
    assert (held.reason, held.adapter_id, held.source_id) == ("ZERO_PRICE_EXTRACTED", "spider:bikes", source)
    batch = database.row("SELECT * FROM adapter_batches")
    assert (batch.adapter_id, batch.valid, batch.dropped, batch.quarantined) == ("spider:bikes", 28, 1, 1)
    stored = database.rows("SELECT title, canonical_url, price_cents FROM listings ORDER BY id")
    truth = {true.url: true.price for true in marketplace.truth("bikes")}
    assert len(stored) == 28
    assert all(truth[urlsplit(row.canonical_url).path] == row.price_cents for row in stored)
    assert database.value("SELECT count(*) FROM price_history") == 28
    # Later pipelines get the accepted items as the spider yielded them.
    arrived = [json.loads(line) for line in (project / "arrived.jsonl").read_text().splitlines()]
    assert {item["title"] for item in arrived} == {row.title for row in stored}
    assert set(arrived[0]) == {"url", "title", "price", "currency"}
    fed = [json.loads(line) for line in (project / "out.jsonl").read_text().splitlines()]
    assert {row["url"] for row in fed} == {item["url"] for item in arrived}
    assert "spider:bikes" in run("adapters", "list").stdout


@pytest.mark.proof
def test_invalid_setting_is_reported_in_one_sentence(project: Path, run: Run) -> None:
    add(project / "toys" / "settings.py", f"{COMMANDS}\nREQUESTS_PER_SECOND = 'many'")
    error = run("crawl", "bikes", code=1).stderr
    assert error == "pricewatch: REQUESTS_PER_SECOND is 'many'; it must be a number of at least 0.\n"


def test_data_directory_is_next_to_the_project_configuration(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PRICEWATCH_VAR")
    monkeypatch.chdir(project / "toys" / "spiders")
    assert var_directory() == project / "var"


def settings_with(values: dict[str, Any], spider: dict[str, Any] | None = None) -> Settings:
    settings = Settings(values, priority="project")
    settings.setdict(spider or {}, priority="spider")
    Pricewatch.update_pre_crawler_settings(settings)
    Pricewatch().update_settings(settings)
    return settings


def test_settings_equal_those_of_pricewatch() -> None:
    settings = settings_with({"BOT_NAME": "toys", "SPIDER_MODULES": ["toys"], "LOG_LEVEL": "ERROR"})
    for name, value in vars(ours).items():
        if name.isupper() and name not in PROJECT_SETTINGS and not name.startswith("LOG_"):
            found = settings.getdict(name) if isinstance(value, dict) else settings[name]
            assert found == value, name
    assert (settings["BOT_NAME"], settings["SPIDER_MODULES"]) == ("toys", ["toys"])
    assert settings["LOG_LEVEL"] == "ERROR"
    assert settings["LOG_FORMATTER"] == "scrapy.logformatter.LogFormatter"


def test_dns_resolver_is_set_before_there_is_a_crawler() -> None:
    settings = Settings({"HOSTS": {"shop.test": "10.0.0.1"}})
    Pricewatch.update_pre_crawler_settings(settings)
    assert settings["TWISTED_DNS_RESOLVER"] == ours.TWISTED_DNS_RESOLVER
    assert settings["HOSTS"] == {"shop.test": "10.0.0.1"}
    assert settings["GUARD_ENABLED"] is True


class Mine:
    """A component of the project."""


def test_project_and_spider_settings_take_precedence() -> None:
    guard = "pricewatch.middlewares.guard.GuardMiddleware"
    settings = settings_with(
        {"RETRY_TIMES": 7, "DOWNLOADER_MIDDLEWARES": {Mine: 543, guard: 45}},
        {"MAX_CONCURRENT": 3, "ITEM_PIPELINES": {"toys.Mine": 50}, "EXTENSIONS": {}},
    )
    assert (settings["RETRY_TIMES"], settings["MAX_CONCURRENT"]) == (7, 3)
    components: dict[Any, Any] = {**ours.DOWNLOADER_MIDDLEWARES, guard: 45}
    components[Mine] = 543
    assert settings.getdict("DOWNLOADER_MIDDLEWARES") == components
    assert settings.getdict("ITEM_PIPELINES") == {**ours.ITEM_PIPELINES, "toys.Mine": 50}
    assert settings.getdict("EXTENSIONS") == ours.EXTENSIONS


def test_component_given_by_its_class_is_not_added_again() -> None:
    from pricewatch.middlewares.retry import BackoffRetryMiddleware

    name = "pricewatch.middlewares.retry.BackoffRetryMiddleware"
    settings = settings_with({"DOWNLOADER_MIDDLEWARES": {BackoffRetryMiddleware: None}})
    components = settings.getdict("DOWNLOADER_MIDDLEWARES")
    assert components[BackoffRetryMiddleware] is None
    assert name not in components


@pytest.mark.parametrize(
    ("values", "spider", "honest"),
    [
        ({}, {}, False),
        ({"USER_AGENT": "toys (+https://toys.example)"}, {}, True),
        ({}, {"USER_AGENT": "toys"}, True),
        ({"HONEST_USER_AGENT": False}, {"USER_AGENT": "toys"}, True),
        ({"USER_AGENT": "toys", "HONEST_USER_AGENT": False}, {}, False),
        ({"USER_AGENT": "toys"}, {"HONEST_USER_AGENT": False}, False),
    ],
)
def test_custom_user_agent_enables_honest_mode(
    values: dict[str, Any], spider: dict[str, Any], honest: bool
) -> None:
    assert settings_with(values, spider).getbool("HONEST_USER_AGENT") is honest


def test_settings_are_checked() -> None:
    with pytest.raises(UserError, match="REQUESTS_PER_SECOND is 'many'; it must be a number"):
        settings_with({}, {"REQUESTS_PER_SECOND": "many"})
