"""Progress: a bar on a terminal, lines in a log; both have pages, listings and rate."""

from __future__ import annotations

from pricewatch.bazaar.client import Bazaar
from tests.conftest import Crawl
from tests.databases import Database
from tests.terminal import on_terminal


def test_a_terminal_shows_a_bar_and_a_summary_and_no_log(marketplace: Bazaar, database: Database) -> None:
    words = ("crawl", "discovery", "-a", "market=bazaar-toys", "-a", "max_details=5")
    code, text = on_terminal(database.url, *words)
    assert code == 0, text
    assert "discovery bazaar-toys" in text
    assert "cards" in text
    run = database.last_run()
    assert f"run {run.id} finished in" in text
    assert f"{run.pages} pages, {run.cards} cards, {run.new_listings} new" in text
    assert "[scrapy" not in text


def test_log_has_lines_instead_of_a_bar(marketplace: Bazaar, crawl: Crawl) -> None:
    outcome = crawl("discovery", market="bazaar-toys", max_details=0)
    assert "finished in" in outcome.stderr
    assert "\x1b" not in outcome.stderr
