"""The runs of a job that is over: one whose process was killed could not close its own."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, text

from pricewatch.store.writing import market_rows, run_rows

_LEFT_OPEN = text("""
SELECT id, spider, market_id FROM runs WHERE job_id = :job_id AND status = 'running' ORDER BY id FOR UPDATE
""")


def close_left(connection: Connection, job_id: str, now: datetime, *, why: str, failed: bool) -> int:
    """Close what a job's process left open; a failure counts against its market. Says how many."""
    left = connection.execute(_LEFT_OPEN, {"job_id": job_id}).all()
    for run in left:
        run_rows.mark_stale(connection, run.id, now, why)
        if failed and run.market_id is not None:
            market_rows.note_run(
                connection, run.market_id, spider=run.spider, status="failed", at=now, failed=True
            )
    return len(left)
