"""Known URLs checked per second, compared with changedetection.io: `python -m tests.bench others`.

changedetection.io is installed with pip into a temporary virtual environment, unless `CHANGEDETECTION` is the
path of an installed one. Both check the same pages of the sample marketplace twice; only the second round, in
which no page has changed, is measured. changedetection.io is timed from its first request to its last, with
its best number of workers; pricewatch for the whole run, including its start and end, and it reads and stores
every price. Memory is that of the program itself; pricewatch also needs a PostgreSQL.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import venv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from sqlalchemy import text

from pricewatch import clock
from pricewatch.bazaar.client import Bazaar
from pricewatch.parsing.url import canonical_url
from pricewatch.store.engine import database
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_rows import NewTarget
from tests.bench.metric import Metric, Skipped, rounds
from tests.bench.progress import show_progress
from tests.bench.temporary_database import temporary_database
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
PACKAGE = "changedetection.io"
PAGES = 300
CHECKS = 2
# The default of changedetection.io is 10.
WORKERS = (10, 5, 25, 50)
# The first detects any change of the text; the second reads the price, as pricewatch does.
PROCESSORS = ("text_json_diff", "restock_diff")
# Its fastest configuration: workers are not restarted, no pause between checks, no version check.
FAST_CONFIGURATION = {
    "WORKER_MAX_JOBS": "1000000",
    "MINIMUM_SECONDS_RECHECK_TIME": "0",
    "DISABLE_VERSION_CHECK": "true",
    "LLM_FEATURES_DISABLED": "true",
    "ALLOW_IANA_RESTRICTED_ADDRESSES": "true",
}
INSTALL_SECONDS = 900
RUN_SECONDS = 300
_SECONDS = text("SELECT extract(epoch FROM finished_at - started_at) FROM runs ORDER BY id DESC LIMIT 1")


def installed(directory: Path) -> Path:
    """Return the path of the program; install it if necessary."""
    if path := os.environ.get("CHANGEDETECTION"):
        return Path(path)
    show_progress(f"installing {PACKAGE} into a temporary directory, which takes some minutes")
    try:
        venv.create(directory, with_pip=True)
        subprocess.run(
            [directory / "bin" / "python", "-m", "pip", "install", "--quiet", PACKAGE],
            check=True,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise Skipped(f"{PACKAGE} is not installed: pip took over {INSTALL_SECONDS} seconds") from None
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or "").strip().splitlines() or [f"pip ended with {error.returncode}"]
        raise Skipped(f"{PACKAGE} is not installed: {lines[-1][:200]}") from None
    except OSError as error:
        raise Skipped(f"{PACKAGE} is not installed: {error}") from None
    return directory / "bin" / PACKAGE


def rate_of_last_check(bazaar: Bazaar, paths: set[str]) -> float:
    """Return pages per second in the last round, from its first request to its last."""
    times = [
        entry.time
        for entry in bazaar.log()
        if entry.method == "GET" and entry.path in paths and entry.status in (200, 304)
    ]
    if len(times) < CHECKS * len(paths):
        raise TimeoutError(f"only {len(times)} of {CHECKS} times {len(paths)} pages were requested")
    last = sorted(times)[-len(paths) :]
    return (len(last) - 1) / (last[-1] - last[0])


def run_to_end(words: list[str], environment: dict[str, str]) -> float:
    """Run a program and return its peak memory in megabytes."""
    process = subprocess.Popen(
        words,
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + RUN_SECONDS
    try:
        while time.monotonic() < deadline:
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                process.returncode = os.waitstatus_to_exitcode(status)
                return usage.ru_maxrss / 1024
            time.sleep(0.05)
    finally:
        if process.returncode is None:
            process.kill()
            process.wait()
    raise TimeoutError(f"{Path(words[0]).name} did not end within {RUN_SECONDS} seconds")


def measure_changedetection(
    program: Path, bazaar: Bazaar, urls: list[str], processor: str, workers: int
) -> tuple[float, float]:
    """Return pages per second, and megabytes."""
    with TemporaryDirectory(prefix="pw", ignore_cleanup_errors=True) as store:
        words = [str(program), "-h", "127.0.0.1", "-p", str(free_port()), "-d", store, "-C", "-l", "ERROR"]
        for index, url in enumerate(urls):
            words += ["-u", url, f"-u{index}", json.dumps({"processor": processor})]
        bazaar.clear_log()
        environment = {**FAST_CONFIGURATION, "FETCH_WORKERS": str(workers)}
        memory = run_to_end([*words, "-b", "-r", "all", str(CHECKS)], environment)
        return rate_of_last_check(bazaar, {url.removeprefix(bazaar.url) for url in urls}), memory


def measure_pricewatch(bazaar: Bazaar, urls: list[str]) -> tuple[float, float, float]:
    """Return pages per second of the whole run, and between its first and last request, and megabytes."""
    with temporary_database():
        engine = database.engine()
        with engine.begin() as connection:
            connection.execute(
                text("UPDATE sources SET base_url = :url WHERE id = 'bazaar'"), {"url": bazaar.url}
            )
            new = [NewTarget(url, canonical_url(url)) for url in urls]
            ids = target_rows.add(connection, new, clock.now(), "bench").ids.values()
        bazaar.clear_log()
        argument = f"ids={','.join(map(str, ids))}"
        words = [sys.executable, "-m", "scrapy", "crawl", "targets", "-a", argument]
        memory = max(run_to_end(words, {}) for _ in range(CHECKS))
        with engine.connect() as connection:
            stored = connection.execute(text("SELECT count(*) FROM listings")).scalar_one()
            seconds = connection.execute(_SECONDS).scalar_one()
        if stored != len(urls):
            raise SystemExit(f"only {stored} of {len(urls)} pages were stored")
        request_rate = rate_of_last_check(bazaar, {url.removeprefix(bazaar.url) for url in urls})
        return len(urls) / float(seconds), request_rate, memory


def run() -> list[Metric]:
    with TemporaryDirectory(prefix="pw") as directory, Bazaar.start(seed=3, listings=1600) as bazaar:
        program = installed(Path(directory))
        pages = [each for each in bazaar.truth("bikes") if each.state == "on_sale" and each.markup != "js"]
        urls = sorted(f"{bazaar.url}{each.url}" for each in pages[:PAGES])
        show_progress(f"pricewatch on {len(urls)} pages")
        pricewatch = measure_pricewatch(bazaar, urls)
        found: dict[str, list[ChangedetectionRun]] = {}
        workers = WORKERS[: rounds(len(WORKERS))]
        for processor in PROCESSORS:
            measured = [each for count in workers if (each := _try(program, bazaar, urls, processor, count))]
            if measured:
                found[processor] = measured
                # The other processor is only tried with the best number of workers.
                workers = (max(measured).workers,)
        if not found:
            raise Skipped(f"{PACKAGE} did not check all pages in time")
        # changedetection.io is measured several times, so pricewatch is measured twice.
        show_progress(f"pricewatch on {len(urls)} pages, second run")
        pricewatch = max(pricewatch, measure_pricewatch(bazaar, urls))
    return [
        metric
        for processor, measured in found.items()
        for metric in compare(pricewatch, measured, f"{len(urls)} pages; {PACKAGE} with {processor}")
    ]


class ChangedetectionRun(NamedTuple):
    rate: float
    memory: float
    workers: int


def _try(
    program: Path, bazaar: Bazaar, urls: list[str], processor: str, workers: int
) -> ChangedetectionRun | None:
    show_progress(f"{PACKAGE} with {workers} workers and {processor} on {len(urls)} pages")
    try:
        rate, memory = measure_changedetection(program, bazaar, urls, processor, workers)
    except TimeoutError as error:
        show_progress(f"skipped: {error}")
        return None
    return ChangedetectionRun(rate, memory, workers)


def compare(
    pricewatch: tuple[float, float, float], measured: list[ChangedetectionRun], note: str
) -> list[Metric]:
    rate, request_rate, memory = pricewatch
    best = max(measured)
    by_workers = ", ".join(f"{each.rate:.0f} with {each.workers}" for each in measured)
    return [
        Metric(
            "known URLs checked",
            rate,
            "pages/s",
            best.rate,
            rate / best.rate,
            1.0,
            note=f"{note}, by workers: {by_workers}; "
            f"pricewatch between its first and last request: {request_rate:.0f}",
        ),
        Metric(
            "known URLs: memory",
            memory,
            "MB",
            best.memory,
            memory / best.memory,
            1.5,
            goal=1.0,
            less_is_better=True,
            note=f"{note} and {best.workers} workers",
        ),
    ]
