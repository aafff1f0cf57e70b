"""One daemon of the cluster, which can be killed and restarted; it ends with its parent process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.parse
import urllib.request
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from tests.ports import free_port

ROOT = Path(__file__).parents[2]
# Shorter intervals than in production.
FAST_OPTIONS = {
    "lease_seconds": "4",
    "beat_seconds": "0.5",
    "poll_interval": "0.3",
    "kill_after": "5",
    "stop_after": "5",
    "max_proc": "2",
    "dispatch_seconds": "5",
}
REQUEST_SECONDS = 10


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
        """Kill the process with SIGKILL."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def terminate(self) -> None:
        if self.is_up and self.process is not None:
            self.process.send_signal(signal.SIGTERM)

    def spiders(self) -> list[psutil.Process]:
        """Return the processes of its jobs."""
        if not self.is_up or self.process is None:
            return []
        try:
            children = psutil.Process(self.process.pid).children()
            return [child for child in children if "crawl" in child.cmdline()]
        except psutil.Error:
            return []

    def request(self, path: str, **fields: str) -> Any:
        """Return the daemon's JSON response; a request with fields is a POST."""
        body = urllib.parse.urlencode(fields).encode() if fields else None
        url = f"http://127.0.0.1:{self.port}/{path}"
        with urllib.request.urlopen(url, body, timeout=REQUEST_SECONDS) as response:
            return json.loads(response.read())


def write_configuration(directory: Path) -> None:
    """Write the project's scrapyd.conf with short intervals and the settings of the chaos run."""
    configuration = ConfigParser(interpolation=None)
    configuration.read(ROOT / "scrapyd.conf")
    configuration["scrapyd"].update(FAST_OPTIONS)
    configuration["settings"] = {"pricewatch": "tests.chaos.settings"}
    with (directory / "scrapyd.conf").open("w") as file:
        configuration.write(file)


def main() -> None:
    """Run scrapyd until the process whose id is the first argument ends."""
    from pricewatch.scheduling.runner import terminate_with_daemon

    terminate_with_daemon(sys.argv[1])
    sys.argv[1:] = ["--pidfile="]
    from scrapyd.__main__ import main as scrapyd

    scrapyd()


if __name__ == "__main__":
    main()
