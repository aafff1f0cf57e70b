"""The fixtures of all tests: one PostgreSQL with a database per test, a marketplace, and crawls.

`database`: a migrated database for this test; DATABASE_URL is set to it.
`bazaar`: the sample marketplace: one process for all tests, reset before each test.
`marketplace`: the same, with the source `bazaar` in the database of this test pointing at it.
`crawl`: runs `scrapy crawl …` in its own process against them.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from scrapy.settings import Settings
from sqlalchemy import create_engine
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

from pricewatch.bazaar.client import Bazaar
from pricewatch.fetching.browser.chromium import Chromium, usable_chromium
from pricewatch.fetching.failures import NoBrowser
from pricewatch.store.engine import database as store_database
from pricewatch.store.engine import embedded_postgres
from pricewatch.store.engine.schema import ensure_schema
from tests import processes
from tests.databases import Copies, Database, Server
from tests.forked import Outcome, Scrapy, start_fork_server, stop_fork_server

ROOT = Path(__file__).parents[1]
TEMPLATE = "migrated"
# The free space that the tests need on a file system in memory.
MEMORY_BYTES = 4 * 2**30
BROWSER_VARIABLES = ("CHROMIUM_PATH", "BROWSER_WITHOUT_SANDBOX")


# The same examples in every run, so that results are reproducible; HYPOTHESIS_PROFILE=random tries others.
hypothesis.settings.register_profile("same", derandomize=True, database=None, deadline=None)
hypothesis.settings.register_profile("random", database=None, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


def pytest_configure(config: pytest.Config) -> None:
    # Background jobs of a shell ignore SIGINT, and child processes that tests interrupt would inherit this.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if os.geteuid() == 0:
        # The browser tests load only pages of the sample marketplace and of this project.
        os.environ.setdefault("BROWSER_WITHOUT_SANDBOX", "yes")
    # As a plugin, because the hooks of this file do not see fixtures of the session.
    config.pluginmanager.register(processes.ProcessGuard())


def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    """Run the longest tests first, so that workers finish at about the same time; unless shuffled."""
    if not config.pluginmanager.hasplugin("randomly"):
        items.sort(key=lambda item: [item.get_closest_marker(mark) is None for mark in ("proof", "slow")])


@cache
def chromium() -> Chromium | str:
    """Return the browser of this machine, or why there is none."""
    try:
        return usable_chromium(Settings({name: os.environ.get(name) for name in BROWSER_VARIABLES}))
    except NoBrowser as missing:
        return f"no browser: {missing}"


def chromium_path() -> str:
    """Return the path of the browser, for tests that are marked `browser`."""
    found = chromium()
    assert isinstance(found, Chromium)
    return found.path


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("browser") and isinstance(missing := chromium(), str):
        pytest.skip(missing)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    if count := sum("no browser: " in str(report.longrepr) for report in skipped):
        terminalreporter.write_line(f"{count} tests were skipped because there is no browser.")


class Crawl:
    """Run `scrapy crawl` and other commands in their own processes."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self._started: list[Scrapy] = []

    def __call__(
        self, spider: str, /, *, settings: dict[str, Any] | None = None, **arguments: Any
    ) -> Outcome:
        """Run a spider to its end."""
        return self.start(spider, settings=settings, **arguments).end()

    def start(self, spider: str, /, *, settings: dict[str, Any] | None = None, **arguments: Any) -> Scrapy:
        """Start a spider, for tests that interfere with it."""
        return self.command(
            "crawl",
            spider,
            *(part for name, value in arguments.items() for part in ("-a", f"{name}={value}")),
            *(part for name, value in (settings or {}).items() for part in ("-s", f"{name}={value}")),
        )

    def command(self, *words: str, **environment: str) -> Scrapy:
        """Start any command."""
        started = Scrapy(list(words), {**self.environment, **environment}, ROOT)
        self._started.append(started)
        return started

    def stop_all(self) -> None:
        for process in self._started:
            process.abandon()


@pytest.fixture(scope="session", autouse=True)
def processes_end() -> Iterator[None]:
    """Check for left processes after all other fixtures of the session have ended."""
    yield
    processes.check_session()


@pytest.fixture(scope="session", autouse=True)
def fork_server(processes_end: None) -> Iterator[None]:
    start_fork_server()
    yield
    stop_fork_server()


@pytest.fixture(scope="session", autouse=True)
def short_directory(fork_server: None) -> Iterator[Path]:
    """The directory of this session: outside the checkout, with a path short enough for a socket."""
    directory = Path(tempfile.mkdtemp(prefix="pw", dir=_memory()))
    # Some tests run as another user.
    directory.chmod(0o755)
    (directory / "tmp").mkdir()
    (directory / "tmp").chmod(0o1777)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRICEWATCH_VAR", str(directory / "var"))
        patch.setenv("TMPDIR", str(directory / "tmp"))
        patch.setattr(processes, "session_tmpdir", directory / "tmp")
        patch.setattr(tempfile, "tempdir", None)
        yield directory
    shutil.rmtree(directory, ignore_errors=True)


def _memory() -> Path | None:
    """Return a file system in memory, where databases are copied ten times as fast, or None."""
    memory = Path("/dev/shm")
    has_space = memory.is_dir() and shutil.disk_usage(memory).free > MEMORY_BYTES
    return memory if has_space and os.access(memory, os.W_OK) else None


@pytest.fixture(scope="session")
def server(short_directory: Path) -> Iterator[Server]:
    directory = short_directory / "db"
    yield Server(directory)
    embedded_postgres._user_locks.pop(directory).close()
    # The supervisor releases its lock when the server has stopped.
    with (directory / embedded_postgres.SUPERVISOR_LOCK).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)


@pytest.fixture(scope="session")
def migrated(server: Server) -> str:
    """The name of the database from which new ones are copied."""
    server.execute(f"CREATE DATABASE {TEMPLATE}")
    engine = create_engine(server.admin_url.set(database=TEMPLATE), poolclass=NullPool)
    ensure_schema(engine)
    engine.dispose()
    return TEMPLATE


@pytest.fixture(scope="session")
def copies(server: Server, migrated: str) -> Iterator[Copies]:
    copies = Copies(server, migrated)
    yield copies
    copies.close()


@pytest.fixture
def empty_database(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A database without a schema."""
    yield from _database(server, server.create(), monkeypatch)


@pytest.fixture
def database(server: Server, copies: Copies, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    yield from _database(server, copies.take(), monkeypatch)


def _database(server: Server, url: URL, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    monkeypatch.setenv("DATABASE_URL", url.render_as_string(hide_password=False))
    store_database.engine.cache_clear()
    engine = store_database.connect(url)
    yield Database(url, engine)
    engine.dispose()
    with suppress(Exception):
        store_database.engine().dispose()
    store_database.engine.cache_clear()
    server.drop(url)


@pytest.fixture(scope="session")
def one_bazaar() -> Iterator[Bazaar]:
    with Bazaar.start(seed=5, listings=600) as running:
        yield running


@pytest.fixture
def bazaar(one_bazaar: Bazaar) -> Bazaar:
    one_bazaar.reset()
    return one_bazaar


@pytest.fixture
def marketplace(bazaar: Bazaar, database: Database) -> Bazaar:
    point_at(database, bazaar)
    return bazaar


@pytest.fixture
def crawl(database: Database) -> Iterator[Crawl]:
    crawls = Crawl({**os.environ, "DATABASE_URL": database.url, "PYTHONPATH": str(ROOT)})
    yield crawls
    crawls.stop_all()


def point_at(database: Database, bazaar: Bazaar) -> None:
    """Set the base URL of the source `bazaar` to this marketplace."""
    database.do("UPDATE sources SET base_url = :url WHERE id = 'bazaar'", url=bazaar.url)
