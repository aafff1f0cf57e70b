"""Scheduling over HTTP with 100,000 finished jobs, beside stock scrapyd: `python -m tests.bench scheduling`.

Both daemons are real, and both keep 100,000 finished jobs, stock scrapyd in its SQLite storage.
Every page must answer within 200 ms. A job is queued by a commit in a database that other machines see, which
takes longer than a row in a local file; it may, but not beyond measure.
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
from tests.bench.figure import Figure
from tests.bench.progress import say
from tests.bench.workplace import workplace
from tests.conftest import ROOT
from tests.ports import free_port
from tests.scheduling.daemons import write_configuration
from tests.waiting import until

FINISHED, QUEUED = 100_000, 1_000
ROUNDS, STOCK_ROUNDS = 15, 2
MOST_MS = 200.0
BEGAN = "2026-01-01 00:00:00.000000"

_FILL = text("""
INSERT INTO jobs (project, spider, job_id, work, state, added_at, started_at, ended_at, exit_code, node)
SELECT 'test', 'quick', 'old' || n, 'quick ' || n, CASE n % 10 WHEN 0 THEN 'failed' ELSE 'finished' END,
       now() - n * interval '1 s', now() - n * interval '1 s', now() - n * interval '1 s', n % 10 / 9, 'bench'
FROM generate_series(1, :count) AS n
""")


class Bench:
    """A daemon with no slots: what is queued stays queued, so that it can be listed."""

    def __init__(self, directory: Path, environment: dict[str, str]) -> None:
        self.port = free_port()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "scrapyd", "--pidfile=", "--logfile", "daemon.log"],
            cwd=directory,
            env={**os.environ, **environment, "PYTHONPATH": str(ROOT), "SCRAPYD_HTTP_PORT": str(self.port)},
        )
        until(self._answers, 60)

    def _answers(self) -> bool:
        try:
            self.ask("daemonstatus.json")
        except OSError:
            return False
        return True

    def ask(self, path: str, **fields: Any) -> Any:
        body = urllib.parse.urlencode(fields).encode() if fields else None
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}", body, timeout=120) as response:
            content = response.read()
        return json.loads(content) if path.partition("?")[0].endswith(".json") else content

    def queue(self) -> float:
        """Milliseconds for each job that is queued."""
        began = time.perf_counter()
        for number in range(QUEUED):
            answer = self.ask("schedule.json", project="test", spider="quick", n=number)
            if answer["status"] != "ok":
                raise SystemExit(f"a job was refused: {answer}")
        return 1000 * (time.perf_counter() - began) / QUEUED

    def answer(self, path: str, rounds: int) -> float:
        """Median milliseconds until a page is there."""
        times = []
        for _ in range(rounds):
            began = time.perf_counter()
            self.ask(path)
            times.append(1000 * (time.perf_counter() - began))
        return median(times)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)


def measure(bench: Bench, rounds: int) -> dict[str, float]:
    try:
        return {
            "queue": bench.queue(),
            "listjobs": bench.answer("listjobs.json", rounds),
            "daemonstatus": bench.answer("daemonstatus.json", rounds),
            "jobs page": bench.answer("jobs", rounds),
            "listjobs of one project": bench.answer("listjobs.json?project=test", rounds),
        }
    finally:
        bench.stop()


def ours(directory: Path) -> dict[str, float]:
    write_configuration(
        directory,
        {
            "runner": "tests.scheduling.cheap_runner",
            "max_proc": "0",
            "max_proc_per_cpu": "0",
            "beat_seconds": "2",
        },
    )
    with database.engine().begin() as connection:
        connection.execute(_FILL, {"count": FINISHED})
    with database.engine().connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE jobs"))
    return measure(Bench(directory, {"MARKS": str(directory)}), ROUNDS)


def stock(directory: Path) -> dict[str, float]:
    """scrapyd as it comes, with its own SQLite storage and all jobs kept."""
    (directory / "scrapyd.conf").write_text(
        "[scrapyd]\njobstorage = scrapyd.jobstorage.SqliteJobStorage\n"
        f"finished_to_keep = {FINISHED}\nrunner = tests.scheduling.cheap_runner\n"
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
    return measure(Bench(directory, {"MARKS": str(directory)}), STOCK_ROUNDS)


def run() -> list[Figure]:
    with workplace() as one, TemporaryDirectory(prefix="pw") as other:
        say(f"pricewatch, with {FINISHED:,} finished jobs")
        mine = ours(one)
        say(f"stock scrapyd, with {FINISHED:,} finished jobs")
        theirs = stock(Path(other))
    figures = [
        Figure(
            name="queue a job over HTTP",
            value=mine["queue"],
            unit="ms",
            baseline=theirs["queue"],
            ratio=mine["queue"] / theirs["queue"],
            bar=2.0,
            less_is_better=True,
            note=f"{QUEUED} jobs, with {FINISHED:,} finished; beside stock scrapyd with SQLite",
        )
    ]
    figures += [
        Figure(
            name=f"answer: {page}",
            value=mine[page],
            unit="ms",
            baseline=MOST_MS,
            ratio=mine[page] / MOST_MS,
            bar=1.0,
            less_is_better=True,
            note=f"{QUEUED} waiting, {FINISHED:,} finished; stock scrapyd needs {theirs[page]:,.0f} ms",
        )
        for page in ("listjobs", "listjobs of one project", "daemonstatus", "jobs page")
    ]
    return figures
