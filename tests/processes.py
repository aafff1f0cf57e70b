"""Fail tests that leave processes behind: every process has the name of its test in its environment.

Browsers, previews and reader processes get few variables: they have no name, only the temporary directory of
the session. They belong to the process that started them, and to the test that runs if that has ended.

Processes started by fixtures of a module or the session belong to the session. A process that outlives its
test fails that test; one that outlives the session fails the session.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

from tests.forked import forked_processes

VARIABLE = "PRICEWATCH_TEST"
SESSION = f"session {os.getpid()}"
# Processes that were terminated may need a moment to end.
END_SECONDS = 10.0
# The temporary directory that only processes of this session have, while there is one.
session_tmpdir: Path | None = None


@contextmanager
def owned_by(owner: str) -> Iterator[None]:
    """Set the owner of the processes that are started in this context."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = owner
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before


@contextmanager
def for_the_session() -> Iterator[None]:
    """Let processes that are started in this context outlive the test."""
    with owned_by(SESSION):
        yield


class ProcessGuard:
    """A plugin that fails tests that leave a process behind."""

    _newest_before = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        os.environ[VARIABLE] = _owner(item)
        self._newest_before = _newest_process()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        with for_the_session():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, None, None]:
        try:
            yield
        finally:
            if left := left_by(_owner(item), forked_processes(), self._newest_before):
                pytest.fail(f"The test left these processes: {'; '.join(end(left))}", pytrace=False)


def _owner(item: pytest.Item) -> str:
    return f"test {os.getpid()} {item.nodeid}"


def check_session() -> None:
    if left := left_by(SESSION, []):
        pytest.fail(f"The session left these processes: {'; '.join(end(left))}", pytrace=False)


def left_by(owner: str, others: list[psutil.Process], newer_than: int = 0) -> list[psutil.Process]:
    """Return the processes of this owner, and the others, that do not end in time."""
    left = _alive(_owned(owner, newer_than) + others)
    deadline = time.monotonic() + END_SECONDS
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = _alive(left)
    return left


def end(processes: list[psutil.Process]) -> list[str]:
    """Kill processes and return their ids and command lines."""
    names = []
    for process in processes:
        with suppress(psutil.Error):
            names.append(f"{process.pid} {' '.join(process.cmdline())[:200]}")
            process.send_signal(signal.SIGKILL)
    return names


def _newest_process() -> int:
    """The number that the system gave last, to a process or thread; 0 if it does not tell."""
    try:
        return int(Path("/proc/loadavg").read_text().split()[-1])
    except OSError:
        return 0


def _owned(owner: str, newer_than: int = 0) -> list[psutil.Process]:
    found = []
    # Reading every environment would take longer than most tests. Numbers begin again at their end.
    started_again = _newest_process() < newer_than
    for number in psutil.pids():
        if number == os.getpid() or (number <= newer_than and not started_again):
            continue
        with suppress(psutil.Error, OSError):
            if Path("/proc").is_dir():
                is_owned = _is_owned(number, owner)
            else:
                is_owned = psutil.Process(number).environ().get(VARIABLE) == owner
            if is_owned:
                found.append(psutil.Process(number))
    return found


def _is_owned(number: int, owner: str) -> bool:
    environment = _environment(Path(f"/proc/{number}")).split(b"\0")
    if f"{VARIABLE}={owner}".encode() in environment:
        return True
    if any(entry.startswith(f"{VARIABLE}=".encode()) for entry in environment):
        return False
    if session_tmpdir is None or f"TMPDIR={session_tmpdir}".encode() not in environment:
        return False
    parent = psutil.Process(number).ppid()
    # What this process starts without a name ends with it.
    return _adopts_orphans(parent) or (parent != os.getpid() and _is_owned(parent, owner))


def _adopts_orphans(number: int) -> bool:
    """Return whether orphans can get this parent: the first process, or an ancestor of this process."""
    return number == 1 or number in {each.pid for each in psutil.Process().parents()}


def _environment(process: Path) -> bytes:
    """Read the environment of a process; retry, because it is empty for a moment after the start."""
    for _ in range(50):
        found = (process / "environ").read_bytes()
        if found:
            return found
        # Fails for processes of the kernel, whose environment is always empty.
        (process / "exe").readlink()
        time.sleep(0.01)
    return b""


def _alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    alive = []
    for process in processes:
        with suppress(psutil.Error):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                alive.append(process)
    return alive
