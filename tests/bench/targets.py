"""Leasing due targets at 10 k and at 1 M: `python -m tests.bench targets`.

At a hundred times the size, a scheduling cycle that queues 500 targets, and a lease of 50, may take at most
three times as long.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from statistics import median

from sqlalchemy import Engine, text

from pricewatch.rules.target_schedule import QueueLimits
from pricewatch.store.engine import database
from pricewatch.store.queues import target_leases, target_queue
from tests.bench.metric import Metric, rounds
from tests.bench.progress import show_progress
from tests.bench.temporary_database import temporary_database

SMALL, LARGE = 10_000, 1_000_000
LIMIT = 3.0
ROUNDS = 12
QUEUED, LEASED = 500, 50
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
LIMITS = QueueLimits(most_pending=QUEUED, most_pending_per_source=QUEUED // 4, longest_backlog=0)

_SOURCES = text("""
INSERT INTO sources (id, name, adapter_id, domain, base_url, tos_approved_by)
SELECT 'shop' || n, 'shop' || n, 'adapter' || n % 5, 'shop' || n || '.example', 'https://shop.example', 'Ada'
FROM generate_series(0, 19) AS n
""")
# All targets are due at the same time, as with the default schedule.
_TARGETS = text("""
INSERT INTO targets (source_id, adapter_id, url, canonical_url, priority, next_due_at)
SELECT 'shop' || n % 20, 'adapter' || n % 5, url, url, (n / 7) % 3, :now - n % 3600 * interval '1 second'
FROM (SELECT n, 'https://shop' || n % 20 || '.example/item/' || n AS url
      FROM generate_series(CAST(:first AS bigint), :last - 1) AS n) AS made
""")
_FINISH = text("""
UPDATE targets SET queue_state = 'idle', leased_by = NULL, lease_until = NULL, next_due_at = :later
WHERE queue_state = 'leased'
""")


def fill(engine: Engine, first: int, last: int) -> None:
    for begin in range(first, last, 100_000):
        with engine.begin() as connection:
            end = min(begin + 100_000, last)
            show_progress(f"{end:,} targets")
            connection.execute(_TARGETS, {"first": begin, "last": end, "now": NOW})
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE targets"))


def measure(engine: Engine) -> dict[str, float]:
    """Return the median milliseconds of a cycle and of a lease, including the commit."""
    cycles: list[float] = []
    leases: list[float] = []
    for number in range(rounds(ROUNDS)):
        now = NOW + timedelta(minutes=number)
        began = time.perf_counter()
        with engine.begin() as connection:
            admission = target_queue.schedule(connection, now, LIMITS)
        cycles.append(1000 * (time.perf_counter() - began))
        if len(admission.accepted) != QUEUED:
            raise SystemExit(f"{len(admission.accepted)} were queued instead of {QUEUED}")
        for _ in range(QUEUED // LEASED):
            began = time.perf_counter()
            with engine.begin() as connection:
                leased = target_leases.lease(connection, "bench", now, seconds=300, most=LEASED)
            leases.append(1000 * (time.perf_counter() - began))
            if len(leased) != LEASED:
                raise SystemExit(f"{len(leased)} were leased instead of {LEASED}")
        with engine.begin() as connection:
            connection.execute(_FINISH, {"later": now + timedelta(hours=4)})
    return {
        f"scheduling cycle of {QUEUED} targets": median(cycles),
        f"lease of {LEASED} targets": median(leases),
    }


def compare(sizes: tuple[int, int] = (SMALL, LARGE)) -> dict[str, tuple[float, float]]:
    with temporary_database():
        engine = database.engine()
        with engine.begin() as connection:
            connection.execute(_SOURCES)
        fill(engine, 0, sizes[0])
        small = measure(engine)
        fill(engine, sizes[0], sizes[1])
        large = measure(engine)
    return {name: (small[name], large[name]) for name in small}


def run() -> list[Metric]:
    return [
        Metric(
            name=f"{name}, {LARGE:,} targets compared with {SMALL:,}",
            value=at_large,
            unit="ms",
            baseline=at_small,
            ratio=at_large / at_small,
            limit=LIMIT,
            less_is_better=True,
        )
        for name, (at_small, at_large) in compare().items()
    ]
