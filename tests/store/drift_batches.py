"""Sample batches of adapters, and runs that end with them."""

from __future__ import annotations

from datetime import timedelta

from pricewatch.rules.drift_thresholds import DriftBatch
from pricewatch.store.operations import adapter_batches
from pricewatch.store.writing import run_rows
from tests.databases import Database
from tests.store.sample_targets import NOW

GOOD = DriftBatch(attempted=30, failed=3, extracted=27, valid=27)
BAD = DriftBatch(attempted=30, failed=28, extracted=2, valid=2)
POOR = DriftBatch(attempted=30, failed=5, extracted=25, valid=5, dropped=20)


def end_run(database: Database, batches: dict[str, DriftBatch], hours: float = 0.0, source: str = "s") -> int:
    """Open a run that read a source with these adapters, and judge it; return its id."""
    # Runs of one process must not start at the same time.
    now = NOW + timedelta(hours=hours, seconds=database.value("SELECT count(*) FROM runs"))
    run_id: int = database.call(run_rows.open_run, now=now, spider="targets")
    database.call(
        adapter_batches.judge_run, run_id, {(name, source): batch for name, batch in batches.items()}, now
    )
    return run_id
