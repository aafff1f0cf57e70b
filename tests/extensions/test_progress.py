"""A bar on a terminal, lines in a log; both tell pages, listings and rate."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

from pricewatch.bazaar.client import Bazaar
from tests.conftest import ROOT, Crawl
from tests.databases import Database


def test_a_terminal_shows_a_bar_and_a_summary_and_no_log(marketplace: Bazaar, database: Database) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "scrapy",
            "crawl",
            "discovery",
            "-a",
            "market=bazaar-toys",
            "-a",
            "max_details=5",
        ],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database.url, "TERM": "xterm", "COLUMNS": "150"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            seen += os.read(ours, 65536)
        except OSError:
            break
    os.close(ours)
    assert process.wait() == 0, seen.decode()
    text = seen.decode()
    assert "discovery bazaar-toys" in text
    assert "cards" in text
    run = database.last_run()
    assert f"run {run.id} finished in" in text
    assert f"{run.pages} pages, {run.cards} cards, {run.new_listings} new" in text
    assert "[scrapy" not in text


def test_a_log_gets_lines_instead(marketplace: Bazaar, crawl: Crawl) -> None:
    outcome = crawl("discovery", market="bazaar-toys", max_details=0)
    assert "finished in" in outcome.stderr
    assert "\x1b" not in outcome.stderr
