"""How long logins are delayed after wrong passwords."""

from __future__ import annotations

from datetime import datetime, timedelta

FREE_FAILURES = 4
LONGEST_WAIT = timedelta(minutes=15)
FORGOTTEN_AFTER = timedelta(hours=1)


def wait_until(failures: int, last_at: datetime) -> datetime:
    """Return when the next attempt is allowed: 1 s after the fifth failure, doubled up to 15 minutes."""
    over = failures - FREE_FAILURES
    if over <= 0:
        return last_at
    return last_at + min(LONGEST_WAIT, timedelta(seconds=2 ** min(over - 1, 20)))
