"""The limiter backend in PostgreSQL: one row of `rate_limits` per domain, one statement per step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import ARRAY, Connection, CursorResult, Text, bindparam, text
from sqlalchemy.sql.elements import TextClause

from pricewatch.fetching.rate_limit.backend import Refusal, outcome
from pricewatch.rules.request_budget import Limit

# The sub-select runs after the row lock was taken, so no other reservation comes between reading the server
# clock and writing. A time beyond the longest possible reservation shows that the clock was set back.
_RESERVE = text("""
INSERT INTO rate_limits AS stored (domain, last_at, next_at, holders)
VALUES (:domain, now(), now() + make_interval(secs => :interval), jsonb_build_object(
    CAST(:ticket AS text), jsonb_build_object('until', extract(epoch FROM now()) + :lease)))
ON CONFLICT (domain) DO UPDATE SET (last_at, next_at, holders) = (
    SELECT CASE WHEN is_granted THEN free_at ELSE least(stored.last_at, free_at) END,
           CASE WHEN is_granted THEN free_at + gap ELSE free_at END,
           CASE WHEN is_granted THEN leases || jsonb_build_object(CAST(:ticket AS text),
                jsonb_build_object('until', extract(epoch FROM free_at) + :lease)) ELSE leases END
    FROM (SELECT clock_timestamp() AS at, make_interval(secs => :interval) AS gap,
                 make_interval(secs => :max_wait) AS max_wait) AS parameters
    CROSS JOIN LATERAL (SELECT greatest(stored.next_at, stored.last_at + gap) AS planned_at) AS plan
    CROSS JOIN LATERAL (
        SELECT CASE WHEN planned_at > at + max_wait + gap THEN at ELSE greatest(at, planned_at) END AS free_at
    ) AS next
    CROSS JOIN LATERAL (
        SELECT count(*) AS leased, coalesce(jsonb_object_agg(key, value), '{}') AS leases
        FROM jsonb_each(stored.holders)
        WHERE to_timestamp((value->>'until')::float8)
              BETWEEN at AND at + max_wait + gap + make_interval(secs => :lease)
    ) AS unexpired
    CROSS JOIN LATERAL (
        SELECT leased < :concurrent AND free_at <= at + max_wait AS is_granted
    ) AS decision)
RETURNING jsonb_exists(holders, :ticket) AS has_slot,
          extract(epoch FROM next_at - clock_timestamp())::float8 AS until_next
""")
_RELEASE = text("UPDATE rate_limits SET holders = holders - CAST(:ticket AS text) WHERE domain = :domain")
_RENEW = text("""
UPDATE rate_limits SET holders = holders || coalesce((
    SELECT jsonb_object_agg(key, jsonb_build_object('until', extract(epoch FROM clock_timestamp()) + :lease))
    FROM jsonb_each(holders) WHERE key = ANY(:tickets)), '{}')
WHERE domain = :domain
""").bindparams(bindparam("tickets", type_=ARRAY(Text)))
_HOLD = text("""
INSERT INTO rate_limits AS stored (domain, next_at)
VALUES (:domain, clock_timestamp() + make_interval(secs => :seconds))
ON CONFLICT (domain) DO UPDATE SET next_at = greatest(stored.next_at, excluded.next_at)
""")


class PostgresBackend:
    """`connect` returns the connection of the calling thread."""

    def __init__(self, connect: Callable[[], Connection]):
        self._connect = connect

    def reserve(
        self, domain: str, ticket: str, limit: Limit, *, max_wait: float, lease: float
    ) -> float | Refusal:
        limits = {"interval": limit.interval, "concurrent": limit.concurrent, "max_wait": max_wait}
        row = self._execute(_RESERVE, domain=domain, ticket=ticket, lease=lease, **limits).one()
        return outcome(has_slot=row.has_slot, until_next=row.until_next, limit=limit, max_wait=max_wait)

    def release(self, domain: str, ticket: str) -> None:
        self._execute(_RELEASE, domain=domain, ticket=ticket)

    def renew(self, domain: str, tickets: Sequence[str], *, lease: float) -> None:
        self._execute(_RENEW, domain=domain, tickets=list(tickets), lease=lease)

    def hold(self, domain: str, seconds: float) -> None:
        self._execute(_HOLD, domain=domain, seconds=seconds)

    def _execute(self, statement: TextClause, **parameters: Any) -> CursorResult[Any]:
        with self._connect().begin() as transaction:
            return transaction.connection.execute(statement, parameters)
