"""Claiming due targets at ten thousand and at a million: `python -m tests.bench targets`.

A scheduling cycle that lets 500 in, and a worker that leases 50, must cost what they take, not what the
table holds: at most three times as long at a hundred times the size.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from statistics import median

from sqlalchemy import Engine, text

from pricewatch.rules.target_schedule import Limits
from pricewatch.store.engine import database
from pricewatch.store.queues import target_leases, target_queue
from tests.bench.figure import Figure, rounds
from tests.bench.progress import say
from tests.bench.workplace import workplace

SMALL, LARGE = 10_000, 1_000_000
BAR = 3.0
ROUNDS = 12
LET_IN, LEASED = 500, 50
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
LIMITS = Limits(most_pending=LET_IN, most_pending_per_source=LET_IN // 4, longest_backlog=0)

_SOURCES = text("""
INSERT INTO sources (id, name, adapter_id, domain, base_url, tos_approved_by)
SELECT 'shop' || n, 'shop' || n, 'adapter' || n % 5, 'shop' || n || '.example', 'https://shop.example', 'Ada'
FROM generate_series(0, 19) AS n
""")
# All of them are due at once, as they are when everybody keeps the default schedule.
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
            say(f"{end:,} targets")
            connection.execute(_TARGETS, {"first": begin, "last": end, "now": NOW})
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE targets"))


def measure(engine: Engine) -> dict[str, float]:
    """Median milliseconds of a cycle and of a lease, with everything committed as in real life."""
    cycles: list[float] = []
    leases: list[float] = []
    for number in range(rounds(ROUNDS)):
        now = NOW + timedelta(minutes=number)
        began = time.perf_counter()
        with engine.begin() as connection:
            admission = target_queue.schedule(connection, now, LIMITS)
        cycles.append(1000 * (time.perf_counter() - began))
        if len(admission.accepted) != LET_IN:
            raise SystemExit(f"{len(admission.accepted)} were let in instead of {LET_IN}")
        for _ in range(LET_IN // LEASED):
            began = time.perf_counter()
            with engine.begin() as connection:
                leased = target_leases.lease(connection, "bench", now, seconds=300, most=LEASED)
            leases.append(1000 * (time.perf_counter() - began))
            if len(leased) != LEASED:
                raise SystemExit(f"{len(leased)} were leased instead of {LEASED}")
        with engine.begin() as connection:
            connection.execute(_FINISH, {"later": now + timedelta(hours=4)})
    return {
        f"scheduling cycle that lets {LET_IN} in": median(cycles),
        f"lease of {LEASED} targets": median(leases),
    }


def compare(sizes: tuple[int, int] = (SMALL, LARGE)) -> dict[str, tuple[float, float]]:
    with workplace():
        engine = database.engine()
        with engine.begin() as connection:
            connection.execute(_SOURCES)
        fill(engine, 0, sizes[0])
        small = measure(engine)
        fill(engine, sizes[0], sizes[1])
        large = measure(engine)
    return {name: (small[name], large[name]) for name in small}


def run() -> list[Figure]:
    return [
        Figure(
            name=f"{name}, {LARGE:,} targets against {SMALL:,}",
            value=at_large,
            unit="ms",
            baseline=at_small,
            ratio=at_large / at_small,
            bar=BAR,
            less_is_better=True,
        )
        for name, (at_small, at_large) in compare().items()
    ]
