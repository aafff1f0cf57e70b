"""`scrapy dispatch`: what would start, why the rest would not, and doing it."""

from __future__ import annotations

import json

from tests.conftest import Crawl
from tests.databases import Database


def test_dry_run_says_why_and_does_nothing(crawl: Crawl, database: Database) -> None:
    database.do("UPDATE markets SET enabled = true WHERE id IN ('boston-ma', 'bazaar-toys')")
    database.do("UPDATE markets SET discovery_failures = 3 WHERE id = 'bazaar-toys'")
    outcome = crawl.command("dispatch", "--once", "--dry-run", "--json").end()
    assert outcome.returncode == 0, outcome.stderr
    rows = [json.loads(line) for line in outcome.stdout.splitlines()]
    why = {(row["market"], row["spider"]): row["why"] for row in rows if "market" in row}
    assert why["bazaar-bikes", "discovery"] is None
    assert why["bazaar-bikes", "sweep"] == "no discovery has come to an end yet"
    assert why["bazaar-toys", "discovery"] == "it failed three times in a row"
    assert why["boston-ma", "discovery"] == "nobody has approved its source"
    assert why["bazaar-phones", "discovery"] == "the market is disabled"
    assert rows[-1]["targets_accepted"] == 0
    assert database.value("SELECT count(*) FROM jobs") == 0
    shown = crawl.command("dispatch", "--once", "--dry-run").end()
    assert "Would not start" in shown.stdout
    assert "Targets: 0 let into the queue" in shown.stdout


def test_once_queues_what_is_due(crawl: Crawl, database: Database) -> None:
    outcome = crawl.command("dispatch", "--once").end()
    assert outcome.stdout.startswith("1 jobs queued."), outcome.stderr
    assert database.value("SELECT arguments->>'market' FROM jobs") == "bazaar-bikes"


def test_without_once_it_says_who_does_it(crawl: Crawl, database: Database) -> None:
    outcome = crawl.command("dispatch").end()
    assert outcome.returncode == 2
    assert "The daemon dispatches each minute" in outcome.stderr
