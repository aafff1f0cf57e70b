"""A writer under test, with a run and pages to write."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from sqlalchemy import Connection

from pricewatch.errors import DatabaseUnavailable
from pricewatch.store.writing import run_rows
from pricewatch.store.writing.batch import Batch, WriteCounts, WriteUnit
from pricewatch.store.writing.writer import Writer
from pricewatch.vocabulary import PageOutcome
from tests.databases import Database
from tests.store.observations import MARKET, START, WRITES, card


class WriterHarness:
    """A writer with a run, and what the writer reported."""

    def __init__(self, database: Database, **options: Any) -> None:
        engine = options.pop("engine", database.engine)
        self.run_id = database.call(run_rows.open_run, now=START, spider="sweep", market_id=MARKET)
        self.writer = Writer(engine, **options)
        self.writer.run_id = self.run_id
        self.writer.market_id = MARKET
        self.writer.writes = [*WRITES, self._record_batch]
        self.failures: list[DatabaseUnavailable] = []
        self.stored: list[WriteUnit] = []
        self.refused: list[tuple[WriteUnit, BaseException]] = []
        self.batch_sizes: list[int] = []
        self.has_started = asyncio.Event()
        self.writer.on_stored = self._add_stored
        self.writer.on_refused = lambda unit, error: self.refused.append((unit, error))
        self.writer.on_failure = self.failures.append

    def _add_stored(self, unit: WriteUnit) -> None:
        self.stored.append(unit)
        if len(self.stored) % 20 == 0:
            self.has_started.set()

    def page(self, number: int, *prices: int, waits: bool = False) -> WriteUnit:
        """Return a page of cards that also writes a row of `run_pages`, as in a sweep."""
        rows = [card(f"{number}-{n}", price) for n, price in enumerate(prices or (1000,))]

        def add_page(connection: Connection, counts: WriteCounts) -> None:
            run_rows.add_page(
                connection,
                self.run_id,
                url=f"/{number}",
                outcome=PageOutcome.OK,
                fetched_at=START,
                new_listings=counts.new,
            )

        return WriteUnit(rows, add_page, waits)

    def _record_batch(self, connection: Connection, batch: Batch) -> None:
        self.batch_sizes.append(len(batch.units))
        total = WriteCounts()
        for unit in batch.units:
            total.add(unit.counts)
        run_rows.update_run(
            connection, self.run_id, {"new_listings": total.new, "price_rows": total.price_rows}, {}
        )


def check_all_stored_once(database: Database, pages: int, rows_each: int = 1) -> None:
    """Check that listings, price history, run pages and the run's counters agree."""
    expected = pages * rows_each
    assert database.value("SELECT count(*) FROM listings") == expected
    assert database.value("SELECT count(*) FROM price_history") == expected
    assert database.value("SELECT count(*) FROM market_listings") == expected
    assert database.row("SELECT count(*), count(DISTINCT url), sum(new_listings) FROM run_pages") == (
        pages,
        pages,
        expected,
    )
    assert database.row("SELECT new_listings, price_rows FROM runs") == (expected, expected)


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, 60))
