"""The embedded server: started by the first process, shared, and stopped after the last one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from pricewatch.errors import DatabaseUnavailable
from pricewatch.store.engine import embedded_postgres
from pricewatch.store.engine.private_files import private_directory
from tests.conftest import ROOT
from tests.databases import UNSAFE_SETTINGS
from tests.store.embedded_servers import ServerDirectory, User, run_query, wait_for_end

# Ten forked processes start at the same time, after the imports.
TEN_MIGRATIONS = """
import os, sys
import alembic.command, alembic.script, pricewatch.store.models
from pricewatch.store.engine.database import engine
from sqlalchemy import text
go, start = os.pipe()
children = []
for _ in range(10):
    if not (child := os.fork()):
        os.close(start)
        os.read(go, 1)
        with engine().connect() as connection:
            found = connection.execute(text("SELECT count(*) FROM markets")).scalar_one()
        os._exit(0 if found else 1)
    children.append(child)
os.close(start)
print([os.waitpid(child, 0)[1] for child in children])
"""


@pytest.fixture
def empty_place() -> Iterator[ServerDirectory]:
    place = ServerDirectory(Path(tempfile.mkdtemp(prefix="pw")))
    yield place
    place.clear()


@pytest.fixture(scope="module")
def initialised_data() -> Iterator[Path]:
    """The data directory of a server that was never started, to be copied by each test."""
    directory = private_directory(Path(tempfile.mkdtemp(prefix="pw")))
    embedded_postgres._initialise(directory)
    with (directory / "postgres" / "postgresql.conf").open("a") as configuration:
        configuration.write(UNSAFE_SETTINGS)
    yield directory / "postgres"
    shutil.rmtree(directory)


@pytest.fixture
def place(empty_place: ServerDirectory, initialised_data: Path) -> ServerDirectory:
    subprocess.run(["cp", "-a", initialised_data, empty_place.directory], check=True)
    return empty_place


def test_the_server_is_shared_and_survives_the_process_that_started_it(place: ServerDirectory) -> None:
    starter, other = place.user(), place.user()
    url = starter.url()
    assert other.url() == url
    server = place.server()
    starter.kill()
    assert run_query(url) == 1
    assert place.server() == server


@pytest.mark.parametrize("end", [User.leave, User.kill])
def test_the_server_stops_after_the_last_user_and_restarts_with_its_data(place: ServerDirectory, end) -> None:
    first, last = place.user(), place.user()
    run_query(first.url(), "CREATE TABLE kept AS SELECT 7 AS n")
    last.url()
    server = place.server()
    assert server is not None
    end(first)
    assert server.is_running()
    end(last)
    place.wait_for_stop()
    assert place.server() is None
    wait_for_end(server)
    assert run_query(place.user().url(), "SELECT n FROM kept") == 7


def test_a_killed_supervisor_is_replaced_by_the_next_user(place: ServerDirectory) -> None:
    place.user().url()
    arguments = ["pricewatch.store.engine.embedded_postgres", str(place.directory)]
    supervisor = next(
        process
        for process in psutil.process_iter(["cmdline"])
        if (process.info["cmdline"] or [])[-2:] == arguments
    )
    supervisor.kill()
    wait_for_end(supervisor)
    place.user().url()
    for user in place.users:
        user.kill()
    place.wait_for_stop()
    assert place.server() is None


def test_a_killed_server_is_restarted(place: ServerDirectory) -> None:
    run_query(place.user().url(), "SET synchronous_commit = on; CREATE TABLE kept AS SELECT 7 AS n")
    server = place.server()
    assert server is not None
    server.kill()
    wait_for_end(server)
    assert run_query(place.user().url(), "SELECT n FROM kept") == 7


def test_an_interrupted_initialisation_is_repeated(empty_place: ServerDirectory) -> None:
    interrupted = empty_place.user()
    while not list(empty_place.directory.glob(f"{embedded_postgres.UNFINISHED}*/global")):
        assert interrupted.process.poll() is None
    interrupted.kill()
    assert not (empty_place.directory / "postgres").exists()
    assert run_query(empty_place.user().url(), "SHOW max_connections") == "300"


def test_a_link_to_a_directory_of_others_is_removed_and_the_directory_is_not(
    empty_place: ServerDirectory, tmp_path: Path
) -> None:
    """Somebody who may write to var/ must not choose what is deleted."""
    # Otherwise it is not empty, so it is not pricewatch's own, and the server keeps its data elsewhere.
    private_directory(empty_place.directory)
    foreign = tmp_path / "data.foreign"
    foreign.mkdir()
    (foreign / "letter.txt").touch()
    link = empty_place.directory / f"{embedded_postgres.UNFINISHED}x"
    link.symlink_to(foreign)
    unfinished = empty_place.directory / f"{embedded_postgres.UNFINISHED}y"
    unfinished.mkdir()
    assert run_query(empty_place.user().url()) == 1
    assert [path.name for path in foreign.iterdir()] == ["letter.txt"]
    assert not link.is_symlink()
    assert not unfinished.exists()


def test_the_pid_of_a_dead_server_may_belong_to_another_process(place: ServerDirectory) -> None:
    place.user().url()
    place.users[0].leave()
    place.wait_for_stop()
    data = place.directory / "postgres"
    (data / "postmaster.pid").write_text(f"{os.getpid()}\n{data}\n1700000000\n5432\n{data}\n\n  1 2\nready\n")
    assert run_query(place.user().url()) == 1


def test_ten_processes_start_and_migrate_an_empty_directory_at_once(empty_place: ServerDirectory) -> None:
    environment = {**os.environ, "PRICEWATCH_VAR": str(empty_place.directory)}
    environment.pop("DATABASE_URL", None)
    outcome = subprocess.run(
        [sys.executable, "-c", TEN_MIGRATIONS], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert (outcome.stdout, outcome.stderr) == (f"{[0] * 10}\n", "")


def test_an_impossible_directory_is_reported_with_a_solution(empty_place: ServerDirectory) -> None:
    (empty_place.directory / "file").touch()
    with pytest.raises(DatabaseUnavailable, match=r"Not a directory.*set PRICEWATCH_VAR"):
        embedded_postgres.database_url(empty_place.directory / "file" / "var")


def test_the_error_of_a_server_that_does_not_start_names_its_log(
    place: ServerDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.directory / "postgres" / "postgresql.conf").write_text("no such setting\n")
    monkeypatch.setattr(embedded_postgres, "START_TIMEOUT", 0.0)
    with pytest.raises(DatabaseUnavailable, match=r"does not start.*see its log .*postgres/log"):
        embedded_postgres.database_url(place.directory)
    embedded_postgres._user_locks.pop(place.directory.resolve()).close()
