"""The newest price decreases. One page examines a limited number of rows of price history."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, text

from pricewatch.errors import UserError
from pricewatch.money import Money
from pricewatch.store.views.listing_columns import rows_with_money
from pricewatch.store.views.listing_conditions import IN_MARKET

SPANS = {"24h": timedelta(hours=24), "7d": timedelta(days=7), "30d": timedelta(days=30)}
HISTORY_WINDOW = 5_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_POSITION = re.compile(r"([0-9]{1,17})-([0-9]{1,18})")
# Cards of one page are observed at the same time, so the position needs the listing too. The index on
# observed_at needs the first condition.
_AFTER_POSITION = "h.observed_at <= :at AND (h.observed_at, h.listing_id) < (:at, :listing_id)"
_CHANGES = """
SELECT h.listing_id, h.observed_at, h.price_cents, h.currency FROM price_history h
WHERE h.observed_at > :since AND {position} ORDER BY h.observed_at DESC, h.listing_id DESC
"""
_DROPS = """
SELECT l.id, l.source_id, l.market_id, l.title, l.url, l.location, l.availability, l.active,
       c.observed_at, c.price_cents, c.currency, p.price_cents AS before_cents,
       round(100.0 * (p.price_cents - c.price_cents) / p.price_cents, 1) AS percent
FROM ({changes} LIMIT :window) c
CROSS JOIN LATERAL (
    SELECT h.price_cents, h.currency FROM price_history h
    WHERE h.listing_id = c.listing_id AND h.observed_at < c.observed_at AND h.price_cents IS NOT NULL
    ORDER BY h.observed_at DESC LIMIT 1
) p
JOIN {listings} l ON l.id = c.listing_id
WHERE p.currency = c.currency AND c.price_cents < p.price_cents AND c.price_cents <= p.price_cents * :share
  AND {conditions}
ORDER BY c.observed_at DESC, c.listing_id DESC LIMIT :most
"""
_END_OF_WINDOW = "SELECT observed_at, listing_id FROM ({changes} OFFSET :window - 1 LIMIT 1) c"


@dataclass(frozen=True, slots=True)
class DropPosition:
    """Where a page ends; the next one begins after it."""

    observed_at: datetime
    listing_id: int

    @classmethod
    def parse(cls, written: str) -> DropPosition:
        found = _POSITION.fullmatch(written)
        if found is None:
            raise UserError("`before` is the `next` of the previous page.")
        return cls(_EPOCH + timedelta(microseconds=int(found[1])), int(found[2]))

    def __str__(self) -> str:
        return f"{(self.observed_at - _EPOCH) // timedelta(microseconds=1)}-{self.listing_id}"


@dataclass(frozen=True, slots=True)
class DropFilter:
    """Which decreases are listed."""

    since: datetime
    market_id: str | None = None
    source_id: str | None = None
    min_percent: float = 0
    before: DropPosition | None = None


def price_drops(
    connection: Connection, filter_: DropFilter, *, most: int, only_visible: bool = False
) -> tuple[list[dict[str, Any]], DropPosition | None]:
    """Return a page, the newest first, and where it ends; a page may be short if matches are rare."""
    conditions = ["l.source_id = :source_id"] if filter_.source_id is not None else []
    conditions += [IN_MARKET.format("l")] if filter_.market_id is not None else []
    changes = _CHANGES.format(position=_AFTER_POSITION if filter_.before else "true")
    query = _DROPS.format(
        changes=changes,
        listings="visible_listings" if only_visible else "listings",
        conditions=" AND ".join(conditions) or "true",
    )
    values: dict[str, Any] = {
        "since": filter_.since,
        "at": filter_.before.observed_at if filter_.before else None,
        "listing_id": filter_.before.listing_id if filter_.before else None,
        "source_id": filter_.source_id,
        "market_id": filter_.market_id,
        "share": 1 - Decimal(str(filter_.min_percent)).scaleb(-2),
        "window": HISTORY_WINDOW,
    }
    rows = [
        {**row, "before": Money.of(row["before_cents"], row["currency"])}
        for row in rows_with_money(connection.execute(text(query), {**values, "most": most + 1}))
    ]
    if len(rows) > most:
        return rows[:most], DropPosition(rows[most - 1]["observed_at"], rows[most - 1]["id"])
    end = connection.execute(text(_END_OF_WINDOW.format(changes=changes)), values).first()
    return rows, DropPosition(*end) if end else None
