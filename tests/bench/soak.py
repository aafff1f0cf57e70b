"""Hours in a minute: `python -m tests.bench soak`. What must not grow does not.

Crawl after crawl in one process, with prices that change between them, and job after job in one daemon:
memory and connections stay where they were after warming up, the history grows by its changes only, and
logs by what is to be kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.request import urlopen

import psutil  # type: ignore[import-untyped]
from sqlalchemy import Engine, text

from pricewatch.bazaar.client import Bazaar
from pricewatch.store.engine import database
from tests.bench.figure import Figure
from tests.bench.progress import say
from tests.bench.soak_runner import LOG_BYTES
from tests.bench.workplace import workplace
from tests.crawler import Crawler
from tests.scheduling.daemons import Daemon
from tests.waiting import until

MARKET = "bazaar-bikes"
CRAWLS, WARM_CRAWLS = 240, 80
CHANGES = 15
JOBS, WARM_JOBS = 240, 60
LOGS_KEPT = 10
# Of the daemon itself, and of the pages that it serves.
POOL = 8 + 4
PAGES = ("", "listings", "targets", "admin/scraper/sweep", "metrics", "api/listings", "scrapyd/jobs")
# A row of the history with its index entry; a page of the database holds about 80 of them.
MOST_BYTES_PER_CHANGE = 400
MOST_GROWTH = 1.1

_HISTORY_BYTES = text(
    "SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('price_history') WHERE isleaf"
)
_CONNECTIONS = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pricewatch'")


def megabytes(pid: int) -> float:
    return float(psutil.Process(pid).memory_info().rss) / 2**20


def ask(engine: Engine, query: object) -> float:
    with engine.connect() as connection:
        return float(connection.execute(query).scalar() or 0)  # type: ignore[call-overload]


def connections(engine: Engine) -> float:
    """Of everybody but ourselves."""
    with engine.connect() as connection:
        opened = connection.execute(_CONNECTIONS).scalar_one()
        return float(opened - _own(engine))


def _own(engine: Engine) -> int:
    pool: Any = engine.pool
    return int(pool.checkedin() + pool.checkedout())


def flat(name: str, unit: str, before: float, after: float, note: str) -> Figure:
    ratio = after / before
    return Figure(name, after, unit, before, ratio, MOST_GROWTH, less_is_better=True, note=note)


def crawls(engine: Engine, url: str) -> list[Figure]:
    """One process, many runs."""
    crawler = Crawler()
    pid = crawler._process.pid
    changed = 0
    try:
        with Bazaar.start(seed=3, listings=400, live=True) as bazaar:
            with engine.begin() as connection:
                connection.execute(
                    text("UPDATE sources SET base_url = :url WHERE id = 'bazaar'"), {"url": bazaar.url}
                )
            up = [each for each in bazaar.truth("bikes") if each.state == "on_sale"]
            memory = links = size = 0.0
            for number in range(CRAWLS):
                say(f"crawl {number + 1} of {CRAWLS}")
                if number == WARM_CRAWLS:
                    memory, links = megabytes(pid), connections(engine)
                    size, changed = ask(engine, _HISTORY_BYTES), 0
                for place in range(CHANGES):
                    each = up[(number * CHANGES + place) % len(up)]
                    bazaar.change(each.id, price=each.price + number + 1)
                spider = "discovery" if number % 4 == 0 else "sweep"
                run = crawler(spider, url, market=MARKET, max_details=0)
                if run["status"] != "finished":
                    raise SystemExit(f"a crawl did not finish: {run}")
                changed += run["price_rows"]
            note = f"from crawl {WARM_CRAWLS} to {CRAWLS} in one process"
            grown = (ask(engine, _HISTORY_BYTES) - size) / changed
            return [
                flat("soak: memory of crawls", "MB", memory, megabytes(pid), note),
                flat("soak: connections of crawls", "", max(1.0, links), connections(engine), note),
                Figure(
                    "soak: history per change",
                    grown,
                    "bytes",
                    MOST_BYTES_PER_CHANGE,
                    grown / MOST_BYTES_PER_CHANGE,
                    1.0,
                    less_is_better=True,
                    note=f"{changed:,} changes",
                ),
            ]
    finally:
        crawler.close()


def jobs(engine: Engine, directory: Path) -> list[Figure]:
    """One daemon, many jobs, and people who look at its pages."""
    (directory / "node").mkdir()
    options = {
        "runner": "tests.bench.soak_runner",
        "jobs_to_keep": str(LOGS_KEPT),
        "logs_dir": str(directory / "logs"),
    }
    daemon = Daemon(directory / "node", "node", {"PRICEWATCH_VAR": str(directory)}, **options)
    try:
        daemon.wait()
        memory = links = log = 0.0
        for number in range(1, JOBS + 1):
            say(f"job {number} of {JOBS}")
            daemon.schedule("quick", n=number)
            with urlopen(f"{daemon.url}/{PAGES[number % len(PAGES)]}", timeout=60) as page:  # noqa: S310 - our own
                page.read()
            if number in (WARM_JOBS, JOBS):
                until(lambda: set(daemon.states().values()) == {"finished"}, 120)
            if number == WARM_JOBS:
                memory, links = megabytes(daemon.process.pid), connections(engine)
                log = daemon.log.stat().st_size
        note = f"from job {WARM_JOBS} to {JOBS} in one daemon, with a page looked at for each"
        kept = sum(file.stat().st_size for file in (directory / "logs").rglob("*.log"))
        told = (daemon.log.stat().st_size - log) / (JOBS - WARM_JOBS)
        allowed = (LOGS_KEPT + 2) * LOG_BYTES
        return [
            flat("soak: memory of a daemon", "MB", memory, megabytes(daemon.process.pid), note),
            # A pool opens as many as were ever wanted at once; what leaks goes beyond its size.
            Figure(
                "soak: connections of a daemon",
                (open_now := connections(engine)),
                "",
                POOL,
                open_now / POOL,
                1.0,
                less_is_better=True,
                note=f"{note}; {links:.0f} at the start, {POOL} in its two pools",
            ),
            Figure(
                "soak: logs of jobs",
                kept / 1000,
                "kB",
                allowed / 1000,
                kept / allowed,
                1.0,
                less_is_better=True,
                note=f"{JOBS} jobs of {LOG_BYTES // 1000} kB, {LOGS_KEPT} kept; "
                f"the daemon's own log: {told:.0f} bytes a job",
            ),
        ]
    finally:
        daemon.abandon()


def run() -> list[Figure]:
    with workplace() as directory:
        engine = database.engine()
        url = engine.url.render_as_string(hide_password=False)
        return [*crawls(engine, url), *jobs(engine, directory)]
