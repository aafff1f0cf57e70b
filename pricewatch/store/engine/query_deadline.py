"""Connections that are closed when the server does not answer a query within a deadline.

libpq waits forever for a server that accepts data and sends nothing. TCP keepalives do not help: the kernel
of a frozen machine, or a proxy that stopped forwarding, still acknowledges packets.
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

CHECK_SECONDS = 0.5
# The deadline of each connection that waits for an answer.
_deadlines: dict[DeadlineConnection, float] = {}
_is_watching = threading.Event()


class DeadlineConnection(PlainConnection):  # type: ignore[misc]
    """Wait `answer_seconds` seconds for each answer; None means no limit."""

    answer_seconds: float | None = None

    def cursor(self, *args: Any, **kwargs: Any) -> Any:
        kwargs.setdefault("cursor_factory", DeadlineCursor)
        return super().cursor(*args, **kwargs)

    def commit(self) -> None:
        with _deadline(self):
            super().commit()

    def rollback(self) -> None:
        with _deadline(self):
            super().rollback()


class DeadlineCursor(PlainCursor):  # type: ignore[misc]
    def execute(self, *args: Any) -> None:
        with _deadline(self.connection):
            super().execute(*args)

    def fetchmany(self, *args: Any) -> Any:
        """Named cursors query the server here."""
        with _deadline(self.connection):
            return super().fetchmany(*args)


def connection_class(seconds: float) -> type[DeadlineConnection]:
    """Return a connection class with this deadline."""
    return type("Connection", (DeadlineConnection,), {"answer_seconds": seconds})


@contextmanager
def _deadline(connection: DeadlineConnection) -> Iterator[None]:
    if connection.answer_seconds is None:
        yield
        return
    if not _is_watching.is_set():
        _is_watching.set()
        threading.Thread(target=_watch, name="pricewatch-deadlines", daemon=True).start()
    _deadlines[connection] = time.monotonic() + connection.answer_seconds
    try:
        yield
    finally:
        _deadlines.pop(connection, None)


def _watch() -> None:
    while True:
        time.sleep(CHECK_SECONDS)
        now = time.monotonic()
        for connection, deadline in _deadlines.copy().items():
            if deadline < now:
                _shut_down(connection)


def _shut_down(connection: DeadlineConnection) -> None:
    """Make the waiting query fail as if the server had closed the connection."""
    with suppress(OSError, ValueError), socket.socket(fileno=os.dup(connection.fileno())) as duplicate:
        duplicate.shutdown(socket.SHUT_RDWR)


# The watching thread does not exist in a forked child.
os.register_at_fork(after_in_child=_deadlines.clear)
os.register_at_fork(after_in_child=_is_watching.clear)
