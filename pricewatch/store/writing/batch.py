"""A batch: items with their rows, which the pipelines write one after the other in one transaction."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from pricewatch.store.writing import incoming_rows
from pricewatch.store.writing.incoming_rows import ConcurrentInsert, Row

logger = logging.getLogger(__name__)
T = TypeVar("T")
MAX_RACE_RETRIES = 5
# SQLSTATE classes that mean that the database is unavailable, not that it refuses a row.
OUTAGE_CLASSES = frozenset({"08", "25", "40", "53", "55", "57", "58"})
# Errors that a row can cause; the last two are raised for values that cannot become JSON.
ROW_ERRORS = (DBAPIError, ConcurrentInsert, ValueError, TypeError, RecursionError)

_COUNT = text(
    "SELECT coalesce(unit, 0), count(*) FILTER (WHERE is_new), count(*) FILTER (WHERE NOT is_new),"
    " count(*) FILTER (WHERE appended), count(*) FILTER (WHERE quarantined),"
    " count(*) FILTER (WHERE quarantined AND detail)"
    " FROM incoming GROUP BY 1"
)


@dataclass(slots=True)
class WriteCounts:
    """What was written for the rows of a unit, for counters, stats and the row of the page."""

    new: int = 0
    updated: int = 0
    price_rows: int = 0
    # Rows whose price jumped and was quarantined; and how many of them came from product pages.
    quarantined: int = 0
    quarantined_offers: int = 0
    # The number of overview pages, and of their cards that were stored.
    pages: int = 0
    cards: int = 0

    def add(self, other: WriteCounts) -> None:
        self.new += other.new
        self.updated += other.updated
        self.price_rows += other.price_rows
        self.quarantined += other.quarantined
        self.quarantined_offers += other.quarantined_offers
        self.pages += other.pages
        self.cards += other.cards


@dataclass(slots=True)
class WriteUnit:
    """One item and its rows, written together, but without rows that the database refuses."""

    rows: list[Row]
    item: Any = None
    # The caller waits for the commit, so it is not delayed to collect more rows.
    waits: bool = False
    # The rows are collected until the whole market has been read, and not stored now.
    collect_only: bool = False
    # The adapter that read the rows and their source, which are the labels of its metrics.
    read_from: tuple[str, str] = ("", "")
    counts: WriteCounts = field(default_factory=WriteCounts)
    refused: list[tuple[Row, str]] = field(default_factory=list)
    # A price in it jumped and waits for another run to confirm it.
    jumped: bool = False
    # The rows for the feeds, exported once the unit is committed.
    exported: list[dict[str, Any]] = field(default_factory=list)
    # The outcome: committed, or refused as a whole.
    stored: bool = False
    error: Exception | None = None

    @property
    def is_open(self) -> bool:
        return not self.stored and self.error is None

    @property
    def has_rows(self) -> bool:
        """Whether it has rows in `incoming`."""
        return bool(self.rows) and not self.collect_only

    @property
    def details(self) -> int:
        """The number of rows that come from product pages: all or none of them."""
        return len(self.rows) if self.rows and self.rows[0]["detail"] else 0

    def load(self, connection: Connection) -> None:
        """Load rows that are in the database already into `incoming`. `Batch.load` loads those of `rows`."""

    def all_rows(self, connection: Connection) -> list[Row]:
        """Return all rows of the unit, to find those that the database refuses."""
        return self.rows

    def leave_out(self, connection: Connection, refused: list[tuple[Row, str]]) -> None:
        """Remove these rows from the unit."""
        refused_ids = {id(row) for row, _ in refused}
        self.rows = [row for row in self.rows if id(row) not in refused_ids]
        self.refused += refused


class Batch:
    """The units of one transaction, for the pipelines. Their rows are in the temporary table `incoming`."""

    def __init__(self, run_id: int, market_id: str | None = None, units: Sequence[WriteUnit] = ()) -> None:
        self.run_id = run_id
        self.market_id = market_id
        self.units = units
        self.has_rows = False
        self._counted = False

    @property
    def has_details(self) -> bool:
        """Whether any rows come from product pages."""
        return any(unit.details for unit in self.units)

    def of(self, kind: type[T]) -> Iterator[tuple[WriteUnit, T]]:
        """Yield the units whose item is of this type, with the item."""
        for unit in self.units:
            if isinstance(unit.item, kind):
                yield unit, unit.item

    def load(self, connection: Connection) -> None:
        """Load the rows of all units into `incoming`, each with the index of its unit."""
        rows = [{**row, "unit": n} for n, unit in enumerate(self.units) if unit.has_rows for row in unit.rows]
        if rows:
            incoming_rows.load(connection, rows)
        for unit in self.units:
            unit.counts, unit.jumped = WriteCounts(), False
            unit.load(connection)
        self.has_rows = any(unit.has_rows for unit in self.units)

    def count(self, connection: Connection) -> None:
        """Set the counts of all units. Call it after the price history is written."""
        if self.has_rows and not self._counted:
            self._counted = True
            for n, *counted in connection.execute(_COUNT):
                self.units[n].counts = WriteCounts(*counted)


# One step of a transaction: an item pipeline writes its part of the batch.
Write = Callable[[Connection, Batch], object]
Transaction = Callable[[Connection, Sequence[WriteUnit]], AbstractContextManager[None]]


@contextmanager
def _untracked_transaction(connection: Connection, units: Sequence[WriteUnit]) -> Iterator[None]:
    with connection.begin():
        yield
    for unit in units:
        unit.stored = True


class BatchWriter:
    """Write units together; if the database refuses them, one by one and without the refused rows."""

    def __init__(
        self,
        writes: Sequence[Write],
        run_id: int,
        market_id: str | None,
        transaction: Transaction = _untracked_transaction,
    ) -> None:
        self.writes = writes
        self.run_id = run_id
        self.market_id = market_id
        self.transaction = transaction

    def store(self, connection: Connection, units: Sequence[WriteUnit]) -> None:
        """Write the units. Afterwards each unit is stored, possibly without some rows, or has an error.

        Only outages are raised. The call can then be repeated with the same units: units that are stored
        already are skipped.
        """
        units = [unit for unit in units if unit.is_open]
        if not units:
            return
        try:
            self._store_together(connection, units)
        except ROW_ERRORS as error:
            if is_outage(error):
                raise
            if len(units) > 1:
                for unit in units:
                    self.store(connection, [unit])
            else:
                self._store_without_refused(connection, units[0], error)

    def write(self, connection: Connection, units: Sequence[WriteUnit]) -> None:
        """Run all steps in order, in the transaction of the caller."""
        batch = Batch(self.run_id, self.market_id, units)
        batch.load(connection)
        for write in self.writes:
            write(connection, batch)
        batch.count(connection)

    def _store_together(self, connection: Connection, units: Sequence[WriteUnit]) -> None:
        for attempt in range(MAX_RACE_RETRIES + 1):
            try:
                with self.transaction(connection, units):
                    self.write(connection, units)
            except ConcurrentInsert:
                if attempt == MAX_RACE_RETRIES:
                    raise
            else:
                return

    def _store_without_refused(self, connection: Connection, unit: WriteUnit, error: BaseException) -> None:
        logger.warning("The database refused part of a batch; storing the rest: %s", reason(error))
        rows = unit.rows
        try:
            with self.transaction(connection, [unit]):
                unit.refused = []
                unit.leave_out(connection, self._refused_rows(connection, unit, unit.all_rows(connection)))
                self.write(connection, [unit])
        except ROW_ERRORS as second_error:
            unit.rows = rows
            if is_outage(second_error):
                raise
            # A step that belongs to the rows fails, so the rows are not written either.
            unit.refused = [(row, reason(second_error)) for row in rows]
            unit.counts, unit.error = WriteCounts(), second_error

    def _refused_rows(
        self, connection: Connection, unit: WriteUnit, rows: list[Row]
    ) -> list[tuple[Row, str]]:
        """Return the rows that make the unit fail, with the reasons. All trial writes are rolled back."""
        try:
            with connection.begin_nested() as trial:
                self.write(
                    connection,
                    [WriteUnit(rows, unit.item, collect_only=unit.collect_only, read_from=unit.read_from)],
                )
                trial.rollback()
        except ROW_ERRORS as error:
            if is_outage(error):
                raise
            if len(rows) <= 1:
                return [(row, reason(error)) for row in rows]
            middle = len(rows) // 2
            return [
                *self._refused_rows(connection, unit, rows[:middle]),
                *self._refused_rows(connection, unit, rows[middle:]),
            ]
        return []


def is_outage(error: BaseException) -> bool:
    """Return whether the database was unavailable, so that the same work may succeed later."""
    if isinstance(error, InterfaceError) or getattr(error, "connection_invalidated", False):
        return True
    code = getattr(getattr(error, "orig", None), "pgcode", None)
    if code is None:
        return isinstance(error, OperationalError)
    return code[:2] in OUTAGE_CLASSES


def reason(error: BaseException) -> str:
    original = getattr(error, "orig", None) or error
    return str(original).strip().split("\n")[0] or type(original).__name__
