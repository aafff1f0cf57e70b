"""A database that comes and goes, and commits that get no answer: nothing is lost, nothing is doubled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import psycopg2.extensions
import pytest
from sqlalchemy import Connection, create_engine, text

from pricewatch.errors import DatabaseUnavailable
from pricewatch.store.writing import run_rows
from pricewatch.store.writing.batch import WriteCounts, WriteUnit
from pricewatch.store.writing.writer import Writer
from tests.databases import Database, Server
from tests.store.observations import MARKET, START, card
from tests.store.written import Written, check_all_stored_once, run


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_database_that_restarts_loses_and_doubles_nothing(
    server: Server, database: Database, mode: str
) -> None:
    """Stopped in order, and as if it had crashed, while pages keep coming."""
    # The server of the tests is in haste; a crash would take what it has said to have stored.
    database.do(f"ALTER DATABASE {database.engine.url.database} SET synchronous_commit = on")
    database.engine.dispose()

    async def crawl() -> None:
        written = Written(database, max_wait_ms=1, max_pending=8)

        async def bring(pages: range) -> None:
            for number in pages:
                await written.writer.write(written.page(number, 10, 20, 30))

        for part in range(2):
            bringing = asyncio.create_task(bring(range(part * 150, part * 150 + 150)))
            await written.under_way.wait()
            await asyncio.to_thread(server.restart, mode)
            await bringing
            await written.writer.flush()
            written.under_way.clear()
        await written.writer.close()
        assert written.failures == []

    run(crawl())
    check_all_stored_once(database, 300, 3)


def test_a_database_that_stays_away_fails_the_run_with_nothing_half_written(
    server: Server, database: Database
) -> None:
    async def crawl() -> None:
        written = Written(database, retry_seconds=0.5, max_wait_ms=0)
        await written.writer.write(written.page(1, waits=True))
        await asyncio.to_thread(server.stop)
        try:
            message = "The database was unavailable for 0 seconds .*the next one continues from what is"
            with pytest.raises(DatabaseUnavailable, match=message):
                await written.writer.write(written.page(2, waits=True))
            with pytest.raises(DatabaseUnavailable):
                await written.writer.call(lambda _: None)
            await written.writer.write(written.page(3))
            await written.writer.close()
        finally:
            await asyncio.to_thread(server.start)
        assert len(written.failures) == 1
        assert written.refused == []

    run(crawl())
    check_all_stored_once(database, 1)


class LosesAnswers(psycopg2.extensions.connection):  # type: ignore[misc]
    """A connection that breaks during a commit: before the server did it, or after."""

    plan: list[str] = []  # noqa: RUF012 - shared with the test on purpose

    def commit(self) -> None:
        fate = self.plan.pop(0) if self.plan else "works"
        if fate != "breaks before":
            super().commit()
        if fate != "works":
            self.close()
            raise psycopg2.OperationalError("server closed the connection unexpectedly")


@pytest.mark.parametrize("fate", ["breaks before", "breaks after"])
def test_a_commit_without_an_answer_is_not_made_twice(database: Database, fate: str) -> None:
    engine = create_engine(database.engine.url, connect_args={"connection_factory": LosesAnswers})

    def add(connection: Connection) -> int:
        return connection.execute(text("UPDATE markets SET sweep_cycle_seen = sweep_cycle_seen + 1")).rowcount

    async def crawl() -> None:
        written = Written(database, engine=engine)
        await written.writer.flush()
        LosesAnswers.plan = [fate]
        await written.writer.write(written.page(1, 10, 20, waits=True))
        # A batch of three of which one is refused: each unit has a commit of its own.
        LosesAnswers.plan = ["works", fate, fate]
        units = [written.page(2, 10, 20), WriteUnit([card("bad")], _impossible), written.page(3, 10, 20)]
        await asyncio.gather(*(written.writer.write(unit) for unit in units))
        await written.writer.flush()
        LosesAnswers.plan = [fate]
        assert await written.writer.call(add) > 0
        await written.writer.close()
        assert len(written.stored) == 3

    run(crawl())
    engine.dispose()
    check_all_stored_once(database, 3, 2)
    assert database.value("SELECT DISTINCT sweep_cycle_seen FROM markets") == 1


def test_a_run_that_is_opened_without_an_answer_is_opened_once(database: Database) -> None:
    engine = create_engine(database.engine.url, connect_args={"connection_factory": LosesAnswers})
    opening: Callable[[Connection], int] = lambda connection: run_rows.open_run(  # noqa: E731
        connection, now=START, spider="sweep", market_id=MARKET
    )

    async def crawl() -> None:
        writer = Writer(engine)
        # The first commit is SQLAlchemy's own, when it gets to know the server.
        await writer.flush()
        LosesAnswers.plan = ["breaks after"]
        assert await writer.call(opening) == 1
        await writer.close()

    run(crawl())
    engine.dispose()
    assert database.value("SELECT count(*) FROM runs") == 1


def _impossible(connection: Connection, _: WriteCounts) -> None:
    connection.execute(text("SELECT 1 / 0"))
