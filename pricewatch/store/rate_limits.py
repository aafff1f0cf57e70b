"""The book of turns in PostgreSQL: every statement is one step, by the database's own clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import ARRAY, Connection, Text, bindparam, text

from pricewatch.rules.request_budget import Grant, Limit

_RESERVE = text(
    "SELECT ticket, wait, sure, told"
    " FROM reserve_turns(:domain, :tickets, :gap, :concurrent, :horizon, :lease, :ahead)"
).bindparams(bindparam("tickets", type_=ARRAY(Text)))
_CONFIRM = text("SELECT confirm_turn(:domain, :ticket, :concurrent, :lease)")
_RELEASE = text("UPDATE rate_limits SET holders = holders - :tickets WHERE domain = :domain").bindparams(
    bindparam("tickets", type_=ARRAY(Text))
)
_RENEW = text("""
UPDATE rate_limits SET holders = holders || coalesce((
    SELECT jsonb_object_agg(key, value || jsonb_build_object(
        'until', extract(epoch FROM clock_timestamp())::float8 + :lease))
    FROM jsonb_each(holders) WHERE key = ANY(:tickets)), '{}')
WHERE domain = :domain
""").bindparams(bindparam("tickets", type_=ARRAY(Text)))
_HOLD = text("""
INSERT INTO rate_limits (domain, next_at)
VALUES (:domain, clock_timestamp() + make_interval(secs => :seconds))
ON CONFLICT (domain) DO UPDATE SET next_at = greatest(rate_limits.next_at, excluded.next_at)
""")


class PostgresTurns:
    """Keeps the turns of all processes in `rate_limits`; `connect` gives the calling thread's connection."""

    def __init__(self, connect: Callable[[], Connection]):
        self._connect = connect

    def reserve(
        self,
        domain: str,
        tickets: Sequence[str],
        limit: Limit,
        *,
        horizon: float,
        lease: float,
        ahead: float = 0.0,
    ) -> list[Grant]:
        turns = {"domain": domain, "tickets": list(tickets), "lease": lease, "ahead": ahead}
        limits = {"gap": limit.interval, "concurrent": limit.concurrent, "horizon": horizon}
        with self._connect().begin() as transaction:
            rows = transaction.connection.execute(_RESERVE, turns | limits).all()
        return [Grant(*row) for row in rows]

    def confirm(self, domain: str, ticket: str, limit: Limit, *, lease: float) -> bool:
        values = {"domain": domain, "ticket": ticket, "concurrent": limit.concurrent, "lease": lease}
        with self._connect().begin() as transaction:
            return bool(transaction.connection.execute(_CONFIRM, values).scalar())

    def release(self, domain: str, tickets: Sequence[str]) -> None:
        with self._connect().begin() as transaction:
            transaction.connection.execute(_RELEASE, {"domain": domain, "tickets": list(tickets)})

    def renew(self, domain: str, tickets: Sequence[str], *, lease: float) -> None:
        with self._connect().begin() as transaction:
            transaction.connection.execute(
                _RENEW, {"domain": domain, "tickets": list(tickets), "lease": lease}
            )

    def hold(self, domain: str, seconds: float) -> None:
        """Nobody asks this domain before then; turns already given stand."""
        with self._connect().begin() as transaction:
            transaction.connection.execute(_HOLD, {"domain": domain, "seconds": seconds})
