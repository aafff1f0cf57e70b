"""Every query at 10 k and at 1 M listings: `python -m tests.bench scale`.

At a hundred times the size, a query may take at most three times as long, and it must not scan a large table.
`BENCH_SCALE=10M` adds ten million listings, which takes 15 minutes and 20 GB of disk space; their times are
printed, but have no limit.

All databases are in one server and are queried alternately, so that other load affects all of them equally.
The metric is the lower quartile of the times.
"""

from __future__ import annotations

import os
import re
import time
from statistics import quantiles
from typing import Any

from sqlalchemy import Engine, event, text

from pricewatch.store.engine import database
from pricewatch.store.engine.schema import ensure_schema
from tests.bench.fill_listings import BULK, fill
from tests.bench.metric import Metric, rounds
from tests.bench.progress import show_progress
from tests.bench.scale_queries import Query, queries
from tests.bench.temporary_database import temporary_database

SIZES = (10_000, 1_000_000)
HUGE = 10_000_000
LIMIT = 3.0
ROUNDS, WARM = 30, 8
# Shorter times are dominated by the round trip to the server.
MIN_MS = 0.5
# Tables with at least this many rows must not be scanned.
LARGE_ROWS = 50_000
EXPLAINED = ("SELECT", "(SELECT", "WITH", "UPDATE", "DELETE", "INSERT")
_SCANNED = re.compile(r"Seq Scan on (\w+)")
_LARGE = text("SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples >= :rows")


def requested_sizes() -> tuple[int, ...]:
    scale = os.environ.get("BENCH_SCALE", "1M").upper()
    if scale not in ("1M", "10M"):
        raise SystemExit("BENCH_SCALE must be 1M or 10M.")
    return (*SIZES, HUGE) if scale == "10M" else SIZES


def create_database(size: int) -> Engine:
    """Create a database with this many listings in the temporary server."""
    url = database.database_url()
    with database.connect(url).connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for setting in BULK:
            connection.execute(text(f"ALTER SYSTEM SET {setting}"))
        connection.execute(text("SELECT pg_reload_conf()"))
        connection.execute(text(f"CREATE DATABASE of_{size}"))
    engine = database.connect(url.set(database=f"of_{size}"))
    ensure_schema(engine)
    fill(engine, size)
    return engine


def run_query(engine: Engine, query: Query) -> float:
    """Run a query, roll it back, and return its milliseconds."""
    with engine.connect() as connection:
        began = time.perf_counter()
        query(connection)
        taken = 1000 * (time.perf_counter() - began)
        connection.rollback()
    return taken


def scanned_tables(engine: Engine, query: Query) -> set[str]:
    """Return the large tables that a statement of the query scans."""
    with engine.connect() as connection:
        large = set(connection.execute(_LARGE, {"rows": LARGE_ROWS}).scalars())
    found: set[str] = set()

    def explain(_: Any, cursor: Any, statement: str, parameters: Any, *__: Any) -> None:
        if statement.lstrip().upper().startswith(EXPLAINED):
            cursor.execute(f"EXPLAIN {statement}", parameters)
            scanned = _SCANNED.findall("\n".join(row[0] for row in cursor.fetchall()))
            found.update(large.intersection(scanned))

    event.listen(engine, "before_cursor_execute", explain)
    try:
        run_query(engine, query)
    finally:
        event.remove(engine, "before_cursor_execute", explain)
    return found


def lower_quartile(times: list[float]) -> float:
    """Return the lower quartile, which other load on the machine hardly affects."""
    return quantiles(times, n=4, method="inclusive")[0] if len(times) > 1 else times[0]


def compare(sizes: tuple[int, ...]) -> dict[str, tuple[list[float], set[str]]]:
    """Return the milliseconds of each query at each size, and the tables it scans at the largest."""
    with temporary_database():
        engines = [create_database(size) for size in sizes]
        by_size = [queries(size) for size in sizes]
        found = {}
        for number_of_query, name in enumerate(by_size[0], 1):
            show_progress(f"query {number_of_query} of {len(by_size[0])}: {name}")
            times: list[list[float]] = [[] for _ in sizes]
            for number in range(WARM + rounds(ROUNDS)):
                for engine, by_name, taken in zip(engines, by_size, times, strict=True):
                    milliseconds = run_query(engine, by_name[name])
                    if number >= WARM:
                        taken.append(milliseconds)
            scanned = scanned_tables(engines[-1], by_size[-1][name])
            found[name] = ([lower_quartile(taken) for taken in times], scanned)
        for engine in engines:
            engine.dispose()
    return found


def metrics(sizes: tuple[int, ...], found: dict[str, tuple[list[float], set[str]]]) -> list[Metric]:
    result = []
    for name, (times, scanned) in found.items():
        small, large = max(times[0], MIN_MS), max(times[1], MIN_MS)
        notes = [f"{size:,}: {taken:.1f} ms" for size, taken in zip(sizes, times, strict=True)]
        if len(sizes) > 2:
            notes.append(f"growth {large / small:.1f} and {max(times[2], MIN_MS) / large:.1f}")
        if scanned:
            notes.append(f"scans {', '.join(sorted(scanned))}")
        result.append(
            Metric(
                name=name,
                value=times[1],
                unit="ms",
                baseline=times[0],
                ratio=large / small,
                # A scan of a large table fails, even if it was fast this time.
                limit=0.0 if scanned else LIMIT,
                less_is_better=True,
                note="; ".join(notes),
            )
        )
    return result


def run() -> list[Metric]:
    sizes = requested_sizes()
    return metrics(sizes, compare(sizes))
