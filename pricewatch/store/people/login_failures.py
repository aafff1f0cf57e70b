"""Wrong passwords and tokens, counted on all nodes together.

Attempts with the same key follow one another: an attempt holds the locks of its keys while it is checked, so
that others cannot be checked at the same time and before its failure is counted.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, bindparam, case, delete, select, text
from sqlalchemy.dialects.postgresql import insert

from pricewatch.rules.access.login_delay import FORGOTTEN_AFTER, delay, delay_of_total
from pricewatch.store.models import LoginFailure

LOCKS = 0x70770902
# The oldest rows are deleted beyond this number, however many addresses an attacker has.
MOST_ROWS = 10_000

_LOCK = text("SELECT pg_advisory_xact_lock(:locks, key) FROM unnest(CAST(:keys AS integer[])) AS key")
_DELETE_OLDEST = text("""
DELETE FROM login_failures WHERE address IN (
    SELECT address FROM login_failures ORDER BY last_at DESC OFFSET :most FOR UPDATE SKIP LOCKED)
""")


@dataclass(frozen=True, slots=True)
class FailureKeys:
    """`pair` counts consecutive failures of a name from an address; `totals` count failures per hour."""

    pair: str
    totals: Sequence[str] = ()

    @classmethod
    def of(cls, address: str, name: str, *, is_known: bool, count_address: bool) -> FailureKeys:
        """Count per address only if it is the client's: everybody behind a proxy has the proxy's address."""
        totals = [f"* {name}"] if is_known else []
        if count_address:
            totals.append(address)
        return cls(f"{address} {name}", totals)


def lock(connection: Connection, keys: FailureKeys) -> None:
    """Wait until no other attempt with one of these keys is being checked; ends with the transaction."""
    numbers = sorted({zlib.crc32(key.encode()) - 2**31 for key in (keys.pair, *keys.totals)})
    connection.execute(_LOCK, {"locks": LOCKS, "keys": numbers})


def seconds_to_wait(connection: Connection, keys: FailureKeys, now: datetime) -> float:
    """Return how many seconds must pass before the next attempt."""
    rows = connection.execute(
        select(LoginFailure.key, LoginFailure.failures, LoginFailure.last_at, LoginFailure.since_at).where(
            LoginFailure.key.in_((keys.pair, *keys.totals))
        )
    )
    waits = [0.0]
    for key, failures, last_at, since_at in rows:
        begins = last_at if key == keys.pair else since_at or last_at
        if wait := delay(failures) if key == keys.pair else delay_of_total(failures):
            waits.append((begins + wait - now).total_seconds())
    return max(waits)


def add(connection: Connection, keys: FailureKeys, now: datetime) -> int:
    """Count a failure and return the number of consecutive failures of the pair."""
    for total in keys.totals:
        _add_one(connection, total, now, LoginFailure.since_at > now - FORGOTTEN_AFTER)
    failures = _add_one(connection, keys.pair, now, LoginFailure.last_at > now - FORGOTTEN_AFTER)
    if failures == 1:
        connection.execute(_DELETE_OLDEST, {"most": MOST_ROWS})
    return failures


def clear(connection: Connection, keys: FailureKeys) -> None:
    """Forget the failures of the pair. The totals stay: a login of one's own must not reset them."""
    connection.execute(delete(LoginFailure).where(LoginFailure.key == keys.pair))


def delete_expired(connection: Connection, now: datetime) -> None:
    """Delete failures that are too old to delay a login."""
    connection.execute(delete(LoginFailure).where(LoginFailure.last_at < now - FORGOTTEN_AFTER))


def _add_one(connection: Connection, key: str, now: datetime, is_recent: ColumnElement[bool]) -> int:
    statement = insert(LoginFailure).values(key=bindparam("failed"), failures=1, last_at=now, since_at=now)
    statement = statement.on_conflict_do_update(
        index_elements=[LoginFailure.key],
        set_={
            "failures": case((is_recent, LoginFailure.failures + 1), else_=1),
            "since_at": case((is_recent, LoginFailure.since_at), else_=now),
            "last_at": now,
        },
    )
    return int(connection.execute(statement.returning(LoginFailure.failures), {"failed": key}).scalar_one())
