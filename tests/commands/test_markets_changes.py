"""`scrapy markets`: list, change, enable and disable existing markets, and queue jobs for them."""

from __future__ import annotations

import json

from pricewatch.console.terminal_io import user_name
from pricewatch.store.engine.seed_data import SAMPLE_PORT
from tests.conftest import Crawl
from tests.databases import Database


def run(crawl: Crawl, *words: str) -> tuple[int, str]:
    outcome = crawl.command("markets", *words).end()
    return outcome.returncode, outcome.stdout + outcome.stderr


def test_seeded_markets_are_disabled(crawl: Crawl, database: Database) -> None:
    code, listed = run(crawl, "list", "--source", "apartments", "--json")
    rows = [json.loads(line) for line in listed.splitlines()]
    assert code == 0
    assert len(rows) == 19
    assert not any(row["enabled"] for row in rows)
    code, shown = run(crawl, "list", "--source", "apartments")
    assert "boston-ma" in shown
    assert "source not approved" in shown


def test_market_is_added_changed_disabled_and_enabled(crawl: Crawl, database: Database) -> None:
    clocks = f"http://127.0.0.1:{SAMPLE_PORT}/c/clocks"
    outcome = run(crawl, "add", "bazaar-clocks", clocks, "--source", "bazaar", "--tier", "cool")
    assert outcome == (0, "Added market bazaar-clocks of source bazaar, adapter bazaar.\n")
    assert run(crawl, "set", "bazaar-clocks", "--tier", "hot", "--every", "3")[0] == 0
    row = database.row("SELECT * FROM markets WHERE id = 'bazaar-clocks'")
    assert (row.tier, row.scrape_frequency_hours, row.start_pages) == ("hot", 3, ["/c/clocks"])
    assert row.enabled
    run(crawl, "disable", "bazaar-clocks")
    assert not database.value("SELECT enabled FROM markets WHERE id = 'bazaar-clocks'")
    database.do("UPDATE markets SET discovery_failures = 5, sweep_failures = 3 WHERE id = 'bazaar-clocks'")
    run(crawl, "enable", "bazaar-clocks", "bazaar-toys")
    # Enabling a market also closes its circuits.
    rows = database.rows(
        "SELECT enabled, discovery_failures, sweep_failures FROM markets"
        " WHERE id IN ('bazaar-clocks', 'bazaar-toys')"
    )
    assert [tuple(row) for row in rows] == [(True, 0, 0)] * 2


def test_scrape_queues_a_job_with_high_priority(crawl: Crawl, database: Database) -> None:
    code, output = run(crawl, "scrape", "bazaar-toys", "--spider", "sweep")
    job = database.row("SELECT * FROM jobs")
    assert code == 0
    assert job.job_id in output
    assert (job.spider, job.work, job.priority) == ("sweep", "market bazaar-toys", 10)


def test_believe_accepts_a_smaller_market(crawl: Crawl, database: Database) -> None:
    words = ("believe", "bazaar-bikes", "--by", "Ada")
    code, output = run(crawl, *words)
    assert (code, "there is nothing to accept" in output) == (2, True)
    database.do(
        "UPDATE markets SET sweep_last_complete_seen = 150, sweep_last_partial_seen = 60"
        " WHERE id = 'bazaar-bikes'"
    )
    database.do(
        "INSERT INTO alerts (key, kind, severity, subject, message, first_at, last_at)"
        " VALUES ('sweep_partial:bazaar-bikes', 'sweep_partial', 'P2', 'bazaar-bikes', '', now(), now())"
    )
    assert run(crawl, *words) == (0, "bazaar-bikes now has 60 cards; it had 150.\n")
    seen = "SELECT sweep_last_complete_seen, sweep_last_partial_seen FROM markets WHERE id = 'bazaar-bikes'"
    assert tuple(database.row(seen)) == (60, None)
    assert database.value("SELECT count(*) FROM alerts WHERE resolved_at IS NULL") == 0
    audit = database.row("SELECT * FROM audit")
    assert (audit.action, audit.subject) == ("smaller market believed", "bazaar-bikes")
    assert (audit.person, audit.details) == (user_name(), {"by": "Ada"})


def test_bad_input_is_one_line(crawl: Crawl, database: Database) -> None:
    for words, message in (
        (["set", "bazaar-bikes"], "Say what to change"),
        (["set", "bazaar-bikes", "--every", "often"], "whole number"),
        (["enable", "atlantis"], "There is no market 'atlantis'"),
        (["scrape", "boston-ma"], "Nobody has approved"),
        (["believe", "atlantis", "--by", "Ada"], "There is no market 'atlantis'"),
    ):
        code, output = run(crawl, *words)
        assert code == 2, words
        assert message in output, words
        assert "Traceback" not in output
