"""Real daemons in separate processes, on free ports, for tests that use them over HTTP."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from configparser import ConfigParser
from pathlib import Path
from typing import Any

from tests.conftest import ROOT
from tests.ports import free_port
from tests.waiting import until

# The defaults, only faster.
FAST_SETTINGS = {
    "lease_seconds": "4",
    "beat_seconds": "0.3",
    "poll_interval": "0.2",
    "kill_after": "2",
    "stop_after": "2",
    "max_proc": "2",
    "dispatch_seconds": "0",
}
FAKE_SPIDERS = {"runner": "tests.scheduling.fake_runner"}
START_SECONDS = 60


class Daemon:
    """One daemon; `url` is its address."""

    def __init__(self, directory: Path, name: str, environment: dict[str, str], **options: str) -> None:
        self.name = name
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.directory = directory
        self.log = directory / f"{name}.log"
        self.environment = {
            **os.environ,
            **environment,
            "PYTHONPATH": str(ROOT),
            "PRICEWATCH_NODE": name,
            "SCRAPYD_HTTP_PORT": str(self.port),
        }
        write_configuration(directory, options)
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "scrapyd", "--pidfile="],
                cwd=self.directory,
                env=self.environment,
                stdout=log,
                stderr=log,
            )

    def wait(self) -> Daemon:
        """Wait until it answers and has joined the cluster."""

        def joined() -> bool:
            assert self.process.poll() is None, self.log.read_text()
            try:
                nodes = self.get("daemonstatus.json")["nodes"]
            except OSError:
                return False
            return any(node["name"] == self.name and not node["stopped"] for node in nodes)

        until(joined, START_SECONDS)
        return self

    def get(self, path: str, **query: Any) -> Any:
        return self._request(f"{self.url}/{path}?{urllib.parse.urlencode(query)}")

    def post(self, path: str, **fields: Any) -> Any:
        return self._request(f"{self.url}/{path}", urllib.parse.urlencode(fields).encode())

    def schedule(self, spider: str, **fields: Any) -> str:
        answer = self.post("schedule.json", project="test", spider=spider, **fields)
        assert answer["status"] == "ok", answer
        return str(answer["jobid"])

    def states(self) -> dict[str, str]:
        """The state of every job."""
        jobs = self.get("listjobs.json", limit=10000)
        return {
            job["id"]: job.get("state", "pending")
            for part in ("pending", "running", "finished")
            for job in jobs[part]
        }

    def job(self, job_id: str) -> dict[str, Any]:
        jobs = self.get("listjobs.json", limit=10000)
        (only,) = [
            job for part in ("pending", "running", "finished") for job in jobs[part] if job["id"] == job_id
        ]
        return dict(only)

    def kill(self) -> None:
        """Send SIGKILL, as `kill -9` does."""
        self.process.kill()
        self.process.wait()

    def terminate(self) -> None:
        """Send SIGTERM, as systemd does."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == -signal.SIGTERM

    def abandon(self) -> None:
        """Stop the daemon if it still runs."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()

    def _request(self, url: str, body: bytes | None = None) -> Any:
        with urllib.request.urlopen(url, body, timeout=60) as response:  # noqa: S310 - the test's daemon
            return json.loads(response.read())


def write_configuration(directory: Path, options: dict[str, str]) -> None:
    """Write the project's scrapyd.conf with the options of a test."""
    configuration = ConfigParser(interpolation=None)
    configuration.read(ROOT / "scrapyd.conf")
    for name, value in {**FAST_SETTINGS, **options}.items():
        configuration["scrapyd"][name] = value
    if options.get("runner"):
        configuration["settings"] = {"test": "nothing"}
    with (directory / "scrapyd.conf").open("w") as file:
        configuration.write(file)


def clone_project(directory: Path, daemon: Daemon) -> Path:
    """Copy the project as a clone of the repository has it, configured to deploy to this daemon."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "pricewatch", "setup.py", "scrapy.cfg"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.splitlines():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, directory / name)
    configuration = (directory / "scrapy.cfg").read_text()
    (directory / "scrapy.cfg").write_text(configuration.replace("http://127.0.0.1:6800", daemon.url))
    return directory
