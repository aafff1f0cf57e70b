"""Processes that use an embedded server, and the directory of the server."""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import psycopg2

from pricewatch.store.engine import embedded_postgres
from tests.conftest import ROOT

USE = """
import sys
from pathlib import Path
from pricewatch.store.engine.embedded_postgres import database_url
print(database_url(Path(sys.argv[1])), flush=True)
sys.stdin.read()
"""


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


def run_query(url: str, query: str = "SELECT 1") -> object:
    connection = psycopg2.connect(url)
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(query)
            return cursor.fetchone()[0] if cursor.description else None
    finally:
        connection.close()
