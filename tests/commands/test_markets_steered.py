"""Markets that are there: listed, changed, switched and crawled now, from the shell."""

from __future__ import annotations

import json

from pricewatch.store.engine.seed_data import SAMPLE_PORT
from tests.conftest import Crawl
from tests.databases import Database


def told(crawl: Crawl, *words: str) -> tuple[int, str]:
    outcome = crawl.command("markets", *words).end()
    return outcome.returncode, outcome.stdout + outcome.stderr


def test_the_east_coast_is_there_and_off(crawl: Crawl, database: Database) -> None:
    code, listed = told(crawl, "list", "--source", "apartments", "--json")
    rows = [json.loads(line) for line in listed.splitlines()]
    assert code == 0
    assert len(rows) == 19
    assert not any(row["enabled"] for row in rows)
    code, shown = told(crawl, "list", "--source", "apartments")
    assert "boston-ma" in shown
    assert "source not approved" in shown


def test_add_change_switch(crawl: Crawl, database: Database) -> None:
    clocks = f"http://127.0.0.1:{SAMPLE_PORT}/c/clocks"
    said = told(crawl, "add", "bazaar-clocks", clocks, "--source", "bazaar", "--tier", "cool")
    assert said == (0, "Market bazaar-clocks of bazaar, read by bazaar.\n")
    assert told(crawl, "set", "bazaar-clocks", "--tier", "hot", "--every", "3")[0] == 0
    row = database.row("SELECT * FROM markets WHERE id = 'bazaar-clocks'")
    assert (row.tier, row.scrape_frequency_hours, row.start_pages) == ("hot", 3, ["/c/clocks"])
    assert row.enabled
    told(crawl, "disable", "bazaar-clocks")
    assert not database.value("SELECT enabled FROM markets WHERE id = 'bazaar-clocks'")
    database.do("UPDATE markets SET discovery_failures = 5, sweep_failures = 3 WHERE id = 'bazaar-clocks'")
    told(crawl, "enable", "bazaar-clocks", "bazaar-toys")
    # Whoever enables a market wants it crawled: its circuit is closed too.
    rows = database.rows(
        "SELECT enabled, discovery_failures, sweep_failures FROM markets"
        " WHERE id IN ('bazaar-clocks', 'bazaar-toys')"
    )
    assert [tuple(row) for row in rows] == [(True, 0, 0)] * 2


def test_scrape_now_is_a_job_before_all_others(crawl: Crawl, database: Database) -> None:
    code, said = told(crawl, "scrape", "bazaar-toys", "--spider", "sweep")
    job = database.row("SELECT * FROM jobs")
    assert code == 0
    assert job.job_id in said
    assert (job.spider, job.work, job.priority) == ("sweep", "market bazaar-toys", 10)


def test_a_person_believes_that_a_market_is_smaller(crawl: Crawl, database: Database) -> None:
    words = ("believe", "bazaar-bikes", "--by", "Ada")
    code, said = told(crawl, *words)
    assert (code, "there is nothing to accept" in said) == (2, True)
    database.do(
        "UPDATE markets SET sweep_last_complete_seen = 150, sweep_last_partial_seen = 60"
        " WHERE id = 'bazaar-bikes'"
    )
    database.do(
        "INSERT INTO alerts (key, kind, severity, subject, message, first_at, last_at)"
        " VALUES ('sweep_partial:bazaar-bikes', 'sweep_partial', 'P2', 'bazaar-bikes', '', now(), now())"
    )
    assert told(crawl, *words) == (0, "bazaar-bikes now has 60 cards, not 150.\n")
    seen = "SELECT sweep_last_complete_seen, sweep_last_partial_seen FROM markets WHERE id = 'bazaar-bikes'"
    assert tuple(database.row(seen)) == (60, None)
    assert database.value("SELECT count(*) FROM alerts WHERE resolved_at IS NULL") == 0
    audit = database.row("SELECT * FROM audit")
    assert (audit.person, audit.action, audit.subject) == ("Ada", "smaller market believed", "bazaar-bikes")


def test_bad_input_is_one_sentence(crawl: Crawl, database: Database) -> None:
    for words, sentence in (
        (["set", "bazaar-bikes"], "Say what to change"),
        (["set", "bazaar-bikes", "--every", "often"], "whole number"),
        (["enable", "atlantis"], "There is no market 'atlantis'"),
        (["scrape", "boston-ma"], "Nobody has approved"),
        (["believe", "atlantis", "--by", "Ada"], "There is no market 'atlantis'"),
    ):
        code, said = told(crawl, *words)
        assert code == 2, words
        assert sentence in said, words
        assert "Traceback" not in said
