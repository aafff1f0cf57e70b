"""The robots.txt files that all processes share, each fetched once a day by whoever needs it first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, and_, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from pricewatch.rules.freshness import CLOCKS_APART
from pricewatch.rules.robots_txt import RobotsFile, RobotsOutcome
from pricewatch.store.models import RobotsCache

NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def read(connection: Connection, origin: str, now: datetime) -> tuple[RobotsFile, datetime] | None:
    """The file of an origin and when it must be fetched again; None where that is now."""
    row = connection.execute(
        select(RobotsCache).where(
            RobotsCache.origin == origin,
            RobotsCache.expires_at > now,
            RobotsCache.fetched_at <= now + CLOCKS_APART,
        )
    ).one_or_none()
    if row is None:
        return None
    return RobotsFile(RobotsOutcome(row.outcome), row.reason or "", row.body or ""), row.expires_at


def claim(connection: Connection, origin: str, now: datetime, seconds: float) -> bool:
    """Whether the caller is the one to fetch it; a claim lapses by itself if its holder dies."""
    until = now + timedelta(seconds=seconds)
    statement = insert(RobotsCache).values(
        origin=origin,
        outcome=RobotsOutcome.UNAVAILABLE,
        reason="never fetched",
        # Long expired, for readers whose clocks are a little behind.
        fetched_at=NEVER,
        expires_at=NEVER,
        claimed_until=until,
    )
    claimed = connection.execute(
        statement.on_conflict_do_update(
            index_elements=[RobotsCache.origin],
            set_={"claimed_until": until},
            where=and_(
                or_(RobotsCache.expires_at <= now, RobotsCache.fetched_at > now + CLOCKS_APART),
                or_(
                    RobotsCache.claimed_until.is_(None),
                    RobotsCache.claimed_until <= now,
                    RobotsCache.claimed_until > until + CLOCKS_APART,
                ),
            ),
        ).returning(RobotsCache.origin)
    )
    return claimed.scalar() is not None


def save(
    connection: Connection,
    origin: str,
    file: RobotsFile,
    *,
    http_status: int | None,
    now: datetime,
    expires_at: datetime,
) -> None:
    values = {
        "outcome": file.outcome,
        "http_status": http_status,
        "body": file.text,
        "reason": file.reason,
        "fetched_at": now,
        "expires_at": expires_at,
        "claimed_until": None,
    }
    statement = insert(RobotsCache).values(origin=origin, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=[RobotsCache.origin], set_=values))


def give_up(connection: Connection, origin: str) -> None:
    """The claimer could not fetch it, for reasons of its own: somebody else may try at once."""
    connection.execute(update(RobotsCache).where(RobotsCache.origin == origin).values(claimed_until=None))
