"""`scrapy crawl`: messages and exit codes for bad input, and logging."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.conftest import ROOT, Crawl
from tests.databases import Database
from tests.terminal import on_terminal

SHORT = ("crawl", "discovery", "-a", "market=bazaar-toys", "-a", "max_pages=1", "-a", "max_details=1")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Name one spider: discovery, sweep, targets, verification."),
        (["discovery"], "needs -a market=…"),
        (["discovery", "-a", "market=bazaar-bikes", "-a", "max_pages=many"], "cannot use -a max_pages=many"),
        (["discovery", "-s", "REQUESTS_PER_SECOND=often"], "REQUESTS_PER_SECOND is 'often'; it must be"),
        (
            ["discovery", "-a", "market=atlantis"],
            "There is no market 'atlantis'. Known markets: arlington-va,",
        ),
        (
            ["exploration", "-a", "market=bazaar-bikes"],
            "There is no spider 'exploration'. Known spiders: discovery",
        ),
        (["discovery", "-a", "market=boston-ma"], "Nobody has approved fetching from apartments yet"),
    ],
)
def test_bad_input_is_one_line(crawl: Crawl, database: Database, words: list[str], message: str) -> None:
    outcome = crawl.command("crawl", *words).end()
    assert outcome.returncode == 1
    assert outcome.stdout == ""
    assert message in outcome.stderr
    assert outcome.stderr.startswith("pricewatch: ")
    assert outcome.stderr.count("\n") == 1
    assert database.value("SELECT count(*) FROM runs") == 0


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://nobody@127.0.0.1:1/none", "cannot be reached (connection to server"),
        ("postgresql://nobody:secret@127.0.0.1:1/none", "postgresql://nobody:***@127.0.0.1:1/none"),
        ("mysql://root@localhost/shop", "DATABASE_URL is a mysql database; pricewatch needs PostgreSQL"),
        ("sqlite:///shop.db", "DATABASE_URL is a sqlite database"),
        ("my database", "DATABASE_URL is not a database URL"),
        ("postgresql://host:port/name", "DATABASE_URL is not a database URL"),
    ],
)
@pytest.mark.parametrize("words", [["crawl", "discovery", "-a", "market=bazaar-bikes"], ["migrate"]])
def test_unusable_database_url_is_one_line(crawl: Crawl, words: list[str], url: str, message: str) -> None:
    outcome = crawl.command(*words, DATABASE_URL=url).end()
    assert outcome.returncode == 1
    assert message in outcome.stderr
    assert outcome.stderr.startswith("pricewatch: ")
    assert outcome.stderr.count("\n") == 1
    assert "secret" not in outcome.stderr


def test_newer_schema_is_one_line(crawl: Crawl, database: Database) -> None:
    database.do("UPDATE alembic_version SET version_num = '9999'")
    outcome = crawl("discovery", market="bazaar-bikes")
    assert outcome.returncode == 1
    assert outcome.stderr.startswith("pricewatch: The database has schema 9999, newer than")
    assert outcome.stderr.count("\n") == 1


def test_command_works_in_any_folder_of_the_project(database: Database) -> None:
    """In a new process, not in a fork with preloaded modules."""
    outcome = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", "discovery"],
        cwd=ROOT / "pricewatch" / "store",
        env={**os.environ, "DATABASE_URL": database.url},
        capture_output=True,
        text=True,
    )
    assert outcome.returncode == 1
    assert (
        outcome.stderr
        == "pricewatch: The discovery spider needs -a market=… (the market to crawl, by its id).\n"
    )


def on_a_terminal(database: Database, *words: str) -> str:
    """Return what a command shows on a terminal."""
    code, shown = on_terminal(database.url, *words)
    assert code == 0, shown
    return shown


@pytest.mark.parametrize(
    ("setting", "logged"),
    [
        ("LOG_LEVEL=DEBUG", "[scrapy.core.engine] DEBUG: Crawled (200)"),
        ("LOG_LEVEL=INFO", "[scrapy.core.engine] INFO: Spider opened"),
        ("STATS_DUMP=True", "[scrapy.statscollectors] INFO: Dumping Scrapy stats"),
    ],
)
def test_requested_log_replaces_the_progress_bar(
    marketplace: Bazaar, database: Database, setting: str, logged: str
) -> None:
    shown = on_a_terminal(database, *SHORT, "-s", setting)
    assert logged in shown
    assert "\x1b[" not in shown


def test_statistics_can_be_enabled(marketplace: Bazaar, crawl: Crawl) -> None:
    outcome = crawl.command(*SHORT, "-s", "STATS_DUMP=True", "-s", "DOWNLOADER_STATS=True").end()
    assert outcome.returncode == 0
    stats = outcome.stderr.partition("Dumping Scrapy stats:")[2]
    for name in ("request_bytes", "request_count", "response_bytes", "response_status_count/200"):
        assert f"'downloader/{name}': " in stats


def test_pages_and_items_are_logged_at_debug_level_only(marketplace: Bazaar, crawl: Crawl) -> None:
    shown = crawl.command(*SHORT, "-L", "DEBUG").end().stderr
    assert "[scrapy.core.engine] DEBUG: Crawled (200)" in shown
    assert "[scrapy.core.scraper] DEBUG: Scraped from <200 " in shown
    # The HTML that an item carries is not logged.
    assert "<main" not in shown
    shown = crawl.command(*SHORT, "-s", "STATS_DUMP=True").end().stderr
    assert "Scraped from" not in shown
    # Suppressed messages are not counted.
    assert "log_count/DEBUG" not in shown
