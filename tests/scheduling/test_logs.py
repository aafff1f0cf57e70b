"""Logs are bounded in size, for the user of the daemon only, and without secrets."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from twisted.logger import FileLogObserver, Logger

from pricewatch.redaction import Redactor
from pricewatch.scheduling import daemon_log, runner
from tests.conftest import ROOT
from tests.scheduling.conftest import Cluster
from tests.scheduling.daemons import Daemon
from tests.waiting import until

LIMIT = 100_000
# Logs much, one long message, text that cannot be encoded, and a secret.
SPIDER = """
import os
import scrapy

class Noisy(scrapy.Spider):
    name = "noisy"

    async def start(self):
        self.logger.warning("secret: %s", os.environ["DATABASE_URL"])
        self.logger.warning("surrogate: %s", chr(0xd800))
        self.logger.warning("long: " + 1_000_000 * "x")
        for number in range(1000):
            self.logger.warning("line %s %s", number, 1000 * "y")
        return
        yield
"""


@pytest.fixture(scope="module")
def job_log(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The log of a job that logs much more than it may."""
    directory = tmp_path_factory.mktemp("job")
    (directory / "noisy.py").write_text(SPIDER)
    for _ in range(2):
        # A job that is started again continues its log.
        subprocess.run(
            [sys.executable, "-P", runner.__file__, "runspider", "noisy.py", "-s", "LOG_FILE=job.log"],
            cwd=directory,
            env={
                **os.environ,
                runner.LOG_BYTES: str(LIMIT),
                "PYTHONPATH": str(ROOT),
                "DATABASE_URL": "postgresql://ada:marker-of-a-secret@db/x",
            },
            check=True,
        )
    return (directory / "job.log").read_text()


def test_the_log_of_a_job_stops_at_its_limit(job_log: str) -> None:
    assert LIMIT <= len(job_log.encode()) < LIMIT + 5000
    assert "line 1 " in job_log
    assert "line 999 " not in job_log
    assert "reached its limit of 100000 bytes" in job_log
    assert job_log.splitlines()[-1].endswith(" messages were left out.")


def test_one_message_is_cut(job_log: str) -> None:
    (line,) = [line for line in job_log.splitlines() if "long: " in line]
    assert len(line) < 11_000
    assert "more characters)" in line
    assert "surrogate: \\ud800" in job_log


def test_secrets_are_hidden_in_the_log_of_a_job(job_log: str) -> None:
    assert "marker-of-a-secret" not in job_log
    assert "secret: postgresql://[hidden]@db/x" in job_log


def test_what_a_job_prints_is_bounded(daemon: Daemon) -> None:
    before = daemon.log.stat().st_size
    job = daemon.schedule("noisy")
    until(lambda: daemon.states().get(job) == "failed")
    assert len(daemon.job(job)["reason"]) == 500
    assert daemon.log.stat().st_size - before < 400_000
    assert "of output; the rest is left out" in daemon.log.read_text()


def is_open_to_others(path: Path) -> bool:
    """The daemon still runs, and may delete a file meanwhile."""
    with suppress(FileNotFoundError):
        return bool(path.stat().st_mode & 0o077)
    return False


def test_files_of_the_daemon_and_its_jobs_are_private(daemon: Daemon, one_daemon: Cluster) -> None:
    job = daemon.schedule("quick", n="files")
    until(lambda: daemon.states().get(job) == "finished")
    var = daemon.directory / "var"
    opened = [path for path in (var, *var.rglob("*")) if is_open_to_others(path)]
    assert (var / "scrapyd/logs/test/quick").is_dir()
    assert opened == []
    (mark,) = one_daemon.marks.directory.glob(f"{job}.*.done")
    assert stat.S_IMODE(mark.stat().st_mode) == 0o600


def test_a_log_file_of_the_daemon_is_rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon_log, "FILE_BYTES", 10_000)
    monkeypatch.setattr(daemon_log, "_redactor", Redactor(["marker-of-a-secret"]))
    with closing(daemon_log.log_file(tmp_path / "daemon.log")) as output:
        observer: Any = FileLogObserver(output, daemon_log.format_event)
        log = Logger(observer=observer)
        for number in range(1000):
            log.info("line {number}: {text}", number=number, text="marker-of-a-secret" * 10)
        log.info(100_000 * "x")
    files = list(tmp_path.glob("daemon.log*"))
    assert len(files) == 1 + daemon_log.OLD_FILES
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)
    assert sum(path.stat().st_size for path in files) < 60_000
    assert not any("marker-of-a-secret" in path.read_text() for path in files)
