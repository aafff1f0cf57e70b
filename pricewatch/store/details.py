"""Which listings' own pages are to be read, in the order of the rule in `rules.details`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, text

# Two ranges of one index, so that the cost is that of the rows taken, however many listings there are.
_CHOOSE = text("""
(SELECT id, url FROM listings
 WHERE market_id = :market_id AND active AND verification_requested_at IS NULL AND detail_due_at IS NULL
 ORDER BY id LIMIT :most)
UNION ALL
(SELECT id, url FROM listings
 WHERE market_id = :market_id AND active AND verification_requested_at IS NULL AND detail_due_at <= :now
 ORDER BY detail_due_at LIMIT :most)
LIMIT :most
""")

_PUT_OFF = text("UPDATE listings SET detail_due_at = :due_at WHERE id = :listing_id")
_HAND_OVER = text("""
UPDATE listings
SET verification_requested_at = coalesce(verification_requested_at, :now), detail_due_at = :due_at
WHERE id = ANY(:ids)
""")


def choose(connection: Connection, market_id: str, now: datetime, most: int) -> list[tuple[int, str]]:
    chosen = connection.execute(_CHOOSE, {"market_id": market_id, "now": now, "most": most})
    return [(listing_id, url) for listing_id, url in chosen]


def put_off(connection: Connection, listing_id: int, due_at: datetime) -> None:
    """A page that could not be read waits, so that it does not hold up the others."""
    connection.execute(_PUT_OFF, {"listing_id": listing_id, "due_at": due_at})


def hand_over(connection: Connection, ids: Sequence[int], now: datetime, due_at: datetime) -> None:
    """Pages that are not there any more are a matter for verification."""
    if ids:
        connection.execute(_HAND_OVER, {"ids": list(ids), "now": now, "due_at": due_at})
