"""The database thread of a run: batches, a queue with an end, and what cannot be stored."""

from __future__ import annotations

import asyncio
from datetime import datetime

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from pricewatch.store.writing.batch import Batch, WriteCounts, WriteUnit
from pricewatch.store.writing.incoming_rows import ConcurrentInsert
from tests.databases import Database
from tests.store.observations import card
from tests.store.written import Written, check_all_stored_once, run


def test_a_unit_that_waits_is_committed_when_it_returns(database: Database) -> None:
    async def crawl() -> None:
        written = Written(database)
        await written.writer.write(page := written.page(1, 10, 20, waits=True))
        assert (page.counts.new, page.counts.price_rows) == (2, 2)
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
            await written.writer.write(WriteUnit([card(1, price, moment)]))
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

        def beat(_connection: Connection, batch: Batch) -> None:
            assert not batch.units
            loop.call_soon_threadsafe(beaten.set)

        written.writer.writes = [beat]
        await beaten.wait()
        await written.writer.close()

    run(crawl())
    assert database.value("SELECT heartbeat_at > started_at FROM runs")


def test_a_unit_that_cannot_be_stored_is_told_and_the_others_are_stored(database: Database) -> None:
    def impossible(connection: Connection, _: WriteCounts) -> None:
        connection.execute(text("UPDATE runs SET status = 'nonsense'"))

    async def crawl() -> None:
        written = Written(database, max_wait_ms=60_000)
        bad = WriteUnit([card("bad")], impossible)
        for unit in (written.page(1), bad, written.page(2)):
            await written.writer.write(unit)
        with pytest.raises(DBAPIError, match="ck_runs_status"):
            await written.writer.write(WriteUnit([card("worse")], impossible, waits=True))
        await written.writer.close()
        assert len(written.stored) == 2
        assert [row["identity_key"] for unit, _ in written.refused for row, _ in unit.refused] == [
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
            raise ConcurrentInsert
        return 7

    async def crawl() -> None:
        written = Written(database)
        assert await written.writer.call(race) == 7
        await written.writer.close()

    run(crawl())
    assert database.value("SELECT DISTINCT sweep_cycle_seen FROM markets") == 1
