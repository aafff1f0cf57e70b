"""Metrics of runs: each run stores its totals, and those of finished runs are added up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection, text

# The values are totals of the run, so writing them twice has no effect.
_SAVE = text("""
INSERT INTO run_figures (run_id, key, value)
SELECT :run_id, key, value::float8 FROM json_each_text(CAST(:values AS json))
ON CONFLICT (run_id, key) DO UPDATE SET value = excluded.value WHERE run_figures.value <> excluded.value
""")
# One statement, so that the values of a run are added exactly once, even if two processes run it.
_ADD_UP = text("""
WITH ended AS (
    DELETE FROM run_figures f USING runs r WHERE r.id = f.run_id AND r.status <> 'running'
    RETURNING f.key, f.value
)
INSERT INTO figures (key, value, updated_at)
SELECT key, sum(value), :now FROM ended GROUP BY key ORDER BY key
ON CONFLICT (key) DO UPDATE SET value = figures.value + excluded.value, updated_at = excluded.updated_at
""")
_COUNT = text("""
INSERT INTO figures (key, value, updated_at) VALUES (:key, :amount, :now)
ON CONFLICT (key) DO UPDATE SET value = figures.value + :amount, updated_at = :now
""")
_TOTALS = text("""
SELECT key, sum(value) FROM (
    SELECT key, value FROM figures UNION ALL SELECT key, value FROM run_figures
) AS each GROUP BY key
""")


def save_run_metrics(connection: Connection, run_id: int, values: Mapping[str, float]) -> None:
    """Store the metrics of a run so far."""
    if values:
        connection.execute(_SAVE, {"run_id": run_id, "values": json.dumps(values)})


def increase(connection: Connection, key: str, now: datetime, amount: float = 1) -> None:
    """Increase a metric outside of a run."""
    connection.execute(_COUNT, {"key": key, "amount": amount, "now": now})


def add_finished_runs(connection: Connection, now: datetime) -> None:
    """Add the metrics of finished runs to the totals."""
    connection.execute(_ADD_UP, {"now": now})


def totals(connection: Connection) -> dict[str, float]:
    """Return the sum of each metric over all runs, finished or not."""
    return {key: float(value) for key, value in connection.execute(_TOTALS)}
