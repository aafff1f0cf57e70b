"""How long somebody waits who gave wrong passwords."""

from __future__ import annotations

from datetime import datetime, timedelta

FREE_FAILURES = 4
LONGEST_WAIT = timedelta(minutes=15)
FORGOTTEN_AFTER = timedelta(hours=1)


def wait_until(failures: int, last_at: datetime) -> datetime:
    """From the fifth failure on a second, doubled with each one more, at most a quarter of an hour."""
    over = failures - FREE_FAILURES
    if over <= 0:
        return last_at
    return last_at + min(LONGEST_WAIT, timedelta(seconds=2 ** min(over - 1, 20)))
