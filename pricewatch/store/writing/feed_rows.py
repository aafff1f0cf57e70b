"""Listings as the feeds show them: the fields that a person or a program reads."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, text

from pricewatch.items import ListingCheck
from pricewatch.money import Money

_COLUMNS = "source_id, title, price_cents, price_max_cents, currency, availability"
_ACCEPTED = text(f"""
SELECT coalesce(unit, 0) AS unit, {_COLUMNS}, url, observed_at AS seen_at FROM incoming
WHERE NOT held ORDER BY unit, identity_key
""")
_CHECKED = text(f"""
SELECT id, {_COLUMNS}, url, last_seen_at AS seen_at FROM listings
WHERE id = ANY(:ids) ORDER BY id
""")


def accepted(connection: Connection) -> list[tuple[int, dict[str, Any]]]:
    """What is in `incoming` and was not held, with the number of its unit."""
    return [(row.unit, _fields(row)) for row in connection.execute(_ACCEPTED)]


def checked(connection: Connection, looks: dict[int, ListingCheck]) -> list[dict[str, Any]]:
    """Listings that were looked at, as they are stored now, with what the look said."""
    rows = connection.execute(_CHECKED, {"ids": list(looks)})
    return [
        {**_fields(row), "checked_at": looks[row.id].at.isoformat(), "outcome": str(looks[row.id].attempt)}
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
