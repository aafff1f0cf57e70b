"""`scrapy dispatch`: the dry run and the real dispatch."""

from __future__ import annotations

import json

from tests.conftest import Crawl
from tests.databases import Database


def test_dry_run_explains_and_changes_nothing(crawl: Crawl, database: Database) -> None:
    database.do("UPDATE markets SET enabled = true WHERE id IN ('boston-ma', 'bazaar-toys')")
    database.do("UPDATE markets SET discovery_failures = 3 WHERE id = 'bazaar-toys'")
    outcome = crawl.command("dispatch", "--once", "--dry-run", "--json").end()
    assert outcome.returncode == 0, outcome.stderr
    rows = [json.loads(line) for line in outcome.stdout.splitlines()]
    why = {(row["market"], row["spider"]): row["why"] for row in rows if "market" in row}
    assert why["bazaar-bikes", "discovery"] is None
    assert why["bazaar-bikes", "sweep"] == "no discovery has finished yet"
    assert why["bazaar-toys", "discovery"] == "it failed three times in a row"
    assert why["boston-ma", "discovery"] == "its source is not approved"
    assert why["bazaar-phones", "discovery"] == "the market is disabled"
    assert rows[-1]["targets_accepted"] == 0
    assert database.value("SELECT count(*) FROM jobs") == 0
    shown = crawl.command("dispatch", "--once", "--dry-run").end()
    assert "Would not start" in shown.stdout
    assert "Targets: 0 queued" in shown.stdout


def test_once_queues_due_jobs(crawl: Crawl, database: Database) -> None:
    outcome = crawl.command("dispatch", "--once").end()
    assert outcome.stdout.startswith("1 jobs queued."), outcome.stderr
    assert database.value("SELECT arguments->>'market' FROM jobs") == "bazaar-bikes"


def test_without_once_it_explains_that_the_daemon_dispatches(crawl: Crawl, database: Database) -> None:
    outcome = crawl.command("dispatch").end()
    assert outcome.returncode == 2
    assert "The daemon dispatches each minute" in outcome.stderr
