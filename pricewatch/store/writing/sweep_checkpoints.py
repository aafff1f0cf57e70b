"""The checkpoint of a market's sweep, which advances in the same transaction as each page is stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, text, update

from pricewatch.errors import UserError
from pricewatch.rules.sweep_cycle import Cycle
from pricewatch.store.models import Market
from pricewatch.store.operations import alert_rows

# Only the next page advances the checkpoint, so that it is never ahead of what is stored.
_ADVANCE = text("""
UPDATE markets SET sweep_page = :page, sweep_cycle_seen = sweep_cycle_seen + :cards,
                   sweep_cycle_priced = sweep_cycle_priced + :priced,
                   sweep_cycle_unpriced = sweep_cycle_unpriced + :unpriced
WHERE id = :market_id AND sweep_start_page = :start_page AND sweep_page = :page - 1
""")
_ACCEPT_PARTIAL = text("""
UPDATE markets m SET sweep_last_complete_seen = m.sweep_last_partial_seen, sweep_last_complete_at = :now,
    sweep_last_partial_seen = NULL
FROM markets before
WHERE m.id = :id AND before.id = m.id AND m.sweep_last_partial_seen > 0
RETURNING before.sweep_last_partial_seen AS seen, before.sweep_last_complete_seen AS last_complete
""")


@dataclass(frozen=True, slots=True)
class CycleCounts:
    """The number of cards in this cycle, in the last complete one, and in a partial one after that."""

    seen: int
    last_complete: int | None
    last_partial: int | None


_PRICE_SHARE = text(
    "sweep_cycle_priced / nullif(sweep_cycle_priced + sweep_cycle_unpriced, 0)::double precision"
)
_PRICE_SHARES = text(f"""
SELECT {_PRICE_SHARE}, sweep_last_price_share, sweep_doubted_price_share FROM markets WHERE id = :id
""")


class PriceShares(NamedTuple):
    """The share of cards with a price among those that should have one; None if there are no such cards."""

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
    """Advance the checkpoint to a page if it is the next one; return whether it was.

    `priced` is the number of cards with a price, `unpriced` of those that should have one and do not.
    """
    counts = {"cards": cards, "priced": priced, "unpriced": unpriced}
    values = {"market_id": market_id, "start_page": start_page, "page": page, **counts}
    return connection.execute(_ADVANCE, values).rowcount == 1


def end_list(connection: Connection, market_id: str, start_page: str, last: int, beyond: int) -> None:
    """Record that a list ends with page `last`; subtract the `beyond` cards counted on later pages."""
    connection.execute(
        update(Market)
        .where(Market.id == market_id, Market.sweep_start_page == start_page)
        .values(
            sweep_page=func.least(Market.sweep_page, last),
            sweep_cycle_seen=Market.sweep_cycle_seen - beyond,
        )
    )


def start_next_list(connection: Connection, market_id: str, start_page: str) -> None:
    """Move the checkpoint to the next start page, after the previous one was read to its end."""
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
    """Return the price shares of this cycle and of earlier ones."""
    market = connection.execute(_PRICE_SHARES, {"id": market_id}).one()
    return PriceShares(*market)


def set_doubted_price_share(connection: Connection, market_id: str, share: float | None) -> None:
    """Store the price share of a doubtful cycle, for comparison with the next one; None clears it."""
    connection.execute(update(Market).where(Market.id == market_id).values(sweep_doubted_price_share=share))


def end_cycle(
    connection: Connection, market_id: str, now: datetime, cycle: Cycle, *, counts_as_complete: bool = True
) -> None:
    """Go back to page 1. Later cycles are compared with the last complete cycle only."""
    values: dict[str, Any] = {
        "sweep_page": None,
        "sweep_start_page": None,
        # An empty list does not change the known number of pages.
        "sweep_last_pages": func.coalesce(func.nullif(Market.sweep_page, 0), Market.sweep_last_pages),
    }
    if cycle is Cycle.PARTIAL:
        values["sweep_last_partial_seen"] = Market.sweep_cycle_seen
    elif counts_as_complete:
        values |= {
            "sweep_last_complete_seen": Market.sweep_cycle_seen,
            "sweep_last_complete_at": now,
            "sweep_last_partial_seen": None,
            "sweep_last_price_share": _PRICE_SHARE,
        }
    connection.execute(update(Market).where(Market.id == market_id).values(values))


def accept_partial_cycle(connection: Connection, market_id: str, now: datetime) -> CycleCounts:
    """Accept the last, partial cycle as complete: a person confirmed that the market has shrunk."""
    row = connection.execute(_ACCEPT_PARTIAL, {"id": market_id, "now": now}).one_or_none()
    if row is None:
        raise UserError(f"The last sweep of {market_id} was not partial: there is nothing to accept.")
    alert_rows.resolve_alert(connection, kind="sweep_partial", subject=market_id, now=now)
    return CycleCounts(row.seen, row.last_complete, None)
