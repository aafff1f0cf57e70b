"""Jobs over HTTP, compared with stock scrapyd: `python -m tests.bench scheduling`.

Both daemons have 100,000 finished jobs, stock scrapyd in its SQLite storage. Every page must respond within
200 ms. Queuing a job commits to a database that all machines share, which may take up to twice as long as a
row in a local file.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import text

from pricewatch.store.engine import database
from tests.bench.metric import Metric
from tests.bench.progress import show_progress
from tests.bench.temporary_database import temporary_database
from tests.conftest import ROOT
from tests.ports import free_port
from tests.scheduling.daemons import write_configuration
from tests.waiting import until

FINISHED, QUEUED = 100_000, 1_000
ROUNDS, STOCK_ROUNDS = 15, 2
MAX_MS = 200.0
BEGAN = "2026-01-01 00:00:00.000000"

_FILL = text("""
INSERT INTO jobs (project, spider, job_id, work, state, added_at, started_at, ended_at, exit_code, node)
SELECT 'test', 'quick', 'old' || n, 'quick ' || n, CASE n % 10 WHEN 0 THEN 'failed' ELSE 'finished' END,
       now() - n * interval '1 s', now() - n * interval '1 s', now() - n * interval '1 s', n % 10 / 9, 'bench'
FROM generate_series(1, :count) AS n
""")


class BenchDaemon:
    """A daemon without slots, so that queued jobs stay queued."""

    def __init__(self, directory: Path, environment: dict[str, str]) -> None:
        self.port = free_port()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "scrapyd", "--pidfile=", "--logfile", "daemon.log"],
            cwd=directory,
            env={**os.environ, **environment, "PYTHONPATH": str(ROOT), "SCRAPYD_HTTP_PORT": str(self.port)},
        )
        until(self._is_up, 60)

    def _is_up(self) -> bool:
        try:
            self.request("daemonstatus.json")
        except OSError:
            return False
        return True

    def request(self, path: str, **fields: Any) -> Any:
        body = urllib.parse.urlencode(fields).encode() if fields else None
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}", body, timeout=120) as response:
            content = response.read()
        return json.loads(content) if path.partition("?")[0].endswith(".json") else content

    def queue(self) -> float:
        """Queue jobs and return the milliseconds per job."""
        began = time.perf_counter()
        for number in range(QUEUED):
            response = self.request("schedule.json", project="test", spider="quick", n=number)
            if response["status"] != "ok":
                raise SystemExit(f"a job was refused: {response}")
        return 1000 * (time.perf_counter() - began) / QUEUED

    def response_time(self, path: str, rounds: int) -> float:
        """Return the median milliseconds of a page."""
        times = []
        for _ in range(rounds):
            began = time.perf_counter()
            self.request(path)
            times.append(1000 * (time.perf_counter() - began))
        return median(times)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)


def measure(daemon: BenchDaemon, rounds: int) -> dict[str, float]:
    try:
        return {
            "queue": daemon.queue(),
            "listjobs": daemon.response_time("listjobs.json", rounds),
            "daemonstatus": daemon.response_time("daemonstatus.json", rounds),
            "jobs page": daemon.response_time("jobs", rounds),
            "listjobs of one project": daemon.response_time("listjobs.json?project=test", rounds),
        }
    finally:
        daemon.stop()


def measure_pricewatch(directory: Path) -> dict[str, float]:
    write_configuration(
        directory,
        {
            "runner": "tests.scheduling.fake_runner",
            "max_proc": "0",
            "max_proc_per_cpu": "0",
            "beat_seconds": "2",
        },
    )
    with database.engine().begin() as connection:
        connection.execute(_FILL, {"count": FINISHED})
    with database.engine().connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE jobs"))
    return measure(BenchDaemon(directory, {"MARKS": str(directory)}), ROUNDS)


def measure_stock_scrapyd(directory: Path) -> dict[str, float]:
    """Measure scrapyd with its SQLite storage, which keeps all jobs."""
    (directory / "scrapyd.conf").write_text(
        "[scrapyd]\njobstorage = scrapyd.jobstorage.SqliteJobStorage\n"
        f"finished_to_keep = {FINISHED}\nrunner = tests.scheduling.fake_runner\n"
        "max_proc = 0\nmax_proc_per_cpu = 0\n[settings]\ntest = nothing\n"
    )
    (directory / "dbs").mkdir()
    with sqlite3.connect(directory / "dbs" / "jobs.db") as connection:
        connection.execute(
            "CREATE TABLE finished_jobs (id integer PRIMARY KEY, project text, spider text, job text,"
            " start_time datetime, end_time datetime)"
        )
        connection.executemany(
            "INSERT INTO finished_jobs (project, spider, job, start_time, end_time) VALUES (?, ?, ?, ?, ?)",
            (("test", "quick", f"old{number}", BEGAN, BEGAN) for number in range(FINISHED)),
        )
    connection.close()
    return measure(BenchDaemon(directory, {"MARKS": str(directory)}), STOCK_ROUNDS)


def run() -> list[Metric]:
    with temporary_database() as directory, TemporaryDirectory(prefix="pw") as stock_directory:
        show_progress(f"pricewatch, with {FINISHED:,} finished jobs")
        pricewatch = measure_pricewatch(directory)
        show_progress(f"stock scrapyd, with {FINISHED:,} finished jobs")
        stock = measure_stock_scrapyd(Path(stock_directory))
    metrics = [
        Metric(
            name="queue a job over HTTP",
            value=pricewatch["queue"],
            unit="ms",
            baseline=stock["queue"],
            ratio=pricewatch["queue"] / stock["queue"],
            limit=2.0,
            less_is_better=True,
            note=f"{QUEUED} jobs, with {FINISHED:,} finished; compared with stock scrapyd with SQLite",
        )
    ]
    metrics += [
        Metric(
            name=f"response time: {page}",
            value=pricewatch[page],
            unit="ms",
            baseline=MAX_MS,
            ratio=pricewatch[page] / MAX_MS,
            limit=1.0,
            less_is_better=True,
            note=f"{QUEUED} queued, {FINISHED:,} finished; stock scrapyd takes {stock[page]:,.0f} ms",
        )
        for page in ("listjobs", "listjobs of one project", "daemonstatus", "jobs page")
    ]
    return metrics
