"""The dispatch tick at 100 markets and 10 k targets, and at 10 k markets and 1 M targets.

The same number is due in both: the cost of a tick depends on what is due, and must grow at most threefold.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from statistics import median

from sqlalchemy import Engine, text

from pricewatch.rules.target_schedule import QueueLimits
from pricewatch.scheduling.dispatch_settings import DispatchSettings
from pricewatch.scheduling.dispatcher import dispatch_once
from pricewatch.store.engine import database
from tests.bench.metric import Metric, rounds
from tests.bench.progress import show_progress
from tests.bench.targets import fill
from tests.bench.temporary_database import temporary_database

SMALL, LARGE = (100, 10_000), (10_000, 1_000_000)
DUE_MARKETS, DUE_TARGETS = 50, 200
LIMIT = 3.0
ROUNDS = 15
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
PLAN = DispatchSettings(
    limits=QueueLimits(most_pending=100_000, most_pending_per_source=100_000, longest_backlog=0),
    most_pending=10**6,
)

_SOURCES = text("""
INSERT INTO sources (id, name, adapter_id, domain, base_url, tos_approved_by)
SELECT 'shop' || n, 'shop' || n, 'adapter' || n % 5, 'shop' || n || '.example', 'https://shop.example', 'Ada'
FROM generate_series(0, 19) AS n
""")
# No market is due: all spiders have just run.
_MARKETS = text("""
INSERT INTO markets (id, source_id, display_name, start_pages, tier,
                     last_discovery_at, last_sweep_at, last_verification_at)
SELECT 'm' || n, 'shop' || n % 20, 'market', '["/"]', (ARRAY['hot', 'standard', 'cool'])[n % 3 + 1],
       :now, :now, :now
FROM generate_series(CAST(:first AS integer), :last - 1) AS n
""")
_DUE_MARKETS = text("""
UPDATE markets SET last_discovery_at = :now - interval '3 h', last_sweep_at = :now,
                   last_verification_at = :now
WHERE id IN (SELECT 'm' || n FROM generate_series(CAST(:first AS integer), :first + :due - 1) AS n)
""")
_CRAWLED = text("UPDATE markets SET last_discovery_at = :now WHERE id LIKE 'm%' AND last_discovery_at < :now")
_LATER = text("UPDATE targets SET next_due_at = :later, queue_state = 'idle', queued_at = NULL")
_DUE_TARGETS = text("UPDATE targets SET next_due_at = :now WHERE id % (:total / :due) = 0")
_DONE = text(
    "UPDATE targets SET queue_state = 'idle', queued_at = NULL, next_due_at = :later"
    " WHERE queue_state = 'pending'"
)
_NO_JOBS = text("DELETE FROM jobs")


def grow(engine: Engine, before: tuple[int, int], after: tuple[int, int]) -> None:
    with engine.begin() as connection:
        connection.execute(_MARKETS, {"first": before[0], "last": after[0], "now": NOW})
    fill(engine, before[1], after[1])
    with engine.begin() as connection:
        connection.execute(_LATER, {"later": NOW + timedelta(days=30)})
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM FULL targets"))
        connection.execute(text("VACUUM ANALYZE"))


def measure(engine: Engine, size: tuple[int, int]) -> float:
    """Return the median milliseconds of a tick, including the commit."""
    times = []
    for number in range(rounds(ROUNDS)):
        show_progress(f"tick {number + 1} at {size[1]:,} targets")
        now = NOW + timedelta(seconds=number)
        with engine.begin() as connection:
            connection.execute(
                _DUE_MARKETS, {"now": now, "first": number % 2 * DUE_MARKETS, "due": DUE_MARKETS}
            )
            connection.execute(_DUE_TARGETS, {"now": now, "total": size[1], "due": DUE_TARGETS})
        began = time.perf_counter()
        done = dispatch_once(engine.begin, PLAN, node="bench", silence=timedelta(minutes=1), now=now)
        times.append(1000 * (time.perf_counter() - began))
        if done is None or done.started != DUE_MARKETS + 1 or len(done.targets.accepted) != DUE_TARGETS:
            raise SystemExit(f"the tick started {done and done.started} jobs")
        with engine.begin() as connection:
            connection.execute(_NO_JOBS)
            connection.execute(_CRAWLED, {"now": now})
            connection.execute(_DONE, {"later": NOW + timedelta(days=30)})
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM targets, markets, jobs"))
    return median(times)


def run() -> list[Metric]:
    with temporary_database():
        engine = database.engine()
        with engine.begin() as connection:
            connection.execute(text("UPDATE markets SET enabled = false"))
            connection.execute(_SOURCES)
        grow(engine, (0, 0), SMALL)
        small = measure(engine, SMALL)
        grow(engine, SMALL, LARGE)
        large = measure(engine, LARGE)
    metric = Metric(
        name="dispatch tick",
        value=large,
        unit="ms",
        baseline=small,
        ratio=large / small,
        limit=LIMIT,
        goal=2.0,
        less_is_better=True,
        note=f"{LARGE[0]:,} markets and {LARGE[1]:,} targets, compared with {SMALL[0]} and {SMALL[1]:,}; "
        f"{DUE_MARKETS} markets and {DUE_TARGETS} targets due in both",
    )
    return [metric]
