"""Where a market's sweep is: a checkpoint that moves in the transaction of each page it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, text, update

from pricewatch.errors import UserError
from pricewatch.rules.sweep import Cycle
from pricewatch.store import alerts
from pricewatch.store.models import Market

# Only the page right behind the checkpoint moves it: it never runs ahead of what is stored.
_ADVANCE = text("""
UPDATE markets SET sweep_page = :page, sweep_cycle_seen = sweep_cycle_seen + :cards
WHERE id = :market_id AND sweep_start_page = :start_page AND sweep_page = :page - 1
""")
_BELIEVE = text("""
UPDATE markets m SET sweep_last_complete_seen = m.sweep_last_partial_seen, sweep_last_complete_at = :now,
    sweep_last_partial_seen = NULL
FROM markets before
WHERE m.id = :id AND before.id = m.id AND m.sweep_last_partial_seen > 0
RETURNING before.sweep_last_partial_seen AS seen, before.sweep_last_complete_seen AS last_complete
""")


@dataclass(frozen=True, slots=True)
class CycleCounts:
    """Cards that cycles of a market saw: this one, the last complete one, and a partial one after that."""

    seen: int
    last_complete: int | None
    last_partial: int | None


def begin_cycle(connection: Connection, market_id: str, start_page: str, now: datetime) -> None:
    connection.execute(
        update(Market)
        .where(Market.id == market_id)
        .values(sweep_start_page=start_page, sweep_page=0, sweep_cycle_started_at=now, sweep_cycle_seen=0)
    )


def advance(connection: Connection, market_id: str, start_page: str, page: int, cards: int) -> bool:
    """Move the checkpoint to a page, if it is the next one; says whether it was."""
    given = {"market_id": market_id, "start_page": start_page, "page": page, "cards": cards}
    return connection.execute(_ADVANCE, given).rowcount == 1


def end_list(connection: Connection, market_id: str, start_page: str, last: int, not_of_it: int) -> None:
    """A start page ends with page `last`; cards that were counted on pages beyond it are not of the list."""
    connection.execute(
        update(Market)
        .where(Market.id == market_id, Market.sweep_start_page == start_page)
        .values(
            sweep_page=func.least(Market.sweep_page, last),
            sweep_cycle_seen=Market.sweep_cycle_seen - not_of_it,
        )
    )


def move_to(connection: Connection, market_id: str, start_page: str) -> None:
    """The start page before was read to its end: go on with the next one."""
    connection.execute(
        update(Market).where(Market.id == market_id).values(sweep_start_page=start_page, sweep_page=0)
    )


def cycle_counts(connection: Connection, market_id: str) -> CycleCounts:
    market = connection.execute(
        text(
            "SELECT sweep_cycle_seen, sweep_last_complete_seen, sweep_last_partial_seen"
            " FROM markets WHERE id = :id"
        ),
        {"id": market_id},
    ).one()
    return CycleCounts(*market)


def end_cycle(connection: Connection, market_id: str, now: datetime, cycle: Cycle) -> None:
    """Wrap around to page 1; a partial cycle does not become what later ones are compared with."""
    values: dict[str, Any] = {
        "sweep_page": None,
        "sweep_start_page": None,
        # None of a list that showed nothing.
        "sweep_last_pages": func.coalesce(func.nullif(Market.sweep_page, 0), Market.sweep_last_pages),
    }
    if cycle is Cycle.PARTIAL:
        values["sweep_last_partial_seen"] = Market.sweep_cycle_seen
    else:
        values |= {
            "sweep_last_complete_seen": Market.sweep_cycle_seen,
            "sweep_last_complete_at": now,
            "sweep_last_partial_seen": None,
        }
    connection.execute(update(Market).where(Market.id == market_id).values(values))


def believe(connection: Connection, market_id: str, now: datetime) -> CycleCounts:
    """A person says that the market did shrink to what its last, partial cycle saw."""
    row = connection.execute(_BELIEVE, {"id": market_id, "now": now}).one_or_none()
    if row is None:
        raise UserError(f"The last sweep of {market_id} was not partial: there is nothing to believe.")
    alerts.resolve_alert(connection, kind="sweep_partial", subject=market_id, now=now)
    return CycleCounts(row.seen, row.last_complete, None)
