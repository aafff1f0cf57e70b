"""The database thread of a run: batches, a queue with an end, and a database that comes and goes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any

import psycopg2.extensions
import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError

from pricewatch.errors import DatabaseUnavailable
from pricewatch.items import PageOutcome
from pricewatch.store import runs
from pricewatch.store.batch import Tally, Unit
from pricewatch.store.listings import Raced
from pricewatch.store.writer import Writer
from tests.conftest import Database, Server
from tests.store.observations import MARKET, START, STEPS, card


class Written:
    """A writer with a run, and what it told."""

    def __init__(self, database: Database, **options: Any) -> None:
        engine = options.pop("engine", database.engine)
        self.run_id = database.call(runs.open_run, now=START, spider="sweep", market_id=MARKET)
        self.writer = Writer(engine, **options)
        self.writer.run_id = self.run_id
        self.writer.market_id = MARKET
        self.writer.steps = STEPS
        self.writer.on_batch = self._batch
        self.failures: list[DatabaseUnavailable] = []
        self.stored: list[Unit] = []
        self.refused: list[tuple[Unit, BaseException]] = []
        self.batches: list[int] = []
        self.under_way = asyncio.Event()
        self.writer.on_stored = self._stored
        self.writer.on_refused = lambda unit, error: self.refused.append((unit, error))
        self.writer.on_failure = self.failures.append

    def _stored(self, unit: Unit) -> None:
        self.stored.append(unit)
        if len(self.stored) % 20 == 0:
            self.under_way.set()

    def page(self, number: int, *prices: int, waits: bool = False) -> Unit:
        """A page of cards with a row of its own, as a sweep brings it."""
        rows = [card(f"{number}-{n}", price) for n, price in enumerate(prices or (1000,))]

        def also(connection: Connection, tally: Tally) -> None:
            runs.add_page(
                connection,
                self.run_id,
                url=f"/{number}",
                outcome=PageOutcome.OK,
                fetched_at=START,
                new_listings=tally.new,
            )

        return Unit(rows, also, waits)

    def _batch(self, connection: Connection, units: list[Unit]) -> None:
        self.batches.append(len(units))
        added = Tally()
        for unit in units:
            added.add(unit.tally)
        runs.record(connection, self.run_id, {"new_listings": added.new, "price_rows": added.price_rows}, {})


def check_all_stored_once(database: Database, pages: int, rows_each: int = 1) -> None:
    """Listings, history, the pages' own rows and the run's counters agree."""
    wanted = pages * rows_each
    assert database.value("SELECT count(*) FROM listings") == wanted
    assert database.value("SELECT count(*) FROM price_history") == wanted
    assert database.value("SELECT count(*) FROM market_listings") == wanted
    assert database.row("SELECT count(*), count(DISTINCT url), sum(new_listings) FROM run_pages") == (
        pages,
        pages,
        wanted,
    )
    assert database.row("SELECT new_listings, price_rows FROM runs") == (wanted, wanted)


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, 60))


def test_a_unit_that_waits_is_committed_when_it_returns(database: Database) -> None:
    async def crawl() -> None:
        written = Written(database)
        tally = await written.writer.write(written.page(1, 10, 20, waits=True))
        assert (tally.new, tally.price_rows) == (2, 2)
        check_all_stored_once(database, 1, 2)
        await written.writer.close()

    run(crawl())


def test_units_that_wait_together_share_a_transaction_and_close_writes_the_rest(database: Database) -> None:
    async def crawl() -> None:
        written = Written(database, max_wait_ms=60_000, max_rows=20, max_pending=100)
        for number in range(50):
            await written.writer.write(written.page(number))
        await written.writer.close()
        assert written.batches == [20, 20, 10]
        assert len(written.stored) == 50

    run(crawl())
    check_all_stored_once(database, 50)


def test_two_observations_of_one_listing_are_two_changes(database: Database) -> None:
    async def crawl() -> None:
        written = Written(database, max_wait_ms=60_000)
        for minute, price in enumerate((100, 200, 300)):
            moment = datetime.fromisoformat(f"2026-03-01T12:0{minute}:00+00:00")
            await written.writer.write(Unit([card(1, price, moment)]))
        await written.writer.close()

    run(crawl())
    assert [
        price for (price,) in database.rows("SELECT price_cents FROM price_history ORDER BY observed_at")
    ] == [
        100,
        200,
        300,
    ]


def test_a_slow_database_slows_the_crawl_and_never_the_event_loop(database: Database) -> None:
    async def crawl() -> None:
        written = Written(database, max_pending=4, max_wait_ms=0)
        handed_over: list[int] = []

        async def bring() -> None:
            for number in range(12):
                await written.writer.write(written.page(number))
                handed_over.append(number)

        holder = database.begin()
        holder.execute(text("LOCK TABLE listings"))
        bringing = asyncio.create_task(bring())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(bringing), 0.3)
        # The loop turned all the while, and turns on.
        for _ in range(1000):
            await asyncio.sleep(0)
        assert handed_over == [0, 1, 2, 3]
        holder.rollback()
        holder.close()
        await bringing
        await written.writer.close()

    run(crawl())
    check_all_stored_once(database, 12)


def test_a_run_gives_signs_of_life_while_it_has_nothing_to_write(database: Database) -> None:
    async def crawl() -> None:
        written = Written(database, heartbeat_seconds=0.01)
        loop, beaten = asyncio.get_running_loop(), asyncio.Event()

        def beat(_connection: Connection, _units: list[Unit]) -> None:
            loop.call_soon_threadsafe(beaten.set)

        written.writer.on_batch = beat
        await beaten.wait()
        await written.writer.close()

    run(crawl())
    assert database.value("SELECT heartbeat_at > started_at FROM runs")


def test_a_unit_that_cannot_be_stored_is_told_and_the_others_are_stored(database: Database) -> None:
    def impossible(connection: Connection, _: Tally) -> None:
        connection.execute(text("UPDATE runs SET status = 'nonsense'"))

    async def crawl() -> None:
        written = Written(database, max_wait_ms=60_000)
        bad = Unit([card("bad")], impossible)
        for unit in (written.page(1), bad, written.page(2)):
            await written.writer.write(unit)
        with pytest.raises(DBAPIError, match="ck_runs_status"):
            await written.writer.write(Unit([card("worse")], impossible, waits=True))
        await written.writer.close()
        assert len(written.stored) == 2
        assert [row["identity_key"] for unit, _ in written.refused for row, _ in unit.tally.refused] == [
            "PID:bad",
            "PID:worse",
        ]

    run(crawl())
    check_all_stored_once(database, 2)


def test_a_call_that_loses_a_race_is_made_again(database: Database) -> None:
    tries = []

    def race(connection: Connection) -> int:
        tries.append(connection.execute(text("UPDATE markets SET sweep_cycle_seen = sweep_cycle_seen + 1")))
        if len(tries) < 3:
            raise Raced
        return 7

    async def crawl() -> None:
        written = Written(database)
        assert await written.writer.call(race) == 7
        await written.writer.close()

    run(crawl())
    assert database.value("SELECT DISTINCT sweep_cycle_seen FROM markets") == 1


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
            sentence = "The database was away for 0 seconds .*the next one goes on from what is stored"
            with pytest.raises(DatabaseUnavailable, match=sentence):
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
        units = [written.page(2, 10, 20), Unit([card("bad")], _impossible), written.page(3, 10, 20)]
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
    opening: Callable[[Connection], int] = lambda connection: runs.open_run(  # noqa: E731
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


def _impossible(connection: Connection, _: Tally) -> None:
    connection.execute(text("SELECT 1 / 0"))
