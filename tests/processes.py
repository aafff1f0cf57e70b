"""Fail tests that leave processes behind: every process has the name of its test in its environment.

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

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        os.environ[VARIABLE] = _owner(item)

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
            if left := left_by(_owner(item), forked_processes()):
                pytest.fail(f"The test left these processes: {'; '.join(end(left))}", pytrace=False)


def _owner(item: pytest.Item) -> str:
    return f"test {os.getpid()} {item.nodeid}"


def check_session() -> None:
    if left := left_by(SESSION, []):
        pytest.fail(f"The session left these processes: {'; '.join(end(left))}", pytrace=False)


def left_by(owner: str, others: list[psutil.Process]) -> list[psutil.Process]:
    """Return the processes of this owner, and the others, that do not end in time."""
    left = _alive(_owned(owner) + others)
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


def _owned(owner: str) -> list[psutil.Process]:
    entry = f"{VARIABLE}={owner}".encode()
    found = []
    for number in psutil.pids():
        if number == os.getpid():
            continue
        with suppress(psutil.Error, OSError):
            if Path("/proc").is_dir():
                is_owned = entry in _environment(Path(f"/proc/{number}")).split(b"\0")
            else:
                is_owned = psutil.Process(number).environ().get(VARIABLE) == owner
            if is_owned:
                found.append(psutil.Process(number))
    return found


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
