"""One batch, one transaction: the rows, the steps on them, and what must be committed with them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from pricewatch.store import incoming
from pricewatch.store.incoming import Row
from pricewatch.store.listings import Raced

logger = logging.getLogger(__name__)
T = TypeVar("T")

# A step works on the rows in `incoming`: (connection, run id, market id).
Step = Callable[[Connection, int, str | None], None]
RACES_TO_LOSE = 5
# SQLSTATE classes that say "not now" rather than "not this row".
OUTAGES = frozenset({"08", "25", "40", "53", "55", "57", "58"})

_COUNT = text(
    "SELECT coalesce(unit, 0), count(*) FILTER (WHERE is_new), count(*) FILTER (WHERE NOT is_new),"
    " count(*) FILTER (WHERE appended) FROM incoming GROUP BY 1"
)


@dataclass(slots=True)
class Tally:
    """What a unit did: for counters, stats and the page's own row."""

    new: int = 0
    updated: int = 0
    price_rows: int = 0
    refused: list[tuple[Row, str]] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.new += other.new
        self.updated += other.updated
        self.price_rows += other.price_rows
        self.refused += other.refused


@dataclass(slots=True)
class Unit:
    """Rows that belong together, and what else must be written in the same transaction."""

    rows: list[Row]
    also: Callable[[Connection, Tally], None] | None = None
    # Somebody waits for the commit, so it is not held back for more rows.
    waits: bool = False
    tally: Tally = field(default_factory=Tally)


class Batch:
    """Stores units: together if the database takes them, each by itself or row by row if not."""

    def __init__(self, steps: list[Step], run_id: int, market_id: str | None) -> None:
        self.steps = steps
        self.run_id = run_id
        self.market_id = market_id

    def store(
        self,
        connection: Connection,
        units: list[Unit],
        finish: Callable[[Connection, list[Unit]], None] | None = None,
    ) -> None:
        try:
            self._store_together(connection, units, finish)
        except (DBAPIError, ValueError, Raced) as error:
            if is_outage(error):
                raise
            if len(units) > 1:
                for unit in units:
                    self.store(connection, [unit], finish)
                return
            logger.warning("The database refused part of a batch, saving the rest: %s", reason(error))
            unit = units[0]
            with connection.begin():
                unit.tally = self._bisect(connection, unit.rows)
                _finish(connection, units, finish)

    def _store_together(
        self,
        connection: Connection,
        units: list[Unit],
        finish: Callable[[Connection, list[Unit]], None] | None,
    ) -> None:
        for lost in range(RACES_TO_LOSE + 1):
            try:
                with connection.begin():
                    rows = [{**row, "unit": n} for n, unit in enumerate(units) for row in unit.rows]
                    for unit in units:
                        unit.tally = Tally()
                    for n, tally in self._run_steps(connection, rows).items():
                        units[n].tally = tally
                    _finish(connection, units, finish)
            except Raced:
                if lost == RACES_TO_LOSE:
                    raise
            else:
                return

    def _bisect(self, connection: Connection, rows: list[Row]) -> Tally:
        try:
            with connection.begin_nested():
                return self._run_steps(connection, [{**row, "unit": 0} for row in rows])[0]
        except (DBAPIError, ValueError, Raced) as error:
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
    counted = connection.execute(_COUNT)
    return {unit: Tally(new, updated, price_rows) for unit, new, updated, price_rows in counted}


def _finish(
    connection: Connection, units: list[Unit], finish: Callable[[Connection, list[Unit]], None] | None
) -> None:
    for unit in units:
        if unit.also:
            unit.also(connection, unit.tally)
    if finish:
        finish(connection, units)


def is_outage(error: BaseException) -> bool:
    """Whether the database could not, rather than would not: such work is worth trying again."""
    if isinstance(error, InterfaceError):
        return True
    code = getattr(getattr(error, "orig", None), "pgcode", None)
    if code is None:
        return isinstance(error, OperationalError)
    return code[:2] in OUTAGES


def reason(error: BaseException) -> str:
    original = getattr(error, "orig", None) or error
    return str(original).strip().split("\n")[0] or type(original).__name__
