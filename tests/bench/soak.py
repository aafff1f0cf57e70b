"""Growth over many crawls and jobs: `python -m tests.bench soak`.

Runs hundreds of crawls in one process: all four spiders in turn, with product pages, targets, listings to
verify and pages that are quarantined, and price changes between them. Then hundreds of jobs in one daemon.
After warming up, memory and connections must not grow, the history only by its changes, and the logs of jobs
only to the configured limit. The browser is not part of it: it has its own processes, which are restarted.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import psutil  # type: ignore[import-untyped]
from sqlalchemy import Engine, text

from pricewatch import clock
from pricewatch.bazaar.client import Bazaar
from pricewatch.parsing.url import canonical_url
from pricewatch.store.engine import database
from pricewatch.store.queues import target_rows
from pricewatch.store.queues.target_rows import NewTarget
from tests.bench.metric import Metric
from tests.bench.progress import show_progress
from tests.bench.soak_runner import LOG_BYTES
from tests.bench.temporary_database import temporary_database
from tests.crawler import Crawler
from tests.scheduling.daemons import Daemon
from tests.waiting import until

MARKET = "bazaar-bikes"
CRAWLS, WARM_CRAWLS = 240, 80
CHANGES = 15
# Each crawl starts this much after the last one, so that product pages, targets and verifications are due.
TIME_BETWEEN = timedelta(hours=2)
TARGETS = 30
SPIDERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("discovery", {"market": MARKET, "max_details": 5}),
    ("sweep", {"market": MARKET, "max_details": 20}),
    ("targets", {"source": "bazaar"}),
    ("verification", {"market": MARKET}),
)
JOBS, WARM_JOBS = 240, 60
LOGS_KEPT = 10
# The connection pools of the daemon and of its web interface.
POOL_SIZE = 8 + 4
PAGES = ("", "listings", "targets", "admin/scraper/sweep", "metrics", "api/listings", "scrapyd/jobs")
# A row of the history with its index entry; a page of the database has space for about 80.
MAX_BYTES_PER_CHANGE = 400
MAX_GROWTH = 1.1

_HISTORY_BYTES = text(
    "SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('price_history') WHERE isleaf"
)
_QUARANTINED = text("SELECT count(*) FROM quarantine")
_CONNECTIONS = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pricewatch'")


def megabytes(pid: int) -> float:
    return float(psutil.Process(pid).memory_info().rss) / 2**20


def value(engine: Engine, query: object) -> float:
    with engine.connect() as connection:
        return float(connection.execute(query).scalar() or 0)  # type: ignore[call-overload]


def connections(engine: Engine) -> float:
    """Count the connections of other processes."""
    with engine.connect() as connection:
        opened = connection.execute(_CONNECTIONS).scalar_one()
        pool: Any = engine.pool
        return float(opened - pool.checkedin() - pool.checkedout())


def growth(name: str, unit: str, before: float, after: float, note: str) -> Metric:
    ratio = after / before
    return Metric(name, after, unit, before, ratio, MAX_GROWTH, less_is_better=True, note=note)


def prepare(engine: Engine, bazaar: Bazaar) -> None:
    """Add targets, and pages that are quarantined."""
    bazaar.habit("ambiguous_pages", category="bikes", share=0.1)
    others = [each for each in bazaar.truth("cameras") if each.state == "on_sale"]
    with engine.begin() as connection:
        urls = [bazaar.url + each.url for each in others[:TARGETS]]
        added = [NewTarget(url, canonical_url(url)) for url in urls]
        target_rows.add(connection, added, clock.now(), "soak")


def crawls(engine: Engine, url: str) -> list[Metric]:
    """Run many crawls in one process."""
    crawler = Crawler()
    pid = crawler._process.pid
    changed = 0
    done: Counter[str] = Counter()
    try:
        with Bazaar.start(seed=3, listings=400, live=True) as bazaar:
            with engine.begin() as connection:
                connection.execute(
                    text("UPDATE sources SET base_url = :url WHERE id = 'bazaar'"), {"url": bazaar.url}
                )
            on_sale = [each for each in bazaar.truth("bikes") if each.state == "on_sale"]
            prepare(engine, bazaar)
            memory = links = size = 0.0
            for number in range(CRAWLS):
                show_progress(f"crawl {number + 1} of {CRAWLS}")
                if number == WARM_CRAWLS:
                    memory, links = megabytes(pid), connections(engine)
                    size, changed = value(engine, _HISTORY_BYTES), 0
                for index in range(CHANGES):
                    each = on_sale[(number * CHANGES + index) % len(on_sale)]
                    bazaar.change(each.id, price=each.price + number + 1)
                bazaar.add("bikes", f"Bike {number}", 10_000)
                if number == len(SPIDERS):
                    # Lists no longer show some known listings, which are verified from now on.
                    bazaar.habit("deleted_unlisted", category="bikes", share=0.05)
                spider, arguments = SPIDERS[number % len(SPIDERS)]
                run = crawler(spider, url, ahead=number * TIME_BETWEEN, **arguments)
                if run["status"] != "finished":
                    raise SystemExit(f"a crawl did not finish: {run}")
                changed += run["price_rows"]
                done[spider] += run["counters"].get("urls_attempted", 0)
            if not all(done.values()) or not value(engine, _QUARANTINED):
                raise SystemExit(f"too little was crawled to measure it: {dict(done)}")
            pages = ", ".join(f"{count:,} of {spider}" for spider, count in done.items())
            note = f"from crawl {WARM_CRAWLS} to {CRAWLS} in one process; product pages: {pages}"
            bytes_per_change = (value(engine, _HISTORY_BYTES) - size) / changed
            return [
                growth("soak: memory of crawls", "MB", memory, megabytes(pid), note),
                growth("soak: connections of crawls", "", max(1.0, links), connections(engine), note),
                Metric(
                    "soak: history per change",
                    bytes_per_change,
                    "bytes",
                    MAX_BYTES_PER_CHANGE,
                    bytes_per_change / MAX_BYTES_PER_CHANGE,
                    1.0,
                    less_is_better=True,
                    note=f"{changed:,} changes",
                ),
            ]
    finally:
        crawler.close()


def jobs(engine: Engine, directory: Path) -> list[Metric]:
    """Run many jobs in one daemon, and request a page for each."""
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
            show_progress(f"job {number} of {JOBS}")
            daemon.schedule("quick", n=number)
            with urlopen(f"{daemon.url}/{PAGES[number % len(PAGES)]}", timeout=60) as page:  # noqa: S310 - our own
                page.read()
            if number in (WARM_JOBS, JOBS):
                until(lambda: set(daemon.states().values()) == {"finished"}, 120)
            if number == WARM_JOBS:
                memory, links = megabytes(daemon.process.pid), connections(engine)
                log = daemon.log.stat().st_size
        note = f"from job {WARM_JOBS} to {JOBS} in one daemon, with a page request for each"
        kept = sum(file.stat().st_size for file in (directory / "logs").rglob("*.log"))
        log_per_job = (daemon.log.stat().st_size - log) / (JOBS - WARM_JOBS)
        allowed = (LOGS_KEPT + 2) * LOG_BYTES
        return [
            growth("soak: memory of a daemon", "MB", memory, megabytes(daemon.process.pid), note),
            # Pools may grow up to their size; leaked connections exceed it.
            Metric(
                "soak: connections of a daemon",
                (open_now := connections(engine)),
                "",
                POOL_SIZE,
                open_now / POOL_SIZE,
                1.0,
                less_is_better=True,
                note=f"{note}; {links:.0f} at the start, {POOL_SIZE} in its two pools",
            ),
            Metric(
                "soak: logs of jobs",
                kept / 1000,
                "kB",
                allowed / 1000,
                kept / allowed,
                1.0,
                less_is_better=True,
                note=f"{JOBS} jobs of {LOG_BYTES // 1000} kB, {LOGS_KEPT} kept; "
                f"the log of the daemon: {log_per_job:.0f} bytes per job",
            ),
        ]
    finally:
        daemon.abandon()


def run() -> list[Metric]:
    with temporary_database() as directory:
        engine = database.engine()
        url = engine.url.render_as_string(hide_password=False)
        return [*crawls(engine, url), *jobs(engine, directory)]
