"""The book of turns in PostgreSQL, when the server does not live on."""

from __future__ import annotations

from sqlalchemy import text

from pricewatch.rules.request_budget import Limit
from pricewatch.store.rate_limits import PostgresTurns
from tests.databases import Database, Server

SLOW = Limit(10.0, 8)


def test_turns_given_before_a_crash_still_count(database: Database, server: Server) -> None:
    """Those who wait for them were not told of the crash, and take them."""

    def reserve(*tickets: str) -> list[float]:
        with database.engine.connect() as connection:
            # The tests' server does without, to be quick.
            connection.execute(text("SET synchronous_commit = on"))
            connection.commit()
            turns = PostgresTurns(lambda: connection)
            grants = turns.reserve("slow-test.com", tickets, SLOW, horizon=900, lease=15)
        return [grant.wait for grant in grants]

    assert [round(wait) for wait in reserve("a", "b", "c")] == [0, 10, 20]
    server.restart("immediate")
    database.engine.dispose()
    (wait,) = reserve("d")
    assert wait > 10
