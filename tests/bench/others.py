"""Known URLs checked per second, beside what a user would run instead: `python -m tests.bench others`.

changedetection.io is installed with pip into an environment of its own, in a temporary directory, unless
`CHANGEDETECTION` names a program that is there already. Both look at the same pages of the sample
marketplace, twice, and only the second round counts, in which no page has changed. Theirs is timed from its
first request to its last, at its best number of workers; ours for the whole run, which is longer: its start
and its end are in it, and every page is read for its price and stored. Memory is that of the program itself:
ours needs a PostgreSQL beside it.
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
from tests.bench.figure import Figure, Skipped, rounds
from tests.bench.progress import say
from tests.bench.workplace import workplace
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
PACKAGE = "changedetection.io"
PAGES = 300
LOOKS = 2
# Its own default is 10.
WORKERS = (10, 5, 25, 50)
# It looks for any change of the text; or for the price, as ours does.
PROCESSORS = ("text_json_diff", "restock_diff")
# As fast as it can: workers that are never restarted, no pause between looks, nobody asked for news.
AT_ITS_BEST = {
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
    """The program, installed if need be."""
    if given := os.environ.get("CHANGEDETECTION"):
        return Path(given)
    say(f"installing {PACKAGE} into a temporary directory, which takes some minutes")
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


def rate_of_last_look(bazaar: Bazaar, paths: set[str]) -> float:
    """Pages a second in the last look, from its first request to its last."""
    times = [
        entry.time
        for entry in bazaar.log()
        if entry.method == "GET" and entry.path in paths and entry.status in (200, 304)
    ]
    if len(times) < LOOKS * len(paths):
        raise TimeoutError(f"only {len(times)} of {LOOKS} times {len(paths)} pages were asked for")
    last = sorted(times)[-len(paths) :]
    return (len(last) - 1) / (last[-1] - last[0])


def run_to_end(words: list[str], environment: dict[str, str]) -> float:
    """Run a program; says its peak of memory in megabytes."""
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


def theirs(
    program: Path, bazaar: Bazaar, urls: list[str], processor: str, workers: int
) -> tuple[float, float]:
    """Pages a second, and megabytes."""
    with TemporaryDirectory(prefix="pw", ignore_cleanup_errors=True) as store:
        words = [str(program), "-h", "127.0.0.1", "-p", str(free_port()), "-d", store, "-C", "-l", "ERROR"]
        for place, url in enumerate(urls):
            words += ["-u", url, f"-u{place}", json.dumps({"processor": processor})]
        bazaar.clear_log()
        environment = {**AT_ITS_BEST, "FETCH_WORKERS": str(workers)}
        memory = run_to_end([*words, "-b", "-r", "all", str(LOOKS)], environment)
        return rate_of_last_look(bazaar, {url.removeprefix(bazaar.url) for url in urls}), memory


def ours(bazaar: Bazaar, urls: list[str]) -> tuple[float, float, float]:
    """The targets spider, with everything that it stores: pages a second in all and at work, megabytes."""
    with workplace():
        engine = database.engine()
        with engine.begin() as connection:
            connection.execute(
                text("UPDATE sources SET base_url = :url WHERE id = 'bazaar'"), {"url": bazaar.url}
            )
            new = [NewTarget(url, canonical_url(url)) for url in urls]
            ids = target_rows.add(connection, new, clock.now(), "bench").ids.values()
        bazaar.clear_log()
        named = f"ids={','.join(map(str, ids))}"
        words = [sys.executable, "-m", "scrapy", "crawl", "targets", "-a", named]
        memory = max(run_to_end(words, {}) for _ in range(LOOKS))
        with engine.connect() as connection:
            stored = connection.execute(text("SELECT count(*) FROM listings")).scalar_one()
            seconds = connection.execute(_SECONDS).scalar_one()
        if stored != len(urls):
            raise SystemExit(f"only {stored} of {len(urls)} pages were stored")
        at_work = rate_of_last_look(bazaar, {url.removeprefix(bazaar.url) for url in urls})
        return len(urls) / float(seconds), at_work, memory


def run() -> list[Figure]:
    with TemporaryDirectory(prefix="pw") as directory, Bazaar.start(seed=3, listings=1600) as bazaar:
        program = installed(Path(directory))
        pages = [each for each in bazaar.truth("bikes") if each.state == "on_sale" and each.markup != "js"]
        urls = sorted(f"{bazaar.url}{each.url}" for each in pages[:PAGES])
        say(f"pricewatch on {len(urls)} pages")
        mine = ours(bazaar, urls)
        found: dict[str, list[Theirs]] = {}
        workers = WORKERS[: rounds(len(WORKERS))]
        for processor in PROCESSORS:
            measured = [each for count in workers if (each := _try(program, bazaar, urls, processor, count))]
            if measured:
                found[processor] = measured
                # The number that is best for one way of looking is tried with the other.
                workers = (max(measured).workers,)
        if not found:
            raise Skipped(f"{PACKAGE} is there, but did not look at all pages in time")
        # Theirs is the best of several, so ours is the better of the first and the last minute.
        say(f"pricewatch on {len(urls)} pages, once more")
        mine = max(mine, ours(bazaar, urls))
    return [
        figure
        for processor, measured in found.items()
        for figure in compared(mine, measured, f"{len(urls)} pages; {PACKAGE} with {processor}")
    ]


class Theirs(NamedTuple):
    rate: float
    memory: float
    workers: int


def _try(program: Path, bazaar: Bazaar, urls: list[str], processor: str, workers: int) -> Theirs | None:
    say(f"{PACKAGE} with {workers} workers and {processor} on {len(urls)} pages")
    try:
        return Theirs(*theirs(program, bazaar, urls, processor, workers), workers)
    except TimeoutError as problem:
        say(f"left out: {problem}")
        return None


def compared(mine: tuple[float, float, float], measured: list[Theirs], note: str) -> list[Figure]:
    rate, at_work, memory = mine
    best = max(measured)
    told = ", ".join(f"{each.rate:.0f} with {each.workers}" for each in measured)
    return [
        Figure(
            "known URLs checked",
            rate,
            "pages/s",
            best.rate,
            rate / best.rate,
            1.0,
            note=f"{note}, by workers: {told}; ours between its first and last request: {at_work:.0f}",
        ),
        Figure(
            "known URLs: memory",
            memory,
            "MB",
            best.memory,
            memory / best.memory,
            1.5,
            aim=1.0,
            less_is_better=True,
            note=f"{note} and {best.workers} workers",
        ),
    ]
