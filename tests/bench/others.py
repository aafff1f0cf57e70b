"""Known URLs checked per second, beside what a user would run instead: `python -m tests.bench others`.

changedetection.io comes from PyPI into an environment of its own, in a temporary directory, unless
`CHANGEDETECTION` names a program that is there already. Both look at the same pages of the sample
marketplace, twice, and only the second round counts, in which no page has changed. Theirs is timed from its
first request to its last; ours for the whole run, which is longer. Memory is that of the program itself: ours
needs a PostgreSQL beside it. Where theirs does not install, that is said and no more.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from sqlalchemy import text

from pricewatch import clock
from pricewatch.bazaar.client import Bazaar
from pricewatch.parsing.url import canonical_url
from pricewatch.store import embedded, targets
from pricewatch.store.database import connect
from pricewatch.store.schema import ensure_schema
from pricewatch.store.targets import NewTarget
from tests.bench.figure import Figure

ROOT = Path(__file__).parents[2]
PACKAGE = "changedetection.io"
PAGES = 300
ROUNDS = 2
WORKERS = (10, 50)
INSTALL_SECONDS = 300
RUN_SECONDS = 150
_SECONDS = text("SELECT extract(epoch FROM finished_at - started_at) FROM runs ORDER BY id DESC LIMIT 1")


def installed(directory: Path) -> Path | None:
    """The program, installed if need be; None where it cannot be had in time."""
    if given := os.environ.get("CHANGEDETECTION"):
        return Path(given)
    try:
        venv.create(directory, with_pip=True)
        subprocess.run(
            [directory / "bin" / "python", "-m", "pip", "install", "--quiet", PACKAGE],
            check=True,
            capture_output=True,
            timeout=INSTALL_SECONDS,
        )
    except (OSError, subprocess.SubprocessError) as error:
        Console().print(f"{PACKAGE} is left out: it does not install here ({type(error).__name__}).")
        return None
    return directory / "bin" / PACKAGE


def rate_of_last_round(bazaar: Bazaar, paths: set[str]) -> float:
    """Pages a second in the last of the rounds, from its first request to its last."""
    times = [
        entry.time
        for entry in bazaar.log()
        if entry.method == "GET" and entry.path in paths and entry.status in (200, 304)
    ]
    if len(times) < ROUNDS * len(paths):
        raise SystemExit(f"only {len(times)} of {ROUNDS} times {len(paths)} pages were asked for")
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
    while time.monotonic() < deadline:
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        if ended:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage.ru_maxrss / 1024
        time.sleep(0.05)
    process.kill()
    process.wait()
    raise SystemExit(f"{words[0]} did not end within {RUN_SECONDS} seconds")


def theirs(program: Path, bazaar: Bazaar, urls: list[str], paths: set[str]) -> tuple[float, float, int]:
    """The best of several numbers of workers: pages a second, megabytes, workers."""
    measured = []
    for workers in WORKERS:
        with TemporaryDirectory(prefix="pw") as store, socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
            probe.close()
            watched = [part for url in urls for part in ("-u", url)]
            words = [str(program), "-h", "127.0.0.1", "-p", str(port), "-d", store, "-C", "-l", "ERROR"]
            bazaar.clear_log()
            memory = run_to_end(
                [*words, "-b", "-r", "all", str(ROUNDS), *watched],
                {"FETCH_WORKERS": str(workers), "ALLOW_IANA_RESTRICTED_ADDRESSES": "true"},
            )
            measured.append((rate_of_last_round(bazaar, paths), memory, workers))
    return max(measured)


def ours(bazaar: Bazaar, urls: list[str]) -> tuple[float, float]:
    """The targets spider, with everything that it stores."""
    with TemporaryDirectory(prefix="pw") as name:
        directory = Path(name).resolve()
        environment = {"PRICEWATCH_VAR": str(directory), "DATABASE_URL": ""}
        before = {key: os.environ.get(key) for key in environment}
        os.environ.update(environment)
        engine = connect()
        try:
            ensure_schema(engine)
            with engine.begin() as connection:
                connection.execute(
                    text("UPDATE sources SET base_url = :url WHERE id = 'bazaar'"), {"url": bazaar.url}
                )
                new = [NewTarget(url, canonical_url(url)) for url in urls]
                ids = targets.add(connection, new, clock.now(), "bench").ids.values()
            bazaar.clear_log()
            words = [
                sys.executable,
                "-m",
                "scrapy",
                "crawl",
                "targets",
                "-a",
                f"ids={','.join(map(str, ids))}",
            ]
            memory = max(run_to_end(words, environment) for _ in range(ROUNDS))
            with engine.connect() as connection:
                stored = connection.execute(text("SELECT count(*) FROM listings")).scalar_one()
                seconds = connection.execute(_SECONDS).scalar_one()
            if stored != len(urls):
                raise SystemExit(f"only {stored} of {len(urls)} pages were stored")
            return len(urls) / float(seconds), memory
        finally:
            engine.dispose()
            embedded.end(directory)
            for key, value in before.items():
                if value is None:
                    del os.environ[key]
                else:
                    os.environ[key] = value


def run() -> list[Figure]:
    with TemporaryDirectory(prefix="pw") as directory, Bazaar.start(seed=3, listings=1600) as bazaar:
        program = installed(Path(directory))
        if program is None:
            return []
        pages = [each for each in bazaar.truth("bikes") if each.state == "on_sale" and each.markup != "js"]
        paths = {each.url for each in pages[:PAGES]}
        urls = [f"{bazaar.url}{path}" for path in sorted(paths)]
        mine, my_memory = ours(bazaar, urls)
        other, other_memory, workers = theirs(program, bazaar, urls, paths)
    note = f"{len(urls)} pages; {PACKAGE} with {workers} workers, its best of {WORKERS}"
    return [
        Figure("known URLs checked", mine, "pages/s", other, mine / other, 1.0, note=note),
        Figure(
            "known URLs: memory",
            my_memory,
            "MB",
            other_memory,
            my_memory / other_memory,
            1.5,
            aim=1.0,
            less_is_better=True,
            note=note,
        ),
    ]
