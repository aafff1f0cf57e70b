"""Cached robots.txt files, shared by all processes. One process claims each fetch."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, and_, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from pricewatch.rules.freshness import CLOCKS_APART
from pricewatch.rules.robots_txt import RobotsFile, RobotsOutcome
from pricewatch.store.models import RobotsCache

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def read(connection: Connection, origin: str, now: datetime) -> tuple[RobotsFile, datetime] | None:
    """Return the file of an origin and when it expires; None if it must be fetched now."""
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
    """Claim the fetch of a file; return False if another process has claimed it. A claim expires."""
    until = now + timedelta(seconds=seconds)
    statement = insert(RobotsCache).values(
        origin=origin,
        outcome=RobotsOutcome.UNAVAILABLE,
        reason="never fetched",
        # Expired long ago, so that processes with a slow clock do not use it.
        fetched_at=LONG_AGO,
        expires_at=LONG_AGO,
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


def release_claim(connection: Connection, origin: str) -> None:
    """Release a claim without a result, so that another process can fetch the file at once."""
    connection.execute(update(RobotsCache).where(RobotsCache.origin == origin).values(claimed_until=None))
