"""Each component as scrapyd uses it, and what the daemon refuses."""

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

from pricewatch.scheduling import application
from pricewatch.scheduling.egg_storage import PostgresEggStorage
from pricewatch.scheduling.job_storage import PostgresJobStorage
from pricewatch.scheduling.outage import Outage
from pricewatch.scheduling.poller import ClusterPoller
from pricewatch.scheduling.spider_queue import PostgresSpiderQueue
from tests.conftest import ROOT
from tests.databases import Database
from tests.scheduling.daemons import Daemon


@pytest.mark.parametrize(
    ("component", "interface"),
    [
        (PostgresSpiderQueue, ISpiderQueue),
        (PostgresJobStorage, IJobStorage),
        (PostgresEggStorage, IEggStorage),
        (ClusterPoller, IPoller),
    ],
)
def test_components_implement_scrapyds_interfaces(component: type, interface: Any, config: Config) -> None:
    assert verifyClass(interface, component)
    instance = component(config, "test") if component is PostgresSpiderQueue else component(config)
    assert verifyObject(interface, instance)


def test_every_service_of_scrapyd_is_configured() -> None:
    default, project = Config(values=None, extra_sources=()), ConfigParser(interpolation=None)
    project.read(ROOT / "scrapyd.conf")
    assert {name for name, _ in default.items("services")} == set(project["services"])


def test_the_queue_adds_lists_removes_and_pops(config: Config) -> None:
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
    message = queue.pop()
    assert message is not None
    assert message["_job"] == "a"
    assert queue.pop() is None
    queue.add("more", 0.0, _job="d")
    queue.clear()
    assert queue.count() == 0


def test_eggs_are_stored_listed_and_deleted(config: Config, database: Database, tmp_path: Path) -> None:
    storage = PostgresEggStorage(config)
    for version in ("2.0", "10.0", "1.0"):
        storage.put(io.BytesIO(version.encode()), "p", version)
    # The newest version is the one deployed last, whatever its name.
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
    ("address", "user", "password", "accepted"),
    [
        ("127.0.0.1", "", "", True),
        ("::1", "", "", True),
        ("0.0.0.0", "", "", False),
        ("192.0.2.7", "ada", "", False),
        ("192.0.2.7", "", "secret", False),
        ("0.0.0.0", "ada", "50% secret", True),
    ],
)
def test_a_public_address_needs_a_login(
    address: str, user: str, password: str, accepted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config({"bind_address": address})
    monkeypatch.setenv("PRICEWATCH_USER", user)
    monkeypatch.setenv("PRICEWATCH_PASSWORD", password)
    application.load_credentials(config)
    if accepted:
        application.check_address(config)
        assert config.get("password", "") == password
    else:
        with pytest.raises(ConfigError, match="set PRICEWATCH_USER and PRICEWATCH_PASSWORD"):
            application.check_address(config)


def test_directories_below_var_move_to_pricewatch_var(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PRICEWATCH_VAR", str(tmp_path))
    config = Config({"logs_dir": "var/scrapyd/logs", "eggs_dir": "/elsewhere/eggs"})
    application.resolve_directories(config)
    assert config.get("logs_dir") == str(tmp_path / "scrapyd" / "logs")
    assert config.get("eggs_dir") == "/elsewhere/eggs"


def test_the_log_directory_is_created_or_refused_with_a_reason(tmp_path: Path) -> None:
    config = Config({"logs_dir": str(tmp_path / "not" / "yet" / "there")})
    application.prepare_directories(config)
    assert (tmp_path / "not" / "yet" / "there").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"Cannot write logs to .*/file/logs \(Not a directory\)"):
        application.prepare_directories(Config({"logs_dir": str(tmp_path / "file" / "logs")}))


def test_an_outage_is_logged_once_when_it_begins_and_ends() -> None:
    outage = Outage("Something")
    with capturedLogs() as events:
        for _ in range(5):
            outage.record_failure(Failure(OSError("gone")))  # type: ignore[no-untyped-call]
        outage.record_success()
        outage.record_success()
    assert [event["log_level"].name for event in events] == ["warn", "info"]


def test_requests_from_pages_of_other_sites_are_refused(daemon: Daemon) -> None:
    def status(path: str, body: bytes | None = None, **headers: str) -> int:
        request = urllib.request.Request(f"{daemon.url}{path}", body, headers)  # noqa: S310 - the test's daemon
        try:
            with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - the test's daemon
                assert response.headers.get("Access-Control-Allow-Origin") is None
                return int(response.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    body = b"project=test&spider=quick"
    assert status("/schedule.json", body, Origin="https://evil.example") == 403
    assert status("/schedule.json", body, **{"Sec-Fetch-Site": "cross-site"}) == 403
    # A form of a page of this site needs the token of that page.
    assert status("/schedule.json", body, Origin=daemon.url) == 403
    assert status("/schedule.json", body) == 200
    # DNS rebinding: a foreign name that resolves to this machine.
    assert status("/listjobs.json", Host="evil.example") == 403
    assert [status(path) for path in ("/", "/scrapyd/", "/jobs", "/scrapyd/jobs", "/logs/")] == [200] * 5
    assert status("/nowhere") == 404
