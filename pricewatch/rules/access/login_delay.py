"""How long logins are delayed after wrong passwords.

Failures of one name from one address delay the next attempt longer and longer. In addition, a name has a
maximum number of failures per hour from all addresses together, and an address for all names together.
"""

from __future__ import annotations

import zlib
from datetime import timedelta

FREE_FAILURES = 4
LONGEST_WAIT = timedelta(minutes=15)
FORGOTTEN_AFTER = timedelta(hours=1)
# Wrong passwords per hour for one name, and from one address.
MOST_PER_HOUR = 90
# An attacker can invent any number of names; they share this many counters per address.
UNKNOWN_NAMES = 16


def delay(failures: int) -> timedelta:
    """Return the time from the last failure to the next attempt: 1 s after five, doubled up to 15 minutes."""
    over = failures - FREE_FAILURES
    if over <= 0:
        return timedelta()
    return min(LONGEST_WAIT, timedelta(seconds=2 ** min(over - 1, 20)))


def delay_of_total(failures: int) -> timedelta:
    """Return the time from the first failure of an hour to the next attempt, if the hour had too many."""
    return timedelta() if failures < MOST_PER_HOUR else FORGOTTEN_AFTER


def unknown_name(name: str) -> str:
    """Return the counter of a name that nobody has; it cannot be the name of a person."""
    return f"?{zlib.crc32(name.encode(errors='replace')) % UNKNOWN_NAMES}"


def is_worth_recording(failures: int) -> bool:
    """Whether the audit log gets a row: for the first failure, the first delay, and every tenth failure."""
    return failures in (1, FREE_FAILURES + 1) or failures % 10 == 0
