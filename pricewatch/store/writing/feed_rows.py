"""Listings as rows of the exported feeds."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, text

from pricewatch.items import ListingCheck
from pricewatch.money import Money

_COLUMNS = "source_id, title, price_cents, price_max_cents, currency, availability"
_ACCEPTED = text(f"""
SELECT coalesce(unit, 0) AS unit, {_COLUMNS}, url, observed_at AS seen_at FROM incoming
WHERE NOT quarantined ORDER BY unit, identity_key
""")
_CHECKED = text(f"""
SELECT id, {_COLUMNS}, url, last_seen_at AS seen_at FROM listings
WHERE id = ANY(:ids) ORDER BY id
""")


def accepted(connection: Connection) -> list[tuple[int, dict[str, Any]]]:
    """Return the rows of `incoming` that were not quarantined, with the index of their unit."""
    return [(row.unit, _fields(row)) for row in connection.execute(_ACCEPTED)]


def checked(connection: Connection, checks: dict[int, ListingCheck]) -> list[dict[str, Any]]:
    """Return checked listings as they are stored now, with the outcome of the check."""
    rows = connection.execute(_CHECKED, {"ids": list(checks)})
    return [
        {**_fields(row), "checked_at": checks[row.id].at.isoformat(), "outcome": str(checks[row.id].attempt)}
        for row in rows
    ]


def _fields(row: Row[Any]) -> dict[str, Any]:
    price = Money.of(row.price_cents, row.currency)
    highest = Money.of(row.price_max_cents, row.currency)
    return {
        "source": row.source_id,
        "title": row.title,
        "price": price.amount if price else None,
        "price_max": highest.amount if highest else None,
        "currency": row.currency,
        "availability": row.availability,
        "url": row.url,
        "seen_at": row.seen_at.isoformat() if row.seen_at else None,
    }
