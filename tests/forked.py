"""Run `scrapy` commands in processes forked from one that has imported everything already."""

from __future__ import annotations

import multiprocessing
import multiprocessing.forkserver
import multiprocessing.resource_tracker
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import psutil  # type: ignore[import-untyped]

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["tests.preloaded"])


def start_fork_server() -> None:
    """Start it before the first test, so that it belongs to none."""
    multiprocessing.forkserver.ensure_running()


def stop_fork_server() -> None:
    multiprocessing.forkserver._forkserver._stop()  # type: ignore[attr-defined]
    multiprocessing.resource_tracker._resource_tracker._stop()  # type: ignore[attr-defined]


def forked_processes() -> list[psutil.Process]:
    """Return the forked processes that are still running."""
    server: Any = multiprocessing.forkserver._forkserver
    if server._forkserver_pid is None:
        return []
    children: list[psutil.Process] = psutil.Process(server._forkserver_pid).children()
    return children


class Outcome(NamedTuple):
    """The exit code and output of a command."""

    returncode: int
    stdout: str
    stderr: str


class Scrapy:
    """A running command; its output goes to files, so that no pipe can fill up."""

    def __init__(self, words: list[str], environment: dict[str, str], directory: Path) -> None:
        self._output = tempfile.TemporaryDirectory(prefix="pw")
        self._files = [Path(self._output.name) / name for name in ("stdout", "stderr")]
        self._process = _processes.Process(
            target=_run, args=(words, environment, str(directory), *map(str, self._files)), daemon=True
        )
        self._closed = False
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid
        return self._process.pid

    def is_running(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        """Send SIGKILL."""
        self._process.kill()

    def terminate(self) -> None:
        """Send SIGTERM, as scrapyd and systemd do."""
        self._process.terminate()

    def log(self) -> str:
        """Return the standard error output so far."""
        return self._written()[1]

    def end(self, seconds: float = 60) -> Outcome:
        """Wait until the command has ended."""
        self._process.join(seconds)
        assert self._process.exitcode is not None, f"still running after {seconds} s: {self._written()[1]}"
        outcome = Outcome(self._process.exitcode, *self._written())
        self._close()
        return outcome

    def abandon(self) -> None:
        """Kill the command if it is still running."""
        if not self._closed:
            self._process.kill()
            self._process.join()
            self._close()

    def _close(self) -> None:
        self._closed = True
        self._process.close()
        self._output.cleanup()

    def _written(self) -> list[str]:
        return [path.read_text() if path.exists() else "" for path in self._files]


def _run(words: list[str], environment: dict[str, str], directory: str, stdout: str, stderr: str) -> None:
    """Run in the new process: do what `python -m scrapy` does."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(directory)
    for path, stream in ((stdout, sys.stdout), (stderr, sys.stderr)):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(handle, stream.fileno())
        os.close(handle)
    from importlib import reload

    from scrapy.cmdline import execute

    from pricewatch import clock, settings

    # These read the environment when they are imported.
    for module in (clock, settings):
        reload(module)
    sys.argv = ["scrapy", *words]
    execute()
