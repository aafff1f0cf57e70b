"""`scrapy shell`, `fetch`, `view`, `list`, `check`, `runspider` and `bench` in the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from pricewatch.bazaar.client import Bazaar
from tests.commands.conftest import Run
from tests.conftest import Crawl
from tests.databases import Database
from tests.ports import free_port

RUNS = "SELECT count(*) FROM runs"


def test_fetch_prints_a_page(marketplace: Bazaar, database: Database, crawl: Crawl) -> None:
    outcome = crawl.command("fetch", "--nolog", f"{marketplace.url}/c/bikes").end()
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert "<main data-total" in outcome.stdout
    headers = crawl.command("fetch", "--nolog", "--headers", f"{marketplace.url}/c/bikes").end()
    assert "< Server: bazaar" in headers.stdout.splitlines()
    # Both used pricewatch's middlewares: the second found robots.txt in the cache.
    assert [entry.path for entry in marketplace.log()].count("/robots.txt") == 1
    assert database.value(RUNS) == 0


def test_fetch_starts_the_sample_marketplace(database: Database, crawl: Crawl) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    database.do("UPDATE sources SET base_url = :url WHERE id = 'bazaar'", url=url)
    outcome = crawl.command("fetch", "--nolog", f"{url}/c/bikes").end()
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert "<main data-total" in outcome.stdout


@pytest.mark.parametrize("status", [403, 404, 503])
def test_fetch_prints_error_responses(marketplace: Bazaar, crawl: Crawl, status: int) -> None:
    marketplace.fault("status", "^/c/bikes", status=status)
    quick = ("-s", "RETRY_TIMES=0")
    outcome = crawl.command("fetch", "--nolog", *quick, f"{marketplace.url}/c/bikes").end()
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert outcome.stdout
    code = ("-c", "response.status")
    outcome = crawl.command("shell", "--nolog", *quick, *code, f"{marketplace.url}/c/bikes").end()
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, f"{status}\n", "")


def test_fetch_no_redirect_shows_the_redirect(marketplace: Bazaar, crawl: Crawl) -> None:
    marketplace.fault("redirect", "^/c/bikes", to="/c/toys")
    followed = crawl.command("fetch", "--nolog", f"{marketplace.url}/c/bikes").end()
    assert "<main data-total" in followed.stdout
    shown = crawl.command(
        "fetch", "--nolog", "--no-redirect", "--headers", f"{marketplace.url}/c/bikes"
    ).end()
    assert "< Location: /c/toys" in shown.stdout.splitlines()


def test_view_opens_the_page_in_a_browser(marketplace: Bazaar, crawl: Crawl, tmp_path: Path) -> None:
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\ncp "${{1#file://}}" {opened}\n')
    browser.chmod(0o755)
    words = ("view", "--nolog", f"{marketplace.url}/c/bikes")
    outcome = crawl.command(*words, BROWSER=f"{browser} %s").end()
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert "<main data-total" in opened.read_text()


def test_shell_has_the_response(marketplace: Bazaar, database: Database, crawl: Crawl) -> None:
    code = "response.status, len(response.css('[data-id]')) > 5, spider.name"
    outcome = crawl.command("shell", "--nolog", "-c", code, f"{marketplace.url}/c/bikes").end()
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert outcome.stdout == "(200, True, 'default')\n"
    # A URL without a scheme, and no URL.
    netloc = marketplace.url.removeprefix("http://")
    assert crawl.command("shell", "--nolog", "-c", "response.status", netloc).end().stdout == "200\n"
    assert crawl.command("shell", "--nolog", "-c", "6 * 7").end().stdout == "42\n"
    assert database.value(RUNS) == 0


def test_shell_reads_a_saved_page(crawl: Crawl, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<title>Saved</title>")
    code = "response.css('title::text').get(), response.url"
    outcome = crawl.command("shell", "--nolog", "-c", code, str(page)).end()
    assert outcome.stdout == f"('Saved', '{page.as_uri()}')\n"
    page.write_text('<link rel="canonical" href="https://shop.example/1"><title>Saved</title>')
    outcome = crawl.command("shell", "--nolog", "-c", code, str(page)).end()
    assert outcome.stdout == "('Saved', 'https://shop.example/1')\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fetch"], "Give one URL. Example: https://shop.example/item/1"),
        (["view", "a", "b"], "Give one URL. Example: https://shop.example/item/1"),
        (
            ["fetch", "shop.example"],
            "'shop.example' is not a web address. Example: https://shop.example/item/1",
        ),
        (["fetch", "file:///etc/passwd"], "'file:///etc/passwd' is not a web address."),
        (["view", "--fast", "https://shop.example"], "Unknown option '--fast'; -h lists the options."),
        (["shell", "-c", "1", "./none.html"], "There is no file './none.html'."),
        (["shell", "-c", "1", "http://a b/"], "'http://a b/' is not a web address."),
        (["fetch", "--spider", "x", "https://shop.example"], "There is no spider 'x'. Known spiders: disc"),
        (["shell", "--spider", "sweep", "https://shop.example"], "Remove --spider sweep: it needs arguments"),
        (["fetch", "-s", "REQUESTS_PER_SECOND=often", "https://shop.example"], "REQUESTS_PER_SECOND is 'of"),
    ],
)
def test_bad_input_is_one_line(crawl: Crawl, words: list[str], message: str) -> None:
    outcome = crawl.command(*words).end()
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(f"pricewatch: {message}")
    assert outcome.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [["fetch"], ["view"], ["shell", "-c", "response"]])
def test_forbidden_page_is_one_line(
    marketplace: Bazaar, database: Database, crawl: Crawl, command: list[str]
) -> None:
    url = f"{marketplace.url}/private/page"
    outcome = crawl.command(*command, "--nolog", url).end()
    assert outcome.returncode == 1
    assert outcome.stderr == f"pricewatch: {url} was not fetched: forbidden by robots.txt.\n"
    # No longer the sample marketplace, but any private address.
    database.do("UPDATE sources SET base_url = 'http://127.0.0.1:1' WHERE id = 'bazaar'")
    outcome = crawl.command(*command, "--nolog", url, ALLOWED_PRIVATE_HOSTS="").end()
    assert outcome.returncode == 1
    netloc = marketplace.url.removeprefix("http://")
    assert outcome.stderr == (
        f"pricewatch: {url} was not fetched: 127.0.0.1 is not a public address; if it is yours, "
        f"allow it with ALLOWED_PRIVATE_HOSTS={netloc}.\n"
    )
    assert marketplace.log()[-1].path == "/robots.txt"


@pytest.mark.proof
def test_failed_fetch_is_one_line(marketplace: Bazaar, crawl: Crawl) -> None:
    marketplace.fault("reset", "^/c/bikes")
    marketplace.fault("captcha", "^/c/toys")
    quick = ("--nolog", "-s", "RETRY_TIMES=0")
    for command in (["fetch"], ["shell", "-c", "response"]):
        outcome = crawl.command(*command, *quick, f"{marketplace.url}/c/bikes").end()
        assert outcome.returncode == 1
        assert outcome.stderr.startswith(f"pricewatch: {marketplace.url}/c/bikes was not fetched: ")
        assert outcome.stderr.count("\n") == 1
        outcome = crawl.command(*command, *quick, f"{marketplace.url}/c/toys").end()
        assert "-s BLOCKED_PAGES_ENABLED=False shows its response" in outcome.stderr
    shown = crawl.command("fetch", *quick, "-s", "BLOCKED_PAGES_ENABLED=False", f"{marketplace.url}/c/toys")
    assert "Just a moment" in shown.end().stdout


@pytest.mark.proof
def test_spider_that_matches_the_site_opens_no_run(
    marketplace: Bazaar, database: Database, plain_project: Run
) -> None:
    url = f"{marketplace.url}/c/bikes"
    shown = plain_project("shell", "--nolog", "-c", "spider.name, response.status", url)
    assert (shown.stdout, shown.returncode) == ("('plain', 200)\n", 0), shown.stderr
    fetched = plain_project("fetch", "--nolog", url)
    assert "<main data-total" in fetched.stdout, fetched.stderr
    assert database.value(RUNS) == 0


@pytest.mark.proof
def test_spiders_are_listed_and_their_contracts_checked(database: Database, plain_project: Run) -> None:
    listed = plain_project("list")
    assert listed.stdout.split() == ["discovery", "plain", "sweep", "targets", "verification"]
    checked = plain_project("check", "plain")
    assert checked.returncode == 0, checked.stderr
    assert "Ran 1 contract" in checked.stderr
    assert checked.stderr.endswith("OK\n")
    assert database.value(RUNS) == 0


def test_refused_request_without_errback_is_logged(
    marketplace: Bazaar, plain_project: Run, tmp_path: Path
) -> None:
    file = tmp_path / "plain_spiders.py"
    file.write_text(file.read_text().replace("/c/bikes", "/c/bikes?forbidden=1"))
    items = tmp_path / "items.jsonl"
    ran = plain_project("runspider", str(file), "-s", "RUN_ENABLED=False", "-O", str(items))
    assert ran.returncode == 0, ran.stderr
    assert items.read_text().count("\n") == 3
    assert f"WARNING: {marketplace.url}/private/page was not fetched: forbidden by robots.txt" in ran.stderr


def test_bench_runs_without_opening_a_run(database: Database, crawl: Crawl) -> None:
    words = ("-s", "CLOSESPIDER_PAGECOUNT=3", "-s", "STATS_DUMP=True")
    outcome = crawl.command("bench", *words).end()
    assert outcome.returncode == 0
    assert "Closing spider (closespider_pagecount)" in outcome.stderr
    assert "'response_received_count': " in outcome.stderr
    assert database.value(RUNS) == 0


def test_help_lists_all_commands(crawl: Crawl) -> None:
    shown = crawl.command("-h").end().stdout
    for name in ("bench", "check", "fetch", "genspider", "parse", "runspider", "shell", "view"):
        assert f"\n  {name:<13} " in shown
