"""Commands import no heavy modules that they do not need, and survive a closed pipe."""

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
# Modules that are slow to import and that only a few commands need.
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
def test_heavy_modules_are_not_imported(command: str, heavy: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *command.split()], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(done.stderr.split())
    assert "pricewatch.commands.markets" in loaded
    assert loaded & heavy == set()


def read_lines(process: subprocess.Popen[str], *, lines: int = 1) -> tuple[int, str, str]:
    """Read like `head`, then close the pipe; return the exit code, the lines and standard error."""
    assert process.stdout is not None
    assert process.stderr is not None
    shown = "".join(process.stdout.readline() for _ in range(lines))
    process.stdout.close()
    errors = process.stderr.read()
    return process.wait(60), shown, errors


@pytest.mark.parametrize("lines", [0, 1])
@pytest.mark.parametrize("command", ["list", "markets --help", "newadapter --help"])
def test_closed_pipe_is_no_error(command: str, lines: int) -> None:
    words = [sys.executable, "-m", "scrapy", *command.split()]
    with subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        code, shown, errors = read_lines(process, lines=lines)
    assert (code, errors) == (0, "")
    assert bool(shown) == bool(lines)


def test_pipe_closed_while_writing_is_no_error(crawl: Crawl, database: Database) -> None:
    """The output is larger than the buffer of a pipe, so that a write fails, not only the last flush."""
    database.do(
        "INSERT INTO markets (id, source_id, display_name, start_pages)"
        " SELECT 'market-' || n, 'bazaar', repeat('long name ', 10), '[\"/c/bikes\"]'"
        " FROM generate_series(1, 900) n"
    )
    words = [sys.executable, "-m", "scrapy", "markets", "list", "--json"]
    with subprocess.Popen(
        words, cwd=ROOT, env=crawl.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        code, shown, errors = read_lines(process)
    assert shown.startswith("{")
    assert (code, errors) == (0, "")
