"""One batch, one transaction: items with their rows, written by the pipelines one after the other."""

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
RACES_TO_LOSE = 5
# SQLSTATE classes that say "not now" rather than "not this row".
OUTAGES = frozenset({"08", "25", "40", "53", "55", "57", "58"})
# What a row can do to a statement; the last two are a row that is no JSON.
REFUSALS = (DBAPIError, ConcurrentInsert, ValueError, TypeError, RecursionError)

_COUNT = text(
    "SELECT coalesce(unit, 0), count(*) FILTER (WHERE is_new), count(*) FILTER (WHERE NOT is_new),"
    " count(*) FILTER (WHERE appended), count(*) FILTER (WHERE held), count(*) FILTER (WHERE held AND detail)"
    " FROM incoming GROUP BY 1"
)


@dataclass(slots=True)
class WriteCounts:
    """What became of the rows of a unit: for counters, stats and the page's own row."""

    new: int = 0
    updated: int = 0
    price_rows: int = 0
    # Rows whose price waits for another run to see it too; of them, how many came from product pages.
    held: int = 0
    held_offers: int = 0
    # Of overview pages: the pages themselves, and the cards on them that were stored.
    pages: int = 0
    cards: int = 0

    def add(self, other: WriteCounts) -> None:
        self.new += other.new
        self.updated += other.updated
        self.price_rows += other.price_rows
        self.held += other.held
        self.held_offers += other.held_offers
        self.pages += other.pages
        self.cards += other.cards


@dataclass(slots=True)
class WriteUnit:
    """One item and its rows: written as a whole, perhaps without rows that the database refuses."""

    rows: list[Row]
    item: Any = None
    # Somebody waits for the commit, so it is not delayed to collect more rows.
    waits: bool = False
    # The rows are collected until the whole market has been read, instead of being stored now.
    set_aside: bool = False
    # The adapter that read the rows, and their source: the labels of its metrics.
    read_from: tuple[str, str] = ("", "")
    counts: WriteCounts = field(default_factory=WriteCounts)
    refused: list[tuple[Row, str]] = field(default_factory=list)
    # A price in it jumped, and waits for another run to see it too.
    jumped: bool = False
    # What the feeds get of it, once it is committed.
    exported: list[dict[str, Any]] = field(default_factory=list)
    # How it ended: committed, or refused as a whole.
    stored: bool = False
    error: Exception | None = None

    @property
    def is_open(self) -> bool:
        return not self.stored and self.error is None

    @property
    def has_rows(self) -> bool:
        """Whether it has rows in `incoming`."""
        return bool(self.rows) and not self.set_aside

    @property
    def details(self) -> int:
        """How many of its rows come from product pages: all, or none."""
        return len(self.rows) if self.rows and self.rows[0]["detail"] else 0

    def load(self, connection: Connection) -> None:
        """Put rows that are in the database already into `incoming`; those of `rows` are put there for it."""

    def all_rows(self, connection: Connection) -> list[Row]:
        """Every row it writes, to find the ones that the database refuses."""
        return self.rows

    def leave_out(self, connection: Connection, refused: list[tuple[Row, str]]) -> None:
        """Go on without these rows."""
        bad = {id(row) for row, _ in refused}
        self.rows = [row for row in self.rows if id(row) not in bad]
        self.refused += refused


class Batch:
    """The units of one transaction, as the pipelines get them. Their rows are in the table `incoming`."""

    def __init__(self, run_id: int, market_id: str | None = None, units: Sequence[WriteUnit] = ()) -> None:
        self.run_id = run_id
        self.market_id = market_id
        self.units = units
        self.has_rows = False
        self._counted = False

    @property
    def has_details(self) -> bool:
        """Whether some of its rows come from product pages."""
        return any(unit.details for unit in self.units)

    def of(self, kind: type[T]) -> Iterator[tuple[WriteUnit, T]]:
        """The units whose item is of this kind, with the item."""
        for unit in self.units:
            if isinstance(unit.item, kind):
                yield unit, unit.item

    def load(self, connection: Connection) -> None:
        """Put the rows of all units into `incoming`, each with the number of its unit."""
        rows = [{**row, "unit": n} for n, unit in enumerate(self.units) if unit.has_rows for row in unit.rows]
        if rows:
            incoming_rows.load(connection, rows)
        for unit in self.units:
            unit.counts, unit.jumped = WriteCounts(), False
            unit.load(connection)
        self.has_rows = any(unit.has_rows for unit in self.units)

    def count(self, connection: Connection) -> None:
        """Set the counts of every unit. To be called after the price history is written."""
        if self.has_rows and not self._counted:
            self._counted = True
            for n, *counted in connection.execute(_COUNT):
                self.units[n].counts = WriteCounts(*counted)


# A step of a transaction: what an item pipeline writes.
Write = Callable[[Connection, Batch], object]
Transaction = Callable[[Connection, Sequence[WriteUnit]], AbstractContextManager[None]]


@contextmanager
def plain_transaction(connection: Connection, units: Sequence[WriteUnit]) -> Iterator[None]:
    with connection.begin():
        yield
    for unit in units:
        unit.stored = True


class BatchWriter:
    """Writes units: together if the database takes them, each by itself or without its bad rows if not."""

    def __init__(
        self,
        writes: Sequence[Write],
        run_id: int,
        market_id: str | None,
        transaction: Transaction = plain_transaction,
    ) -> None:
        self.writes = writes
        self.run_id = run_id
        self.market_id = market_id
        self.transaction = transaction

    def store(self, connection: Connection, units: Sequence[WriteUnit]) -> None:
        """Afterwards every unit is either stored, perhaps without some of its rows, or has an error.

        Only an outage is raised; then the same units can be given again, and those that are stored stay so.
        """
        units = [unit for unit in units if unit.is_open]
        if not units:
            return
        try:
            self._store_together(connection, units)
        except REFUSALS as error:
            if is_outage(error):
                raise
            if len(units) > 1:
                for unit in units:
                    self.store(connection, [unit])
            else:
                self._store_rest(connection, units[0], error)

    def write(self, connection: Connection, units: Sequence[WriteUnit]) -> None:
        """All pipelines in their order, in the transaction that the caller holds."""
        batch = Batch(self.run_id, self.market_id, units)
        batch.load(connection)
        for write in self.writes:
            write(connection, batch)
        batch.count(connection)

    def _store_together(self, connection: Connection, units: Sequence[WriteUnit]) -> None:
        for lost in range(RACES_TO_LOSE + 1):
            try:
                with self.transaction(connection, units):
                    self.write(connection, units)
            except ConcurrentInsert:
                if lost == RACES_TO_LOSE:
                    raise
            else:
                return

    def _store_rest(self, connection: Connection, unit: WriteUnit, error: BaseException) -> None:
        logger.warning("The database refused part of a batch, saving the rest: %s", reason(error))
        rows = unit.rows
        try:
            with self.transaction(connection, [unit]):
                unit.refused = []
                unit.leave_out(connection, self._refused_rows(connection, unit, unit.all_rows(connection)))
                self.write(connection, [unit])
        except REFUSALS as still:
            unit.rows = rows
            if is_outage(still):
                raise
            # What belongs to the rows cannot be written, so they are not either.
            unit.refused = [(row, reason(still)) for row in rows]
            unit.counts, unit.error = WriteCounts(), still

    def _refused_rows(
        self, connection: Connection, unit: WriteUnit, rows: list[Row]
    ) -> list[tuple[Row, str]]:
        """Which of these rows make the unit fail, each with the reason; whatever is tried is undone."""
        try:
            with connection.begin_nested() as trial:
                self.write(
                    connection,
                    [WriteUnit(rows, unit.item, set_aside=unit.set_aside, read_from=unit.read_from)],
                )
                trial.rollback()
        except REFUSALS as error:
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
    """Whether the database could not, rather than would not: such work is worth trying again."""
    if isinstance(error, InterfaceError) or getattr(error, "connection_invalidated", False):
        return True
    code = getattr(getattr(error, "orig", None), "pgcode", None)
    if code is None:
        return isinstance(error, OperationalError)
    return code[:2] in OUTAGES


def reason(error: BaseException) -> str:
    original = getattr(error, "orig", None) or error
    return str(original).strip().split("\n")[0] or type(original).__name__
