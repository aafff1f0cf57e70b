"""When product pages are read again, and in which order."""

from __future__ import annotations

from datetime import datetime, timedelta

REFRESH_HOURS = 24
MOST_PER_RUN = 100
RETRY_MINUTES = 60


def due_after_answer(read_at: datetime, *, refresh_hours: float = REFRESH_HOURS) -> datetime:
    """Return when a page that was received is due again, whether or not it had an offer."""
    return read_at + timedelta(hours=refresh_hours)


def due_after_trouble(tried_at: datetime, *, retry_minutes: float = RETRY_MINUTES) -> datetime:
    """Return when a failed fetch is retried: soon, but after pages that were never tried."""
    return tried_at + timedelta(minutes=retry_minutes)


def is_due(due_at: datetime | None, now: datetime) -> bool:
    """Return whether a page was never read or its due date has passed."""
    return due_at is None or due_at <= now


def in_order(due: list[tuple[int, datetime | None]], now: datetime, most: int = MOST_PER_RUN) -> list[int]:
    """Return the ids to read: pages never read first, then the longest overdue."""
    candidates = [(listing_id, due_at) for listing_id, due_at in due if is_due(due_at, now)]
    candidates.sort(key=lambda each: (each[1] is not None, each[1] or now, each[0]))
    return [listing_id for listing_id, _ in candidates[:most]]
