"""Reservations in PostgreSQL survive a crash of the server."""

from __future__ import annotations

from sqlalchemy import text

from pricewatch.fetching.rate_limit.backend import Refusal
from pricewatch.fetching.rate_limit.postgres import PostgresBackend
from pricewatch.rules.request_budget import Limit
from tests.databases import Database, Server

SLOW = Limit(10.0, 8)


def test_reservations_made_before_a_crash_still_count(database: Database, server: Server) -> None:
    """The processes that made them do not notice the crash, and send their requests."""

    def reserve(ticket: str) -> float | Refusal:
        with database.engine.connect() as connection:
            # The server of the tests disables it for speed.
            connection.execute(text("SET synchronous_commit = on"))
            connection.commit()
            backend = PostgresBackend(lambda: connection)
            return backend.reserve("slow-test.com", ticket, SLOW, max_wait=900, lease=15)

    assert [round(float(reserve(ticket))) for ticket in "abc"] == [0, 10, 20]
    server.restart("immediate")
    database.engine.dispose()
    assert float(reserve("d")) > 10
