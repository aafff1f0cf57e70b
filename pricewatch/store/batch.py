"""One batch, one transaction: the rows, the steps on them, and what must be committed with them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from pricewatch.store import incoming
from pricewatch.store.incoming import Row
from pricewatch.store.listings import Raced

logger = logging.getLogger(__name__)

# A step works on the rows in `incoming`: (connection, run id, market id).
Step = Callable[[Connection, int, str | None], None]
RACES_TO_LOSE = 5
# SQLSTATE classes that say "not now" rather than "not this row".
OUTAGES = frozenset({"08", "25", "40", "53", "55", "57", "58"})
# What a row can do to a statement; the last two are a row that is no JSON.
REFUSALS = (DBAPIError, Raced, ValueError, TypeError, RecursionError)

_COUNT = text(
    "SELECT coalesce(unit, 0), count(*) FILTER (WHERE is_new), count(*) FILTER (WHERE NOT is_new),"
    " count(*) FILTER (WHERE appended), count(*) FILTER (WHERE held), count(*) FILTER (WHERE held AND detail)"
    " FROM incoming GROUP BY 1"
)


@dataclass(slots=True)
class Tally:
    """What a unit did: for counters, stats and the page's own row."""

    new: int = 0
    updated: int = 0
    price_rows: int = 0
    # Whose price waits for another run to see it too; of them, how many came from product pages.
    held: int = 0
    held_offers: int = 0
    # Of overview pages: themselves, and the cards on them that were taken.
    pages: int = 0
    cards: int = 0
    refused: list[tuple[Row, str]] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.new += other.new
        self.updated += other.updated
        self.price_rows += other.price_rows
        self.held += other.held
        self.held_offers += other.held_offers
        self.pages += other.pages
        self.cards += other.cards
        self.refused += other.refused


@dataclass(slots=True)
class Unit:
    """Rows that belong together, and what else must be written in the same transaction."""

    rows: list[Row]
    also: Callable[[Connection, Tally], None] | None = None
    # Somebody waits for the commit, so it is not held back for more rows.
    waits: bool = False
    # The adapter that read the rows, and the source that they are of: what metrics count them under.
    read_from: tuple[str, str] = ("", "")
    tally: Tally = field(default_factory=Tally)
    # How it ended: committed, or refused as a whole.
    stored: bool = False
    error: Exception | None = None

    @property
    def is_open(self) -> bool:
        return not self.stored and self.error is None


Finish = Callable[[Connection, list[Unit]], None]
Transaction = Callable[[Connection, list[Unit]], AbstractContextManager[None]]


@contextmanager
def plain_transaction(connection: Connection, units: list[Unit]) -> Iterator[None]:
    with connection.begin():
        yield
    for unit in units:
        unit.stored = True


class Batch:
    """Stores units: together if the database takes them, each by itself or row by row if not."""

    def __init__(
        self,
        steps: list[Step],
        run_id: int,
        market_id: str | None,
        transaction: Transaction = plain_transaction,
    ) -> None:
        self.steps = steps
        self.run_id = run_id
        self.market_id = market_id
        self.transaction = transaction

    def store(self, connection: Connection, units: list[Unit], finish: Finish | None = None) -> None:
        """Afterwards every unit is either stored, perhaps without some of its rows, or has an error.

        Only an outage is raised; then the same units can be given again, and those that are stored stay so.
        """
        units = [unit for unit in units if unit.is_open]
        if not units:
            return
        try:
            self._store_together(connection, units, finish)
        except REFUSALS as error:
            if is_outage(error):
                raise
            if len(units) > 1:
                for unit in units:
                    self.store(connection, [unit], finish)
            else:
                self._store_rest(connection, units[0], finish, error)

    def _store_together(self, connection: Connection, units: list[Unit], finish: Finish | None) -> None:
        rows = [{**row, "unit": n} for n, unit in enumerate(units) for row in unit.rows]
        for lost in range(RACES_TO_LOSE + 1):
            try:
                with self.transaction(connection, units):
                    tallies = self._run_steps(connection, rows)
                    for n, unit in enumerate(units):
                        unit.tally = tallies.get(n, Tally())
                    _finish(connection, units, finish)
            except Raced:
                if lost == RACES_TO_LOSE:
                    raise
            else:
                return

    def _store_rest(
        self, connection: Connection, unit: Unit, finish: Finish | None, error: BaseException
    ) -> None:
        logger.warning("The database refused part of a batch, saving the rest: %s", reason(error))
        try:
            with self.transaction(connection, [unit]):
                unit.tally = self._bisect(connection, unit.rows)
                _finish(connection, [unit], finish)
        except REFUSALS as still:
            if is_outage(still):
                raise
            # What belongs to the rows cannot be written, so they are not either.
            unit.tally = Tally(refused=[(row, reason(still)) for row in unit.rows])
            unit.error = still

    def _bisect(self, connection: Connection, rows: list[Row]) -> Tally:
        if not rows:
            return Tally()
        try:
            with connection.begin_nested():
                return self._run_steps(connection, [{**row, "unit": 0} for row in rows])[0]
        except REFUSALS as error:
            if is_outage(error):
                raise
            if len(rows) == 1:
                return Tally(refused=[(rows[0], reason(error))])
        middle = len(rows) // 2
        tally = self._bisect(connection, rows[:middle])
        tally.add(self._bisect(connection, rows[middle:]))
        return tally

    def _run_steps(self, connection: Connection, rows: list[Row]) -> dict[int, Tally]:
        if not rows:
            return {}
        incoming.load(connection, rows)
        for step in self.steps:
            step(connection, self.run_id, self.market_id)
        return count(connection)


def count(connection: Connection) -> dict[int, Tally]:
    """What happened to the rows in `incoming`, by unit."""
    return {unit: Tally(*counted) for unit, *counted in connection.execute(_COUNT)}


def refused_rows(
    connection: Connection, rows: list[Row], attempt: Callable[[list[Row]], object]
) -> list[tuple[Row, str]]:
    """Which of these rows make the attempt fail, each with the reason; whatever was tried is undone."""
    try:
        with connection.begin_nested() as trial:
            attempt(rows)
            trial.rollback()
    except REFUSALS as error:
        if is_outage(error):
            raise
        if len(rows) == 1:
            return [(rows[0], reason(error))]
        middle = len(rows) // 2
        return [
            *refused_rows(connection, rows[:middle], attempt),
            *refused_rows(connection, rows[middle:], attempt),
        ]
    return []


def _finish(connection: Connection, units: list[Unit], finish: Finish | None) -> None:
    for unit in units:
        if unit.also:
            unit.also(connection, unit.tally)
    if finish:
        finish(connection, units)


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
