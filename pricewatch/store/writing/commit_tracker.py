"""The connection of a run's database thread, and the outcome of commits whose acknowledgement was lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from pricewatch import clock
from pricewatch.store.writing import run_rows


class Work(Protocol):
    """Work done in a transaction; `stored` is set once the transaction is committed."""

    stored: bool


@dataclass(slots=True)
class _UnknownCommit:
    """A commit that was sent and not acknowledged."""

    work: Sequence[Work]
    heartbeat: datetime


class CommitTracker:
    """Open the connection on demand, and write a unique heartbeat to the run's row in each transaction."""

    def __init__(self, engine: Engine):
        self.run_id = 0
        self._engine = engine
        self._connection: Connection | None = None
        self._unknown: _UnknownCommit | None = None
        self._last_heartbeat: datetime | None = None

    def connect(self) -> Connection:
        """Return the connection, after checking the outcome of a commit that was not acknowledged."""
        if self._connection is None:
            self._connection = self._engine.connect()
        if self._unknown is not None:
            self._check_outcome(self._connection, self._unknown)
            self._unknown = None
        return self._connection

    def disconnect(self) -> None:
        if self._connection is not None:
            try:
                self._connection.close()
            except DBAPIError:
                self._connection.invalidate()
            self._connection = None

    @contextmanager
    def transaction(self, connection: Connection, work: Sequence[Work]) -> Iterator[None]:
        """A transaction whose outcome can be checked after the connection is lost."""
        with connection.begin():
            yield
            if self.run_id:
                heartbeat = self._next_heartbeat()
                run_rows.write_heartbeat(connection, self.run_id, heartbeat)
                self._unknown = _UnknownCommit(work, heartbeat)
        self._unknown = None
        for each in work:
            each.stored = True

    def _next_heartbeat(self) -> datetime:
        """Return a time that no earlier transaction has used."""
        now = clock.now()
        if self._last_heartbeat is not None and now <= self._last_heartbeat:
            now = self._last_heartbeat + timedelta(microseconds=1)
        self._last_heartbeat = now
        return now

    def _check_outcome(self, connection: Connection, unknown: _UnknownCommit) -> None:
        """Find out whether the commit succeeded, so that nothing is written twice."""
        with connection.begin():
            committed = run_rows.has_heartbeat(connection, self.run_id, unknown.heartbeat)
        if committed:
            for each in unknown.work:
                each.stored = True
