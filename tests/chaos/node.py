"""One daemon of the cluster: started, killed and started again; never outlives who started it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.parse
import urllib.request
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

import pricewatch

ROOT = Path(pricewatch.__file__).parents[1]
# As in real life, only faster.
HASTE = {
    "lease_seconds": "4",
    "beat_seconds": "0.5",
    "poll_interval": "0.3",
    "kill_after": "5",
    "stop_after": "5",
    "max_proc": "2",
    "dispatch_seconds": "5",
}
ASK_SECONDS = 10


class Node:
    def __init__(self, directory: Path, name: str) -> None:
        self.name = name
        self.directory = directory / name
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.directory.mkdir(parents=True)
        write_configuration(self.directory)

    @property
    def is_up(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        environment = {
            **os.environ,
            "PRICEWATCH_NODE": self.name,
            "SCRAPYD_HTTP_PORT": str(self.port),
            "PYTHONPATH": str(ROOT),
        }
        with (self.directory / "daemon.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.chaos.node", str(os.getpid())],
                cwd=self.directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> None:
        """As `kill -9` does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def terminate(self) -> None:
        if self.is_up and self.process is not None:
            self.process.send_signal(signal.SIGTERM)

    def spiders(self) -> list[psutil.Process]:
        """The processes of its jobs."""
        if not self.is_up or self.process is None:
            return []
        try:
            children = psutil.Process(self.process.pid).children()
            return [child for child in children if "crawl" in child.cmdline()]
        except psutil.Error:
            return []

    def ask(self, path: str, **fields: str) -> Any:
        """What the daemon answers; fields make it an order."""
        body = urllib.parse.urlencode(fields).encode() if fields else None
        url = f"http://127.0.0.1:{self.port}/{path}"
        with urllib.request.urlopen(url, body, timeout=ASK_SECONDS) as response:
            return json.loads(response.read())


def write_configuration(directory: Path) -> None:
    """The configuration that people get, in haste and with the settings of this simulation."""
    configuration = ConfigParser(interpolation=None)
    configuration.read(ROOT / "scrapyd.conf")
    configuration["scrapyd"].update(HASTE)
    configuration["settings"] = {"pricewatch": "tests.chaos.settings"}
    with (directory / "scrapyd.conf").open("w") as file:
        configuration.write(file)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    """Be a daemon, until the process whose number is given ends."""
    from pricewatch.scheduling.runner import end_with

    end_with(sys.argv[1])
    sys.argv[1:] = ["--pidfile="]
    from scrapyd.__main__ import main as scrapyd

    scrapyd()


if __name__ == "__main__":
    main()
