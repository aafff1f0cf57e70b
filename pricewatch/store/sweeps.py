"""Where a market's sweep is: a checkpoint that moves in the transaction of each page it stands for."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, text, update

from pricewatch.store.models import Market

# Only the page right behind the checkpoint moves it: it never runs ahead of what is stored.
_ADVANCE = text("""
UPDATE markets SET sweep_page = :page, sweep_cycle_seen = sweep_cycle_seen + :cards
WHERE id = :market_id AND sweep_start_page = :start_page AND sweep_page = :page - 1
""")


def begin_cycle(connection: Connection, market_id: str, start_page: str, now: datetime) -> None:
    connection.execute(
        update(Market)
        .where(Market.id == market_id)
        .values(sweep_start_page=start_page, sweep_page=0, sweep_cycle_started_at=now, sweep_cycle_seen=0)
    )


def advance(connection: Connection, market_id: str, start_page: str, page: int, cards: int) -> None:
    connection.execute(
        _ADVANCE, {"market_id": market_id, "start_page": start_page, "page": page, "cards": cards}
    )


def move_to(connection: Connection, market_id: str, start_page: str) -> None:
    """The start page before was read to its end: go on with the next one."""
    connection.execute(
        update(Market).where(Market.id == market_id).values(sweep_start_page=start_page, sweep_page=0)
    )


def cycle_seen(connection: Connection, market_id: str) -> tuple[int, int | None]:
    """How many cards this cycle has seen, and how many the last complete one had."""
    market = connection.execute(
        text("SELECT sweep_cycle_seen, sweep_last_complete_seen FROM markets WHERE id = :id"),
        {"id": market_id},
    ).one()
    return market[0], market[1]


def end_cycle(connection: Connection, market_id: str, now: datetime, *, complete: bool) -> None:
    """Wrap around to page 1; only a complete cycle becomes what later ones are compared with."""
    values: dict[str, Any] = {"sweep_page": None, "sweep_start_page": None}
    if complete:
        values |= {
            "sweep_last_complete_seen": Market.sweep_cycle_seen,
            "sweep_last_pages": Market.sweep_page,
            "sweep_last_complete_at": now,
        }
    connection.execute(update(Market).where(Market.id == market_id).values(values))
