"""Start and stop the marketplace's server as a child process."""

import os
import subprocess
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Self


class BazaarError(Exception):
    """The marketplace did not start, or refused a request; the message says why."""


class ServerProcess:
    """A running server, and the addresses of the marketplace and its proxies."""

    def __init__(self, process: subprocess.Popen[str], urls: list[str]) -> None:
        self.pid = process.pid
        self.urls = urls
        self._process = process

    @classmethod
    def start(cls, flags: list[str], options: dict[str, object], **popen_options: Any) -> Self:
        """Start a server; options are those of the command line, with underscores."""
        command = [sys.executable, "-m", "pricewatch.bazaar", *flags]
        for name, value in options.items():
            flag = f"--{name.replace('_', '-')}"
            text = value.isoformat() if isinstance(value, datetime) else str(value)
            # True stands for an option without a value, such as `live=True`.
            command += [flag] if value is True else [flag, text]
        # stderr is inherited, so that error messages and tracebacks are visible.
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_environment(),
            **popen_options,
        )
        server = cls(process, [])
        server.urls = [_read_line(process.stdout) for _ in range(1 + int(str(options.get("proxies", 0))))]
        if not all(server.urls):
            server.stop()
            raise BazaarError(f"The marketplace did not start (exit status {process.returncode}).")
        return server

    def stop(self) -> None:
        """Terminate the process; kill it if it does not end within ten seconds."""
        self._process.terminate()
        self.detach()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def detach(self) -> None:
        """Close the pipes and leave the process running."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def raise_priority(self) -> None:
        """Raise the process priority where the system allows it."""
        with suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, self.pid, -10)


def _environment() -> dict[str, str]:
    """Return an environment in which this package can be imported from any directory."""
    root = str(Path(__file__).parents[2])
    paths = [root, os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _read_line(stream: IO[str] | None) -> str:
    return "" if stream is None else stream.readline().strip()
