"""Which test started which process: every process carries the name of its test in its environment.

What a fixture of a module or the session starts belongs to the session. A process that outlives the test it
belongs to fails that test; one that outlives the session fails the session.
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
# Processes that were told to end may need a moment.
END_SECONDS = 10.0


@contextmanager
def owned_by(owner: str) -> Iterator[None]:
    """What is started from now on belongs to this owner."""
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
    """What is started from now on may outlive the test."""
    with owned_by(SESSION):
        yield


class ProcessGuard:
    """Fails the test that left a process."""

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


def left_by(owner: str, also: list[psutil.Process]) -> list[psutil.Process]:
    """The processes of this owner, and those others, that do not end by themselves."""
    left = _alive(_of(owner) + also)
    deadline = time.monotonic() + END_SECONDS
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = _alive(left)
    return left


def end(processes: list[psutil.Process]) -> list[str]:
    """Kill them; returns what they were."""
    names = []
    for process in processes:
        with suppress(psutil.Error):
            names.append(f"{process.pid} {' '.join(process.cmdline())[:200]}")
            process.send_signal(signal.SIGKILL)
    return names


def _of(owner: str) -> list[psutil.Process]:
    wanted = f"{VARIABLE}={owner}".encode()
    found = []
    for number in psutil.pids():
        if number == os.getpid():
            continue
        with suppress(psutil.Error, OSError):
            if Path("/proc").is_dir():
                is_owned = wanted in _environment(Path(f"/proc/{number}")).split(b"\0")
            else:
                is_owned = psutil.Process(number).environ().get(VARIABLE) == owner
            if is_owned:
                found.append(psutil.Process(number))
    return found


def _environment(process: Path) -> bytes:
    """That of a process which just begins is empty for a moment, and that of the kernel's own always."""
    for _ in range(50):
        found = (process / "environ").read_bytes()
        if found:
            return found
        # Fails for the kernel's own.
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
