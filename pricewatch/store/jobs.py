"""Jobs: what somebody wants to run, waiting for a node that has room."""

from __future__ import annotations

import uuid
from datetime import datetime

from sqlalchemy import Connection, func, insert, select

from pricewatch.store.models.jobs import Job


def enqueue(
    connection: Connection,
    spider: str,
    arguments: dict[str, str],
    priority: float = 0.0,
    requested_by: str = "pricewatch",
) -> str:
    job_id = uuid.uuid4().hex
    connection.execute(
        insert(Job).values(
            id=job_id, spider=spider, arguments=arguments, priority=priority, requested_by=requested_by
        )
    )
    return job_id


def oldest_pending(connection: Connection) -> datetime | None:
    """Since when the job waits that has waited longest."""
    return connection.execute(select(func.min(Job.queued_at)).where(Job.status == "pending")).scalar()
