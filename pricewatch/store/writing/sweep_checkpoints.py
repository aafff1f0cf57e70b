"""Where a market's sweep is: a checkpoint that moves in the transaction of each page it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, text, update

from pricewatch.errors import UserError
from pricewatch.rules.sweep_cycle import Cycle
from pricewatch.store.models import Market
from pricewatch.store.writing import alert_rows

# Only the page right behind the checkpoint moves it: it never runs ahead of what is stored.
_ADVANCE = text("""
UPDATE markets SET sweep_page = :page, sweep_cycle_seen = sweep_cycle_seen + :cards,
                   sweep_cycle_priced = sweep_cycle_priced + :priced,
                   sweep_cycle_unpriced = sweep_cycle_unpriced + :unpriced
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


_SHARE = text("sweep_cycle_priced / nullif(sweep_cycle_priced + sweep_cycle_unpriced, 0)::double precision")
_PRICE_SHARES = text(f"""
SELECT {_SHARE}, sweep_last_price_share, sweep_doubted_price_share FROM markets WHERE id = :id
""")


class PriceShares(NamedTuple):
    """Of the cards that should show a price, the share that does; None where there is none to tell it by."""

    now: float | None
    last_complete: float | None
    doubted: float | None


def begin_cycle(connection: Connection, market_id: str, start_page: str, now: datetime) -> None:
    connection.execute(
        update(Market)
        .where(Market.id == market_id)
        .values(
            sweep_start_page=start_page,
            sweep_page=0,
            sweep_cycle_started_at=now,
            sweep_cycle_seen=0,
            sweep_cycle_priced=0,
            sweep_cycle_unpriced=0,
        )
    )


def advance(
    connection: Connection,
    market_id: str,
    start_page: str,
    page: int,
    cards: int,
    *,
    priced: int = 0,
    unpriced: int = 0,
) -> bool:
    """Move the checkpoint to a page, if it is the next one; says whether it was.

    Of the cards, `priced` show a price, and `unpriced` should and do not.
    """
    counted = {"cards": cards, "priced": priced, "unpriced": unpriced}
    given = {"market_id": market_id, "start_page": start_page, "page": page, **counted}
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


def price_shares(connection: Connection, market_id: str) -> PriceShares:
    """Which share of the cards showed a price in this cycle, compared with those before."""
    market = connection.execute(_PRICE_SHARES, {"id": market_id}).one()
    return PriceShares(*market)


def doubt_prices(connection: Connection, market_id: str, share: float | None) -> None:
    """Keep the share of a cycle that was doubted, for the next one to agree with; None: no doubt."""
    connection.execute(update(Market).where(Market.id == market_id).values(sweep_doubted_price_share=share))


def end_cycle(
    connection: Connection, market_id: str, now: datetime, cycle: Cycle, *, counts_as_complete: bool = True
) -> None:
    """Wrap around to page 1; only a complete cycle becomes what later ones are compared with."""
    values: dict[str, Any] = {
        "sweep_page": None,
        "sweep_start_page": None,
        # None of a list that showed nothing.
        "sweep_last_pages": func.coalesce(func.nullif(Market.sweep_page, 0), Market.sweep_last_pages),
    }
    if cycle is Cycle.PARTIAL:
        values["sweep_last_partial_seen"] = Market.sweep_cycle_seen
    elif counts_as_complete:
        values |= {
            "sweep_last_complete_seen": Market.sweep_cycle_seen,
            "sweep_last_complete_at": now,
            "sweep_last_partial_seen": None,
            "sweep_last_price_share": _SHARE,
        }
    connection.execute(update(Market).where(Market.id == market_id).values(values))


def believe(connection: Connection, market_id: str, now: datetime) -> CycleCounts:
    """A person says that the market did shrink to what its last, partial cycle saw."""
    row = connection.execute(_BELIEVE, {"id": market_id, "now": now}).one_or_none()
    if row is None:
        raise UserError(f"The last sweep of {market_id} was not partial: there is nothing to believe.")
    alert_rows.resolve_alert(connection, kind="sweep_partial", subject=market_id, now=now)
    return CycleCounts(row.seen, row.last_complete, None)
