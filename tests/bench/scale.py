"""Every query at 10,000 and at a million listings, side by side: `python -m tests.bench scale`.

What is asked for must cost what it takes, not what the table holds: at most three times as long at a hundred
times the size, and never by reading the whole of a table. `BENCH_SCALE=10M` adds ten millions, which takes a
quarter of an hour and 20 GB of disk; those are told, and judged by no bar but that of one more reading.

The databases lie in one server and are asked in turns, so that whatever else the machine does hits all alike;
what counts is the time that a quarter of the answers stayed below.
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
from tests.bench.figure import Figure, rounds
from tests.bench.filling import BULK, fill
from tests.bench.progress import say
from tests.bench.scale_queries import Query, queries
from tests.bench.workplace import workplace

SIZES = (10_000, 1_000_000)
HUGE = 10_000_000
BAR = 3.0
ROUNDS, WARM = 30, 8
# Less than this is the way to the server and back.
LEAST_MS = 0.5
# Of a table as large as this, nothing but what is asked for may be read.
LARGE_ROWS = 50_000
EXPLAINED = ("SELECT", "(SELECT", "WITH", "UPDATE", "DELETE", "INSERT")
_SCANNED = re.compile(r"Seq Scan on (\w+)")
_LARGE = text("SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples >= :rows")


def wanted_sizes() -> tuple[int, ...]:
    given = os.environ.get("BENCH_SCALE", "1M").upper()
    if given not in ("1M", "10M"):
        raise SystemExit("BENCH_SCALE is 1M or 10M.")
    return (*SIZES, HUGE) if given == "10M" else SIZES


def make(size: int) -> Engine:
    """A database of this size, in the server of this workplace."""
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


def ask(engine: Engine, query: Query) -> float:
    """Milliseconds; whatever it wrote is taken back."""
    with engine.connect() as connection:
        began = time.perf_counter()
        query(connection)
        taken = 1000 * (time.perf_counter() - began)
        connection.rollback()
    return taken


def read_whole(engine: Engine, query: Query) -> set[str]:
    """The large tables of which some statement of the query reads everything."""
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
        ask(engine, query)
    finally:
        event.remove(engine, "before_cursor_execute", explain)
    return found


def usual(times: list[float]) -> float:
    """The lower quartile: what it takes while nothing else is in the way."""
    return quantiles(times, n=4, method="inclusive")[0] if len(times) > 1 else times[0]


def compare(sizes: tuple[int, ...]) -> dict[str, tuple[list[float], set[str]]]:
    """Milliseconds of each query at each size, and what it reads as a whole at the largest."""
    with workplace():
        engines = [make(size) for size in sizes]
        asked = [queries(size) for size in sizes]
        found = {}
        for place, name in enumerate(asked[0], 1):
            say(f"asking {place} of {len(asked[0])}: {name}")
            times: list[list[float]] = [[] for _ in sizes]
            for number in range(WARM + rounds(ROUNDS)):
                for engine, named, taken in zip(engines, asked, times, strict=True):
                    milliseconds = ask(engine, named[name])
                    if number >= WARM:
                        taken.append(milliseconds)
            whole = read_whole(engines[-1], asked[-1][name])
            found[name] = ([usual(taken) for taken in times], whole)
        for engine in engines:
            engine.dispose()
    return found


def figures(sizes: tuple[int, ...], found: dict[str, tuple[list[float], set[str]]]) -> list[Figure]:
    made = []
    for name, (times, whole) in found.items():
        small, large = max(times[0], LEAST_MS), max(times[1], LEAST_MS)
        notes = [f"{size:,}: {taken:.1f} ms" for size, taken in zip(sizes, times, strict=True)]
        if len(sizes) > 2:
            notes.append(f"growth {large / small:.1f} and {max(times[2], LEAST_MS) / large:.1f}")
        if whole:
            notes.append(f"reads the whole of {', '.join(sorted(whole))}")
        made.append(
            Figure(
                name=name,
                value=times[1],
                unit="ms",
                baseline=times[0],
                ratio=large / small,
                # A plan that reads a whole table is no plan, however quick it was this time.
                bar=0.0 if whole else BAR,
                less_is_better=True,
                note="; ".join(notes),
            )
        )
    return made


def run() -> list[Figure]:
    sizes = wanted_sizes()
    return figures(sizes, compare(sizes))
