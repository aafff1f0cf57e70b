"""Which product pages are read again, and when."""

from __future__ import annotations

from datetime import datetime, timedelta

REFRESH_HOURS = 24
MOST_PER_RUN = 100
RETRY_MINUTES = 60


def due_after_answer(read_at: datetime, *, refresh_hours: float = REFRESH_HOURS) -> datetime:
    """A page came. What it gave is good for a day; if it gave nothing, it will hardly give more before."""
    return read_at + timedelta(hours=refresh_hours)


def due_after_trouble(tried_at: datetime, *, retry_minutes: float = RETRY_MINUTES) -> datetime:
    """Soon again, but behind those that were never tried: a page that cannot be read starves no other."""
    return tried_at + timedelta(minutes=retry_minutes)


def is_due(due_at: datetime | None, now: datetime) -> bool:
    """Never read, or older than a day."""
    return due_at is None or due_at <= now


def in_order(due: list[tuple[int, datetime | None]], now: datetime, most: int = MOST_PER_RUN) -> list[int]:
    """Never-read ones first, then those that are due for longest."""
    wanted = [(listing_id, due_at) for listing_id, due_at in due if is_due(due_at, now)]
    wanted.sort(key=lambda each: (each[1] is not None, each[1] or now, each[0]))
    return [listing_id for listing_id, _ in wanted[:most]]
