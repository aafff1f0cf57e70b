"""Connections that hang up on a server which owes an answer for too long.

libpq waits for ever for a server that is there but silent, and neither keepalives nor TCP notice: a machine
that is frozen, or a proxy that has stopped forwarding, still acknowledges what it is sent.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from psycopg2.extensions import connection as PlainConnection  # noqa: N812 - a class in small letters
from psycopg2.extensions import cursor as PlainCursor  # noqa: N812

LOOK_SECONDS = 0.5
# By connection: until when its answer must be there.
_owed: dict[DeadlineConnection, float] = {}
_watching = threading.Event()


class DeadlineConnection(PlainConnection):  # type: ignore[misc]
    """Waits `patience` seconds for each answer, and for ever where that is None."""

    patience: float | None = None

    def cursor(self, *args: Any, **kwargs: Any) -> Any:
        kwargs.setdefault("cursor_factory", DeadlineCursor)
        return super().cursor(*args, **kwargs)

    def commit(self) -> None:
        with owed(self):
            super().commit()

    def rollback(self) -> None:
        with owed(self):
            super().rollback()


class DeadlineCursor(PlainCursor):  # type: ignore[misc]
    def execute(self, *args: Any) -> None:
        with owed(self.connection):
            super().execute(*args)

    def fetchmany(self, *args: Any) -> Any:
        """A named cursor asks the server for these."""
        with owed(self.connection):
            return super().fetchmany(*args)


def patient(seconds: float) -> type[DeadlineConnection]:
    return type("Connection", (DeadlineConnection,), {"patience": seconds})


@contextmanager
def owed(connection: DeadlineConnection) -> Iterator[None]:
    if connection.patience is None:
        yield
        return
    if not _watching.is_set():
        _watching.set()
        threading.Thread(target=_watch, name="pricewatch-overdue", daemon=True).start()
    _owed[connection] = time.monotonic() + connection.patience
    try:
        yield
    finally:
        _owed.pop(connection, None)


def _watch() -> None:
    while True:
        time.sleep(LOOK_SECONDS)
        now = time.monotonic()
        for connection, deadline in _owed.copy().items():
            if deadline < now:
                _hang_up(connection)


def _hang_up(connection: DeadlineConnection) -> None:
    """Whoever waits for it is told that the server closed the connection."""
    with suppress(OSError, ValueError), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


# A thread does not survive a fork.
os.register_at_fork(after_in_child=_owed.clear)
os.register_at_fork(after_in_child=_watching.clear)
