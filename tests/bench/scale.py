"""Queries at ten thousand and at a million listings: `python -m tests.bench scale`.

What a run asks for must cost what it takes, not what the table holds: at most three times as long at a
hundred times the size, and never by reading the whole of `listings`.
"""

from __future__ import annotations

import io
import os
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Connection, Engine, event, text

from pricewatch.store import collection, details, verification
from pricewatch.store.search import find_listings
from tests.bench.figure import Figure

SMALL, LARGE = 10_000, 1_000_000
BAR = 3.0
ROUNDS = 40
MARKETS = 20
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
WORDS = [
    "trek",
    "canyon",
    "road",
    "gravel",
    "carbon",
    "alloy",
    "large",
    "small",
    "wheel",
    "disc",
    "saddle",
    "city",
]
COLUMNS = (
    "source_id, market_id, identity_key, url, canonical_url, title, price_cents, currency, availability,"
    " price_observed_at, first_seen_at, last_seen_at, last_scraped_at, detail_due_at, active"
)


def fill(engine: Engine, first: int, last: int) -> None:
    """Listings by COPY: most of them fresh, a few unseen for a day, a few never read."""
    chance = random.Random(first)
    raw = engine.raw_connection()
    cursor = raw.cursor()
    for begin in range(first, last, 100_000):
        buffer = io.StringIO()
        for number in range(begin, min(begin + 100_000, last)):
            # In every market about as many are due at any size: what is due is work, the rest is at rest.
            rare = number % 10_000 < 400
            seen = NOW - timedelta(hours=30 if rare and number < SMALL else chance.random() * 15)
            read = NOW - timedelta(hours=chance.random() * 23)
            due = "\\N" if rare and number < SMALL else (read + timedelta(hours=24)).isoformat()
            title = f"{' '.join(chance.sample(WORDS, 5))} no{number}"
            url = f"https://shop.example/item/{number}"
            values = ("bazaar", f"m{number % MARKETS}", f"PID:{number}", url, url, title, number % 9000 + 100)
            times = (seen.isoformat(),) * 3 + (read.isoformat(), due)
            buffer.write("\t".join(map(str, (*values, "EUR", "IN_STOCK", *times, "t"))) + "\n")
        buffer.seek(0)
        cursor.copy_expert(f"COPY listings ({COLUMNS}) FROM STDIN", buffer)
        raw.commit()
    raw.close()
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE listings"))


def queries(size: int) -> dict[str, Callable[[Connection], Any]]:
    chance = random.Random(size)

    def market() -> str:
        return f"m{chance.randrange(MARKETS)}"

    def page() -> list[dict[str, Any]]:
        keys = [chance.randrange(size) for _ in range(60)] + [
            size + chance.randrange(size) for _ in range(30)
        ]
        return [
            {
                "source_id": "bazaar",
                "identity_key": f"PID:{key}",
                "canonical_url": f"https://shop.example/item/{key}",
            }
            for key in dict.fromkeys(keys)
        ]

    def candidates(connection: Connection) -> Any:
        before = {"unseen_before": NOW - timedelta(hours=24), "doubted_before": NOW - timedelta(hours=20)}
        return verification.candidates(connection, market(), most=200, **before)

    return {
        "verification candidates": candidates,
        "known-check of a page of 90": lambda connection: collection.collect(connection, 1, "/", 1, page()),
        "choice of 100 details": lambda connection: details.choose(connection, market(), NOW, 100),
        "search by words": lambda connection: find_listings(
            connection, now=NOW, words=f"carbon no{chance.randrange(size)}"
        ),
        "search by words in a market": lambda connection: find_listings(
            connection, now=NOW, words="carbon disc", market_id=market(), active=True
        ),
        "newest page": lambda connection: find_listings(connection, now=NOW),
    }


def measure(engine: Engine, query: Callable[[Connection], Any]) -> float:
    """Median milliseconds."""
    taken = []
    with engine.connect() as connection:
        for number in range(ROUNDS + 5):
            began = time.perf_counter()
            query(connection)
            if number >= 5:
                taken.append(1000 * (time.perf_counter() - began))
        connection.rollback()
    return median(taken)


def scanned(engine: Engine, query: Callable[[Connection], Any]) -> bool:
    """Whether any statement of the query reads all of `listings`."""
    plans: list[str] = []

    def explain(_: Any, cursor: Any, statement: str, parameters: Any, *__: Any) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "(SELECT", "WITH")):
            cursor.execute(f"EXPLAIN {statement}", parameters)
            plans.append("\n".join(row[0] for row in cursor.fetchall()))

    event.listen(engine, "before_cursor_execute", explain)
    try:
        with engine.connect() as connection:
            query(connection)
            connection.rollback()
    finally:
        event.remove(engine, "before_cursor_execute", explain)
    return any("Seq Scan on listings" in plan for plan in plans)


def compare(sizes: tuple[int, int] = (SMALL, LARGE)) -> list[tuple[str, float, float, bool]]:
    """Name, milliseconds at the small and at the large size, and whether it scans the table."""
    with TemporaryDirectory(prefix="pw") as var:
        os.environ["PRICEWATCH_VAR"] = var
        os.environ.pop("DATABASE_URL", None)
        from pricewatch.store.database import engine as the_engine

        the_engine.cache_clear()
        engine = the_engine()
        with engine.begin() as connection:
            for number in range(MARKETS):
                connection.execute(
                    text("INSERT INTO markets (id, source_id, display_name) VALUES (:id, 'bazaar', :id)"),
                    {"id": f"m{number}"},
                )
        fill(engine, 0, sizes[0])
        small = {name: measure(engine, query) for name, query in queries(sizes[0]).items()}
        fill(engine, sizes[0], sizes[1])
        found = [
            (name, small[name], measure(engine, query), scanned(engine, query))
            for name, query in queries(sizes[1]).items()
        ]
        engine.dispose()
        the_engine.cache_clear()
    return found


def run() -> list[Figure]:
    return [
        Figure(
            name=f"{name}, {LARGE:,} listings against {SMALL:,}",
            value=at_large,
            unit="ms",
            baseline=at_small,
            ratio=at_large / at_small,
            # A plan that reads the whole table is no plan, however quick it was this time.
            bar=0.0 if scans else BAR,
            less_is_better=True,
            note="reads the whole table" if scans else "",
        )
        for name, at_small, at_large, scans in compare()
    ]
