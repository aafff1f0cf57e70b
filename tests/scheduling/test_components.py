"""Each part as scrapyd knows it, and what the daemon refuses."""

from __future__ import annotations

import io
import urllib.error
import urllib.request
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
from scrapyd.config import Config
from scrapyd.exceptions import ConfigError, DirectoryTraversalError, EggNotFoundError, ProjectNotFoundError
from scrapyd.interfaces import IEggStorage, IJobStorage, IPoller, ISpiderQueue
from twisted.logger import capturedLogs
from twisted.python.failure import Failure
from zope.interface.verify import verifyClass, verifyObject

from pricewatch.scheduling import application, membership
from pricewatch.scheduling.egg_storage import PostgresEggStorage
from pricewatch.scheduling.job_storage import PostgresJobStorage
from pricewatch.scheduling.outage import Outage
from pricewatch.scheduling.poller import ClusterPoller
from pricewatch.scheduling.spider_queue import PostgresSpiderQueue
from tests.conftest import ROOT
from tests.databases import Database
from tests.scheduling.daemons import Daemon


@pytest.fixture
def config(database: Database, tmp_path: Path) -> Any:
    made = Config({f"{each}_dir": str(tmp_path / each) for each in ("eggs", "logs", "dbs")})
    made.cp.add_section("settings")
    membership.store_engine.cache_clear()
    yield made
    membership.store_engine().dispose()
    membership.store_engine.cache_clear()


@pytest.mark.parametrize(
    ("part", "interface"),
    [
        (PostgresSpiderQueue, ISpiderQueue),
        (PostgresJobStorage, IJobStorage),
        (PostgresEggStorage, IEggStorage),
        (ClusterPoller, IPoller),
    ],
)
def test_keeps_scrapyds_interfaces(part: type, interface: Any, config: Config) -> None:
    assert verifyClass(interface, part)
    made = part(config, "test") if part is PostgresSpiderQueue else part(config)
    assert verifyObject(interface, made)


def test_every_service_of_scrapyd_is_there() -> None:
    stock, ours = Config(values=None, extra_sources=()), ConfigParser(interpolation=None)
    ours.read(ROOT / "scrapyd.conf")
    assert {name for name, _ in stock.items("services")} == set(ours["services"])


def test_a_queue_as_scrapyd_uses_it(config: Config) -> None:
    queue = PostgresSpiderQueue(config, "test")
    queue.add("low", 0.0, _job="a", settings={"X": "1"}, n="1")
    queue.add("high", 5.0, _job="b", _version="v")
    PostgresSpiderQueue(config, "another").add("other", 0.0, _job="c")
    assert queue.count() == 2
    assert queue.list() == [
        {"name": "high", "_job": "b", "_version": "v", "settings": {}},
        {"name": "low", "_job": "a", "settings": {"X": "1"}, "n": "1"},
    ]
    assert queue.remove(lambda message: message["_job"] == "b") == 1
    taken = queue.pop()
    assert taken is not None
    assert taken["_job"] == "a"
    assert queue.pop() is None
    queue.add("more", 0.0, _job="d")
    queue.clear()
    assert queue.count() == 0


def test_eggs_are_the_clusters(config: Config, database: Database, tmp_path: Path) -> None:
    storage = PostgresEggStorage(config)
    for version in ("2.0", "10.0", "1.0"):
        storage.put(io.BytesIO(version.encode()), "p", version)
    # The newest is what was deployed last, whatever its name.
    assert storage.list("p") == ["2.0", "10.0", "1.0"]
    newest, file = storage.get("p")
    assert newest == "1.0"
    assert file is not None
    with file:
        assert file.read() == b"1.0"
    storage.put(io.BytesIO(b"2.0 again"), "p", "2.0")
    found = storage.fetch("p")
    assert found is not None
    assert (found[0], found[1].read_bytes()) == ("2.0", b"2.0 again")
    assert storage.get("p", "7") == (None, None)
    assert storage.list_projects() == ["p"]
    storage.delete("p", "2.0")
    with pytest.raises(EggNotFoundError):
        storage.delete("p", "2.0")
    storage.delete("p")
    with pytest.raises(ProjectNotFoundError):
        storage.delete("p")
    with pytest.raises(DirectoryTraversalError):
        storage.put(io.BytesIO(b""), "../elsewhere", "1")


@pytest.mark.parametrize(
    ("address", "user", "password", "fine"),
    [
        ("127.0.0.1", "", "", True),
        ("::1", "", "", True),
        ("0.0.0.0", "", "", False),
        ("192.0.2.7", "ada", "", False),
        ("192.0.2.7", "", "secret", False),
        ("0.0.0.0", "ada", "50% secret", True),
    ],
)
def test_is_not_open_to_everybody(
    address: str, user: str, password: str, fine: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config({"bind_address": address})
    monkeypatch.setenv("PRICEWATCH_USER", user)
    monkeypatch.setenv("PRICEWATCH_PASSWORD", password)
    application.take_credentials(config)
    if fine:
        application.check_address(config)
        assert config.get("password", "") == password
    else:
        with pytest.raises(ConfigError, match="set PRICEWATCH_USER and PRICEWATCH_PASSWORD"):
            application.check_address(config)


def test_what_is_under_var_goes_where_pricewatch_writes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PRICEWATCH_VAR", str(tmp_path))
    config = Config({"logs_dir": "var/scrapyd/logs", "eggs_dir": "/elsewhere/eggs"})
    application.settle_directories(config)
    assert config.get("logs_dir") == str(tmp_path / "scrapyd" / "logs")
    assert config.get("eggs_dir") == "/elsewhere/eggs"


def test_a_place_for_logs_is_made_or_asked_for(tmp_path: Path) -> None:
    config = Config({"logs_dir": str(tmp_path / "not" / "yet" / "there")})
    application.make_logs_directory(config)
    assert (tmp_path / "not" / "yet" / "there").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"Logs cannot be kept in .*/file/logs \(Not a directory\)"):
        application.make_logs_directory(Config({"logs_dir": str(tmp_path / "file" / "logs")}))


def test_says_once_that_the_database_is_away() -> None:
    outage = Outage("Something")
    with capturedLogs() as told:
        for _ in range(5):
            outage.note(Failure(OSError("gone")))  # type: ignore[no-untyped-call]
        outage.over()
        outage.over()
    assert [event["log_level"].name for event in told] == ["warn", "info"]


def test_pages_of_other_sites_are_turned_away(daemon: Daemon) -> None:
    def status(path: str, body: bytes | None = None, **headers: str) -> int:
        request = urllib.request.Request(f"{daemon.url}{path}", body, headers)  # noqa: S310 - our own
        try:
            with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - our own
                assert response.headers.get("Access-Control-Allow-Origin") is None
                return int(response.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    order = b"project=test&spider=quick"
    assert status("/schedule.json", order, Origin="https://evil.example") == 403
    assert status("/schedule.json", order, Origin=daemon.url) == 200
    # A name that somebody pointed at this machine.
    assert status("/listjobs.json", Host="evil.example") == 403
    assert [status(path) for path in ("/", "/scrapyd/", "/jobs", "/scrapyd/jobs", "/logs/")] == [200] * 5
    assert status("/nowhere") == 404
