"""Clusters of daemons, each with its own database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from scrapyd.config import Config

from pricewatch.scheduling import membership
from pricewatch.store.engine.database import connect
from tests.databases import Database, Server
from tests.scheduling.daemons import FAKE_SPIDERS, Daemon
from tests.waiting import until

ADA = ("ada", "50% secret")
LOGIN = {"PRICEWATCH_USER": ADA[0], "PRICEWATCH_PASSWORD": ADA[1]}
LOW_LIMITS = {
    "max_egg_mb": "3",
    "max_request_seconds": "6",
    "max_stall_seconds": "3",
    "max_connections_per_address": "30",
    "max_connections": "35",
}


class Marks:
    """The files that the fake spiders write: one for each process that has begun or is done with a job."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def nodes_by_job(self, event: str) -> dict[str, list[str]]:
        """The nodes that began or did each job, once for each process."""
        nodes: defaultdict[str, list[str]] = defaultdict(list)
        for mark in self.directory.glob(f"*.{event}"):
            nodes[mark.name.split(".")[0]].append(mark.read_text())
        return nodes

    def count(self, event: str) -> int:
        return sum(1 for _ in self.directory.glob(f"*.{event}"))

    def has(self, job_id: str, event: str, times: int = 1) -> bool:
        return len(list(self.directory.glob(f"{job_id}.*.{event}"))) >= times


class Cluster:
    def __init__(
        self, directory: Path, database: Database, environment: dict[str, str] | None = None
    ) -> None:
        self.directory = directory
        self.environment = environment or {}
        self.database = database
        self.daemons: list[Daemon] = []
        (directory / "marks").mkdir(parents=True)
        self.marks = Marks(directory / "marks")

    def start(self, name: str, **options: str) -> Daemon:
        """Start a daemon with fake spiders, without waiting for it."""
        directory = self.directory / name
        directory.mkdir()
        environment = {
            "DATABASE_URL": self.database.url,
            "MARKS": str(self.directory / "marks"),
            "PRICEWATCH_VAR": str(directory / "var"),
            **self.environment,
        }
        daemon = Daemon(directory, name, environment, **{**FAKE_SPIDERS, **options})
        self.daemons.append(daemon)
        return daemon

    def stop(self) -> None:
        for daemon in self.daemons:
            daemon.abandon()


@pytest.fixture
def config(database: Database, tmp_path: Path) -> Any:
    """The configuration of a daemon that is not started, on the database of this test."""
    config = Config({f"{name}_dir": str(tmp_path / name) for name in ("eggs", "logs", "dbs")})
    config.cp.add_section("settings")
    membership.store_engine.cache_clear()
    yield config
    membership.store_engine().dispose()
    membership.store_engine.cache_clear()


@pytest.fixture(scope="module")
def module_database(server: Server, migrated: str) -> Iterator[Database]:
    url = server.create(migrated)
    engine = connect(url)
    yield Database(url, engine)
    engine.dispose()
    server.drop(url)


@pytest.fixture(scope="module")
def make_cluster(module_database: Database, tmp_path_factory: Any) -> Iterator[Callable[[], Cluster]]:
    clusters: list[Cluster] = []

    def make() -> Cluster:
        clusters.append(Cluster(tmp_path_factory.mktemp("cluster"), module_database))
        return clusters[-1]

    yield make
    for cluster in clusters:
        cluster.stop()


@pytest.fixture(scope="session")
def one_daemon(server: Server, migrated: str, tmp_path_factory: Any) -> Iterator[Cluster]:
    url = server.create(migrated)
    engine = connect(url)
    cluster = Cluster(tmp_path_factory.mktemp("daemon"), Database(url, engine))
    cluster.start("one").wait()
    yield cluster
    cluster.stop()
    engine.dispose()
    server.drop(url)


@pytest.fixture(scope="session")
def locked_daemon(server: Server, migrated: str, tmp_path_factory: Any) -> Iterator[Daemon]:
    """A daemon with a login, low limits on requests and one log file, shared by all tests that need one."""
    url = server.create(migrated)
    engine = connect(url)
    cluster = Cluster(tmp_path_factory.mktemp("locked"), Database(url, engine), LOGIN)
    daemon = cluster.start("locked", **LOW_LIMITS, items_dir="var/items")

    def is_ready() -> bool:
        assert daemon.process.poll() is None, daemon.log.read_text()
        try:
            return httpx.get(f"{daemon.url}/login").status_code == 200
        except httpx.TransportError:
            return False

    until(is_ready)
    yield daemon
    cluster.stop()
    engine.dispose()
    server.drop(url)


@pytest.fixture
def daemon(one_daemon: Cluster) -> Daemon:
    """One daemon with fake spiders, shared by all tests that need only one."""
    return one_daemon.daemons[0]


@pytest.fixture(scope="module")
def cluster(make_cluster: Callable[[], Cluster]) -> Cluster:
    """Two daemons with fake spiders."""
    cluster = make_cluster()
    for name in ("one", "two"):
        cluster.start(name)
    for daemon in cluster.daemons:
        daemon.wait()
    return cluster
