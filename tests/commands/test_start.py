"""How commands begin and end: nothing heavy is imported in vain, and a reader may leave at any time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT, Crawl
from tests.databases import Database

LOADED = """
import sys
from scrapy.cmdline import execute
try:
    execute(["scrapy", *sys.argv[1:]])
except SystemExit:
    pass
print(*sorted(sys.modules), file=sys.stderr)
"""
# What takes long to import, and only a few commands need.
ALWAYS_HEAVY = {
    *("alembic", "apprise", "fastapi", "playwright", "redis", "rich", "scrapyd", "uvicorn"),
    *("pricewatch.bazaar", "pricewatch.simulation", "pricewatch.web"),
}
NEEDS_NO_SPIDERS = {
    *("sqlalchemy", "psycopg2", "tldextract", "price_parser"),
    *(
        "pricewatch.spiders",
        "pricewatch.middlewares",
        "pricewatch.store.models",
        "pricewatch.parsing.prices.price_roles",
    ),
}


@pytest.mark.parametrize(
    ("command", "heavy"),
    [
        ("markets --help", ALWAYS_HEAVY | NEEDS_NO_SPIDERS),
        ("targets list --help", ALWAYS_HEAVY | NEEDS_NO_SPIDERS),
        ("version", ALWAYS_HEAVY | NEEDS_NO_SPIDERS),
        ("list", ALWAYS_HEAVY),
    ],
)
def test_what_a_command_does_not_need_is_not_imported(command: str, heavy: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *command.split()], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(done.stderr.split())
    assert "pricewatch.commands.markets" in loaded
    assert loaded & heavy == set()


def read_one_line(process: subprocess.Popen[str], *, lines: int = 1) -> tuple[int, str, str]:
    """What `head` does; with no line at all, the reader has gone before anything is written."""
    assert process.stdout is not None
    assert process.stderr is not None
    shown = "".join(process.stdout.readline() for _ in range(lines))
    process.stdout.close()
    told = process.stderr.read()
    return process.wait(60), shown, told


@pytest.mark.parametrize("lines", [0, 1])
@pytest.mark.parametrize("command", ["list", "markets --help", "newadapter --help"])
def test_a_reader_may_leave(command: str, lines: int) -> None:
    words = [sys.executable, "-m", "scrapy", *command.split()]
    with subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        code, shown, told = read_one_line(process, lines=lines)
    assert (code, told) == (0, "")
    assert bool(shown) == bool(lines)


def test_a_reader_may_leave_in_the_middle(crawl: Crawl, database: Database) -> None:
    """More than a pipe holds, so that writing itself fails, not only the last flush."""
    database.do(
        "INSERT INTO markets (id, source_id, display_name, start_pages)"
        " SELECT 'market-' || n, 'bazaar', repeat('long name ', 10), '[\"/c/bikes\"]'"
        " FROM generate_series(1, 900) n"
    )
    words = [sys.executable, "-m", "scrapy", "markets", "list", "--json"]
    with subprocess.Popen(
        words, cwd=ROOT, env=crawl.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        code, shown, told = read_one_line(process)
    assert shown.startswith("{")
    assert (code, told) == (0, "")
