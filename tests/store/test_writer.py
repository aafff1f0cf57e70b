"""The database thread of a run: batches, the bounded queue, and units that cannot be stored."""

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
from tests.store.writer_harness import WriterHarness, check_all_stored_once, run


def test_write_returns_after_the_commit_if_the_unit_waits(database: Database) -> None:
    async def crawl() -> None:
        harness = WriterHarness(database)
        await harness.writer.write(page := harness.page(1, 10, 20, waits=True))
        assert (page.counts.new, page.counts.price_rows) == (2, 2)
        check_all_stored_once(database, 1, 2)
        await harness.writer.close()

    run(crawl())


def test_queued_units_share_transactions_and_close_writes_the_rest(database: Database) -> None:
    async def crawl() -> None:
        harness = WriterHarness(database, max_wait_ms=60_000, max_rows=20, max_pending=100)
        for number in range(50):
            await harness.writer.write(harness.page(number))
        await harness.writer.close()
        assert harness.batch_sizes == [20, 20, 10]
        assert len(harness.stored) == 50

    run(crawl())
    check_all_stored_once(database, 50)


def test_observations_of_the_same_listing_use_separate_transactions(database: Database) -> None:
    async def crawl() -> None:
        harness = WriterHarness(database, max_wait_ms=60_000)
        for minute, price in enumerate((100, 200, 300)):
            moment = datetime.fromisoformat(f"2026-03-01T12:0{minute}:00+00:00")
            await harness.writer.write(WriteUnit([card(1, price, moment)]))
        await harness.writer.close()

    run(crawl())
    assert [
        price for (price,) in database.rows("SELECT price_cents FROM price_history ORDER BY observed_at")
    ] == [
        100,
        200,
        300,
    ]


def test_a_slow_database_slows_the_crawl_but_not_the_event_loop(database: Database) -> None:
    async def crawl() -> None:
        harness = WriterHarness(database, max_pending=4, max_wait_ms=0)
        queued: list[int] = []

        async def produce() -> None:
            for number in range(12):
                await harness.writer.write(harness.page(number))
                queued.append(number)

        blocker = database.begin()
        blocker.execute(text("LOCK TABLE listings"))
        producer = asyncio.create_task(produce())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(producer), 0.3)
        # The event loop still runs.
        for _ in range(1000):
            await asyncio.sleep(0)
        assert queued == [0, 1, 2, 3]
        blocker.rollback()
        blocker.close()
        await producer
        await harness.writer.close()

    run(crawl())
    check_all_stored_once(database, 12)


def test_heartbeats_are_written_while_there_is_nothing_else_to_write(database: Database) -> None:
    async def crawl() -> None:
        harness = WriterHarness(database, heartbeat_seconds=0.01)
        loop, heartbeat = asyncio.get_running_loop(), asyncio.Event()

        def signal(_connection: Connection, batch: Batch) -> None:
            assert not batch.units
            loop.call_soon_threadsafe(heartbeat.set)

        harness.writer.writes = [signal]
        await heartbeat.wait()
        await harness.writer.close()

    run(crawl())
    assert database.value("SELECT heartbeat_at > started_at FROM runs")


def test_a_refused_unit_is_reported_and_the_others_are_stored(database: Database) -> None:
    def fail(connection: Connection, _: WriteCounts) -> None:
        connection.execute(text("UPDATE runs SET status = 'nonsense'"))

    async def crawl() -> None:
        harness = WriterHarness(database, max_wait_ms=60_000)
        bad = WriteUnit([card("bad")], fail)
        for unit in (harness.page(1), bad, harness.page(2)):
            await harness.writer.write(unit)
        with pytest.raises(DBAPIError, match="ck_runs_status"):
            await harness.writer.write(WriteUnit([card("worse")], fail, waits=True))
        await harness.writer.close()
        assert len(harness.stored) == 2
        assert [row["identity_key"] for unit, _ in harness.refused for row, _ in unit.refused] == [
            "PID:bad",
            "PID:worse",
        ]

    run(crawl())
    check_all_stored_once(database, 2)


def test_a_call_is_repeated_after_a_concurrent_insert(database: Database) -> None:
    attempts = []

    def race(connection: Connection) -> int:
        attempts.append(
            connection.execute(text("UPDATE markets SET sweep_cycle_seen = sweep_cycle_seen + 1"))
        )
        if len(attempts) < 3:
            raise ConcurrentInsert
        return 7

    async def crawl() -> None:
        harness = WriterHarness(database)
        assert await harness.writer.call(race) == 7
        await harness.writer.close()

    run(crawl())
    assert database.value("SELECT DISTINCT sweep_cycle_seen FROM markets") == 1
