"""A writer under test: with a run, pages to write, and what it told."""

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


class Written:
    """A writer with a run, and what it told."""

    def __init__(self, database: Database, **options: Any) -> None:
        engine = options.pop("engine", database.engine)
        self.run_id = database.call(run_rows.open_run, now=START, spider="sweep", market_id=MARKET)
        self.writer = Writer(engine, **options)
        self.writer.run_id = self.run_id
        self.writer.market_id = MARKET
        self.writer.writes = [*WRITES, self._batch]
        self.failures: list[DatabaseUnavailable] = []
        self.stored: list[WriteUnit] = []
        self.refused: list[tuple[WriteUnit, BaseException]] = []
        self.batches: list[int] = []
        self.under_way = asyncio.Event()
        self.writer.on_stored = self._stored
        self.writer.on_refused = lambda unit, error: self.refused.append((unit, error))
        self.writer.on_failure = self.failures.append

    def _stored(self, unit: WriteUnit) -> None:
        self.stored.append(unit)
        if len(self.stored) % 20 == 0:
            self.under_way.set()

    def page(self, number: int, *prices: int, waits: bool = False) -> WriteUnit:
        """A page of cards with a row of its own, as a sweep brings it."""
        rows = [card(f"{number}-{n}", price) for n, price in enumerate(prices or (1000,))]

        def also(connection: Connection, tally: WriteCounts) -> None:
            run_rows.add_page(
                connection,
                self.run_id,
                url=f"/{number}",
                outcome=PageOutcome.OK,
                fetched_at=START,
                new_listings=tally.new,
            )

        return WriteUnit(rows, also, waits)

    def _batch(self, connection: Connection, batch: Batch) -> None:
        self.batches.append(len(batch.units))
        added = WriteCounts()
        for unit in batch.units:
            added.add(unit.counts)
        run_rows.record(
            connection, self.run_id, {"new_listings": added.new, "price_rows": added.price_rows}, {}
        )


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
