"""Outages of the database and commits without acknowledgement: nothing is lost or stored twice."""

from __future__ import annotations

import asyncio

import psycopg2.extensions
import pytest
from sqlalchemy import Connection, create_engine, text

from pricewatch.errors import DatabaseUnavailable
from pricewatch.store.writing import run_rows
from pricewatch.store.writing.batch import WriteCounts, WriteUnit
from pricewatch.store.writing.writer import Writer
from tests.databases import Database, Server
from tests.store.observations import MARKET, START, card
from tests.store.writer_harness import WriterHarness, check_all_stored_once, run


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_nothing_is_lost_or_stored_twice_when_the_server_restarts(
    server: Server, database: Database, mode: str
) -> None:
    """The server is stopped cleanly, or crashes, while pages are written."""
    # Tests turn synchronous commits off, and a crash would lose committed transactions.
    database.do(f"ALTER DATABASE {database.engine.url.database} SET synchronous_commit = on")
    database.engine.dispose()

    async def crawl() -> None:
        harness = WriterHarness(database, max_wait_ms=1, max_pending=8)

        async def produce(pages: range) -> None:
            for number in pages:
                await harness.writer.write(harness.page(number, 10, 20, 30))

        for part in range(2):
            producer = asyncio.create_task(produce(range(part * 150, part * 150 + 150)))
            await harness.has_started.wait()
            await asyncio.to_thread(server.restart, mode)
            await producer
            await harness.writer.flush()
            harness.has_started.clear()
        await harness.writer.close()
        assert harness.failures == []

    run(crawl())
    check_all_stored_once(database, 300, 3)


def test_a_long_outage_fails_the_run_without_partial_writes(server: Server, database: Database) -> None:
    async def crawl() -> None:
        harness = WriterHarness(database, retry_seconds=0.5, max_wait_ms=0)
        await harness.writer.write(harness.page(1, waits=True))
        await asyncio.to_thread(server.stop)
        try:
            message = "The database was unavailable for 0 seconds .*the next one continues from what is"
            with pytest.raises(DatabaseUnavailable, match=message):
                await harness.writer.write(harness.page(2, waits=True))
            with pytest.raises(DatabaseUnavailable):
                await harness.writer.call(lambda _: None)
            await harness.writer.write(harness.page(3))
            await harness.writer.close()
        finally:
            await asyncio.to_thread(server.start)
        assert len(harness.failures) == 1
        assert harness.refused == []

    run(crawl())
    check_all_stored_once(database, 1)


class UnreliableConnection(psycopg2.extensions.connection):  # type: ignore[misc]
    """A connection that is lost during a commit, before or after the server has committed."""

    outcomes: list[str] = []  # noqa: RUF012 - shared with the test on purpose

    def commit(self) -> None:
        outcome = self.outcomes.pop(0) if self.outcomes else "succeeds"
        if outcome != "lost before":
            super().commit()
        if outcome != "succeeds":
            self.close()
            raise psycopg2.OperationalError("server closed the connection unexpectedly")


@pytest.mark.parametrize("outcome", ["lost before", "lost after"])
def test_a_commit_without_acknowledgement_is_not_repeated(database: Database, outcome: str) -> None:
    engine = create_engine(database.engine.url, connect_args={"connection_factory": UnreliableConnection})

    def add(connection: Connection) -> int:
        return connection.execute(text("UPDATE markets SET sweep_cycle_seen = sweep_cycle_seen + 1")).rowcount

    async def crawl() -> None:
        harness = WriterHarness(database, engine=engine)
        await harness.writer.flush()
        UnreliableConnection.outcomes = [outcome]
        await harness.writer.write(harness.page(1, 10, 20, waits=True))
        # One of three units is refused, so each of the others is committed separately.
        UnreliableConnection.outcomes = ["succeeds", outcome, outcome]
        units = [harness.page(2, 10, 20), WriteUnit([card("bad")], _fail), harness.page(3, 10, 20)]
        await asyncio.gather(*(harness.writer.write(unit) for unit in units))
        await harness.writer.flush()
        UnreliableConnection.outcomes = [outcome]
        assert await harness.writer.call(add) > 0
        await harness.writer.close()
        assert len(harness.stored) == 3

    run(crawl())
    engine.dispose()
    check_all_stored_once(database, 3, 2)
    assert database.value("SELECT DISTINCT sweep_cycle_seen FROM markets") == 1


def test_a_run_is_opened_once_if_the_acknowledgement_is_lost(database: Database) -> None:
    engine = create_engine(database.engine.url, connect_args={"connection_factory": UnreliableConnection})

    def open_run(connection: Connection) -> int:
        return run_rows.open_run(connection, now=START, spider="sweep", market_id=MARKET)

    async def crawl() -> None:
        writer = Writer(engine)
        # SQLAlchemy commits once by itself when it first connects.
        await writer.flush()
        UnreliableConnection.outcomes = ["lost after"]
        assert await writer.call(open_run) == 1
        await writer.close()

    run(crawl())
    engine.dispose()
    assert database.value("SELECT count(*) FROM runs") == 1


def _fail(connection: Connection, _: WriteCounts) -> None:
    connection.execute(text("SELECT 1 / 0"))
