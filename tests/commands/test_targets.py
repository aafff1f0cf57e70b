"""`scrapy targets`: all actions, on a terminal and without one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.databases import Database
from tests.terminal import on_terminal


@pytest.fixture
def scrapy(crawl: Any) -> Any:
    return lambda *words: crawl.command(*map(str, words)).end()


def answer(database: Database, text: bytes, *words: str) -> tuple[int, str]:
    """Run a command on a terminal and type an answer."""
    return on_terminal(database.url, *words, typed=text, kind="dumb")


def test_target_is_added_listed_paused_resumed_queued_and_removed(scrapy, database):
    done = scrapy("targets", "add", "https://shop.example/a?utm_source=x", "--selector", "price=.amount")
    assert done.returncode == 0
    assert "Target 1" in done.stdout
    # Without a terminal nobody can approve: the target is stored, but not due.
    assert "until somebody approves it" in done.stderr
    assert database.value("SELECT next_due_at FROM targets") is None
    done = scrapy("targets", "add", "https://shop.example/a", "https://shop.example/b", "--yes")
    assert "Already a target: https://shop.example/a" in done.stdout
    assert re.search(r"^Target \d+: https://shop.example/b$", done.stdout, re.MULTILINE)
    assert database.value("SELECT count(next_due_at) FROM targets") == 2
    assert database.value("SELECT tos_approved_by FROM sources WHERE id = 'shop.example'")

    shown = scrapy("targets", "list", "--source", "shop.example", "--json")
    rows = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [row["url"] for row in rows] == ["https://shop.example/a?utm_source=x", "https://shop.example/b"]
    assert rows[0]["selectors"] == {"price": ".amount"}
    assert "https://shop.example/b" in scrapy("targets", "list", "--contains", "/b").stdout

    assert "1 of 1 paused" in scrapy("targets", "pause", "https://shop.example/b").stdout
    assert "No targets match" in scrapy("targets", "list", "--status", "BROKEN").stdout
    assert "1 of 1 resumed" in scrapy("targets", "resume", "--status", "PAUSED").stdout
    assert "2 of 2 queued" in scrapy("targets", "requeue", "--source", "shop.example").stdout
    done = scrapy("targets", "remove", "--source", "shop.example")
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert "2 of 2 removed" in scrapy("targets", "remove", "--source", "shop.example", "--yes").stdout
    assert database.value("SELECT count(*) FROM targets") == 0


@pytest.mark.proof
def test_approval_of_a_site_is_requested_once(database):
    added = "SELECT count(*) FROM targets"
    code, shown = answer(database, b"n\n", "targets", "add", "https://shop.example/a")
    assert code == 2
    assert "Have you read its terms" in shown
    assert "Nothing was added" in shown
    assert database.value(added) == 0
    urls = ("https://shop.example/a", "https://www.shop.example/b")
    code, shown = answer(database, b"y\n", "targets", "add", *urls)
    assert (code, database.value(added)) == (0, 2)
    assert shown.count("Have you read its terms") == 1
    assert database.value("SELECT count(next_due_at) FROM targets") == 2


def test_import_reports_each_rejected_line(scrapy, database, tmp_path: Path):
    file, report = tmp_path / "urls.csv", tmp_path / "report.csv"
    file.write_bytes(
        b"\xef\xbb\xbfurl;priority\nhttps://shop.example/1;5\nhttps://shop.example/1?gclid=x;\n"
        b"javascript:alert(1);\nhttp://10.0.0.1/;\n"
    )
    done = scrapy("targets", "import", file, "--dry-run")
    assert "1 new, 0 updated, 0 unchanged, 1 repeated, 2 rejected (dry run" in done.stdout
    assert database.value("SELECT count(*) FROM targets") == 0
    done = scrapy("targets", "import", file, "--report", report, "--approved-by", "Ada")
    assert done.returncode == 1
    assert "line 4: not a web address: javascript:alert(1)" in done.stderr
    assert "line 5: 10.0.0.1 is not a public address" in done.stderr
    assert len(report.read_text().splitlines()) == 5
    assert database.value("SELECT tos_approved_by FROM sources WHERE id = 'shop.example'") == "Ada"
    assert database.value("SELECT count(*) FROM targets WHERE next_due_at IS NOT NULL") == 1


def test_adding_a_known_url_updates_its_target(scrapy, database, tmp_path: Path):
    url = "https://shop.example/1"
    scrapy("targets", "add", url, "--yes")
    assert scrapy("targets", "add", url).stdout == f"Already a target: {url}\n"
    changed = scrapy("targets", "add", url, "--selector", "currency=JPY")
    assert changed.stdout == f"Changed existing target: {url}\n"
    assert database.value("SELECT selectors FROM targets") == {"currency": "JPY"}
    file = tmp_path / "urls.csv"
    file.write_text(f"url,priority\n{url},5\nhttps://shop.example/2,5\n")
    assert "2 lines: 1 new, 1 updated, 0 unchanged" in scrapy("targets", "import", file).stdout


BAD_INPUT = [
    ("add http://169.254.169.254/", "cannot be watched: 169.254.169.254 is not a public address"),
    ("add https://a.example/1 --schedule hourly", "schedule 'hourly' is not valid"),
    ("add https://a.example/1 --selector colour=.x", "There is no selector 'colour'"),
    ("import /nowhere.csv", "/nowhere.csv cannot be read"),
    ("pause", "Say which"),
    ("pause 77", "There is no target 77"),
    ("list --source nobody", "There is no source 'nobody'"),
]


def test_bad_input_is_one_line(scrapy):
    for words, message in BAD_INPUT:
        done = scrapy("targets", *words.split())
        assert done.returncode == 2
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_rendering_of_targets_is_chosen(scrapy, database):
    query = "SELECT render FROM targets ORDER BY id"
    urls = ["https://shop.example/a", "https://shop.example/b"]
    assert scrapy("targets", "add", *urls, "--render", "always", "--yes").returncode == 0
    database.do("UPDATE targets SET status = 'BROKEN', consecutive_failures = 5 WHERE url LIKE '%/b'")
    assert scrapy("targets", "add", urls[0], "--render", "inherit").returncode == 0
    assert [render for (render,) in database.rows(query)] == [None, "always"]
    done = scrapy("targets", "render", "never", "--source", "shop.example")
    assert done.stdout == "2 of 2 changed to never.\n"
    rows = database.rows("SELECT render, status, consecutive_failures FROM targets")
    assert {tuple(row) for row in rows} == {("never", "ACTIVE", 0)}
    assert (
        database.row("SELECT action, details FROM audit WHERE action = 'targets: render'").details["render"]
        == "never"
    )
    assert "1 of 1 changed to inherit" in scrapy("targets", "render", "inherit", urls[1]).stdout
    assert [render for (render,) in database.rows(query)] == ["never", None]
    assert scrapy("targets", "render", "sometimes", urls[1]).returncode == 2
    assert "Say which targets" in scrapy("targets", "render", "auto").stderr
