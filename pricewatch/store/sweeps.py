"""Where a market's sweep is: a checkpoint that moves in the transaction of each page it stands for."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, text, update

from pricewatch.store.models import Market

# Only the page right behind the checkpoint moves it: it never runs ahead of what is stored.
_ADVANCE = text("""
UPDATE markets SET sweep_page = :page, sweep_cycle_seen = sweep_cycle_seen + :cards,
                   sweep_cycle_priced = sweep_cycle_priced + :priced,
                   sweep_cycle_unpriced = sweep_cycle_unpriced + :unpriced
WHERE id = :market_id AND sweep_start_page = :start_page AND sweep_page = :page - 1
""")


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
) -> None:
    """Of the cards, how many show a price, and how many should and do not."""
    counted = {"cards": cards, "priced": priced, "unpriced": unpriced}
    connection.execute(_ADVANCE, {"market_id": market_id, "start_page": start_page, "page": page, **counted})


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


def price_shares(connection: Connection, market_id: str) -> PriceShares:
    """Which share of the cards showed a price in this cycle, compared with those before."""
    market = connection.execute(_PRICE_SHARES, {"id": market_id}).one()
    return PriceShares(*market)


def doubt_prices(connection: Connection, market_id: str, share: float | None) -> None:
    """Keep the share of a cycle that was doubted, for the next one to agree with; None: no doubt."""
    connection.execute(update(Market).where(Market.id == market_id).values(sweep_doubted_price_share=share))


def end_cycle(connection: Connection, market_id: str, now: datetime, *, complete: bool) -> None:
    """Wrap around to page 1; only a complete cycle becomes what later ones are compared with."""
    values: dict[str, Any] = {"sweep_page": None, "sweep_start_page": None}
    if complete:
        values |= {
            "sweep_last_complete_seen": Market.sweep_cycle_seen,
            "sweep_last_pages": Market.sweep_page,
            "sweep_last_complete_at": now,
            "sweep_last_price_share": _SHARE,
        }
    connection.execute(update(Market).where(Market.id == market_id).values(values))
