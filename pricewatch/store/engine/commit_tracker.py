"""The connection of a run's database thread; of each commit it can be told whether it happened."""

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
    """Something that a transaction does; it knows when that has been committed."""

    stored: bool


@dataclass(slots=True)
class _Doubt:
    """A commit whose answer was lost: only the database knows whether it happened."""

    work: Sequence[Work]
    beat: datetime


class CommitTracker:
    """A connection that is made when it is needed. Each transaction of a run leaves a mark on its row."""

    def __init__(self, engine: Engine):
        self.run_id = 0
        self._engine = engine
        self._connection: Connection | None = None
        self._doubt: _Doubt | None = None
        self._last_beat: datetime | None = None

    def connect(self) -> Connection:
        """The connection, once a commit that got no answer before is no longer in doubt."""
        if self._connection is None:
            self._connection = self._engine.connect()
        if self._doubt is not None:
            self._settle(self._connection, self._doubt)
            self._doubt = None
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
        """A transaction of which can be told later, if its commit gets no answer, whether it happened."""
        with connection.begin():
            yield
            if self.run_id:
                beat = self._next_beat()
                run_rows.beat(connection, self.run_id, beat)
                self._doubt = _Doubt(work, beat)
        self._doubt = None
        for each in work:
            each.stored = True

    def _next_beat(self) -> datetime:
        """No two transactions have the same, however fast they are."""
        now = clock.now()
        if self._last_beat is not None and now <= self._last_beat:
            now = self._last_beat + timedelta(microseconds=1)
        self._last_beat = now
        return now

    def _settle(self, connection: Connection, doubt: _Doubt) -> None:
        """Ask whether a commit that got no answer has happened, so that nothing is written twice."""
        with connection.begin():
            committed = run_rows.has_beaten(connection, self.run_id, doubt.beat)
        if committed:
            for each in doubt.work:
                each.stored = True
