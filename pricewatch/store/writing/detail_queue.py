"""The queue of product pages to read, in the order that `rules.detail_pages` defines."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, text

from pricewatch.queued_work import EarlierChecks

# Two ranges of one index, so that the cost depends on the number of rows returned only.
_CHOOSE = text("""
(SELECT id, url, last_scraped_at IS NOT NULL, unread_since FROM listings
 WHERE market_id = :market_id AND active AND verification_requested_at IS NULL AND detail_due_at IS NULL
 ORDER BY id LIMIT :most)
UNION ALL
(SELECT id, url, last_scraped_at IS NOT NULL, unread_since FROM listings
 WHERE market_id = :market_id AND active AND verification_requested_at IS NULL AND detail_due_at <= :now
 ORDER BY detail_due_at LIMIT :most)
LIMIT :most
""")

_POSTPONE = text("UPDATE listings SET detail_due_at = :due_at WHERE id = :listing_id")
_SET_UNREAD_SINCE = text("""
UPDATE listings SET unread_since = CASE WHEN CAST(:unread_at AS timestamptz) IS NOT NULL
                                        THEN coalesce(unread_since, :unread_at) END
WHERE id = :listing_id
""")
_REQUEST_VERIFICATION = text("""
UPDATE listings
SET verification_requested_at = coalesce(verification_requested_at, :now), detail_due_at = :due_at
WHERE id = ANY(:ids)
""")


class DetailPage(NamedTuple):
    """A product page to read."""

    listing_id: int
    url: str
    earlier: EarlierChecks


def next_pages(connection: Connection, market_id: str, now: datetime, most: int) -> list[DetailPage]:
    chosen = connection.execute(_CHOOSE, {"market_id": market_id, "now": now, "most": most})
    return [
        DetailPage(listing_id, url, EarlierChecks(read, unread)) for listing_id, url, read, unread in chosen
    ]


def postpone(
    connection: Connection, listing_id: int, due_at: datetime, *, unread_at: datetime | None = None
) -> None:
    """Postpone a page that could not be read, so that it does not block the others."""
    connection.execute(_POSTPONE, {"listing_id": listing_id, "due_at": due_at})
    if unread_at is not None:
        record_check(connection, listing_id, unread_at)


def record_check(connection: Connection, listing_id: int, unread_at: datetime | None) -> None:
    """Record a check of the page: the time if it could not be read, or None if it could."""
    connection.execute(_SET_UNREAD_SINCE, {"listing_id": listing_id, "unread_at": unread_at})


def request_verification(connection: Connection, ids: Sequence[int], now: datetime, due_at: datetime) -> None:
    """Request verification of listings whose pages are missing."""
    if ids:
        connection.execute(_REQUEST_VERIFICATION, {"ids": list(ids), "now": now, "due_at": due_at})
