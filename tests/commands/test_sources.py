"""`scrapy sources`: approval and rate limits."""

from __future__ import annotations

from pricewatch.store.source_registry import price_places, spider_sources
from tests.conftest import Crawl
from tests.databases import Database
from tests.store.drift_batches import GOOD, end_run
from tests.store.sample_targets import NOW


def run(crawl: Crawl, *words: str) -> tuple[int, str]:
    outcome = crawl.command("sources", *words).end()
    return outcome.returncode, outcome.stdout + outcome.stderr


def test_nothing_is_crawled_from_an_unapproved_source(crawl: Crawl, database: Database) -> None:
    outcome = crawl("discovery", market="boston-ma")
    assert outcome.returncode == 1
    assert "Nobody has approved fetching from apartments yet" in outcome.stderr
    assert database.value("SELECT count(*) FROM runs") == 0


def test_approval_is_stored_listed_and_withdrawn(crawl: Crawl, database: Database) -> None:
    assert run(crawl, "approve", "apartments", "--by", "Ada") == (0, "apartments is approved by Ada.\n")
    row = database.row("SELECT * FROM sources WHERE id = 'apartments'")
    assert row.tos_approved_by == "Ada"
    assert row.tos_reviewed_at is not None
    code, listed = run(crawl, "list")
    assert code == 0
    assert "Ada" in listed
    assert run(crawl, "withdraw", "apartments")[0] == 0
    assert database.value("SELECT tos_approved_by FROM sources WHERE id = 'apartments'") is None


def test_source_of_a_custom_spider_is_listed_and_approved(crawl: Crawl, database: Database) -> None:
    source = database.call(spider_sources.source_for, "toys", None, "http://localhost:8000/toys", NOW)
    assert run(crawl, "approve", source.id, "--by", "Ada") == (0, "localhost:8000 is approved by Ada.\n")
    assert database.call(spider_sources.source_for, "toys", None, "localhost:8000", NOW).is_approved
    end_run(database, {"spider:toys": GOOD, "spider:games": GOOD, "generic": GOOD}, source=source.id)
    _, listed = run(crawl, "list")
    (line,) = (line for line in listed.splitlines() if "localhost:8000" in line)
    assert "games, toys" in line


def test_rate_limit_is_changed(crawl: Crawl, database: Database) -> None:
    rate = ("--requests-per-second", "5", "--min-delay-ms", "0", "--max-concurrent", "4")
    code, output = run(crawl, "set", "apartments.com", *rate)
    assert (code, output) == (0, "Changed apartments. New crawls use the new limits.\n")
    query = "SELECT requests_per_second, min_delay_ms, max_concurrent FROM sources WHERE id = 'apartments'"
    assert tuple(database.row(query)) == (5, 0, 4)
    assert run(crawl, "set", "apartments", "--requests-per-second", "0")[0] == 0
    assert tuple(database.row(query)) == (None, 0, 4)
    code, output = run(crawl, "set", "apartments", "--requests-per-second", "quick")
    assert (code, output.count("\n")) == (2, 1)
    assert "--requests-per-second takes a number" in output
    assert run(crawl, "set", "apartments")[0] == 2


def test_bad_input_is_one_line(crawl: Crawl, database: Database) -> None:
    code, output = run(crawl, "approve", "atlantis", "--by", "Ada")
    assert code == 2
    assert "There is no source 'atlantis'. Known sources: apartments, bazaar." in output
    code, output = run(crawl, "approve", "apartments")
    assert code == 2
    assert "the following arguments are required: --by" in output
    assert "Traceback" not in output


def test_rendering_is_chosen_and_resets_what_was_learned(crawl: Crawl, database: Database) -> None:
    query = "SELECT render, needs_browser FROM sources WHERE id = 'apartments'"
    database.do("UPDATE sources SET needs_browser = true WHERE id = 'apartments'")
    (line,) = (line for line in run(crawl, "list")[1].splitlines() if "apartments.com" in line)
    assert "auto (browser)" in line
    code, output = run(crawl, "render", "apartments.com", "always")
    assert (code, output) == (0, "apartments: render is always. New crawls use it.\n")
    assert tuple(database.row(query)) == ("always", False)
    audit = database.row("SELECT action, subject, details FROM audit")
    assert tuple(audit) == ("source: render", "apartments", {"render": "always"})
    code, output = run(crawl, "render", "apartments", "sometimes")
    assert code == 2
    assert "invalid choice: 'sometimes'" in output
    database.call(price_places.remember, "apartments", ".rent", by="Ada", now=NOW)
    assert run(crawl, "forget-price-place", "apartments")[0] == 0
    assert database.value("SELECT price_place FROM sources WHERE id = 'apartments'") is None
