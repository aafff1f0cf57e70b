"""Strict review: price changes over a percentage wait for a person, not for a second observation.

It is chosen for a source, a market or a target. That of the target wins, then the strictest of the markets of
the listing, then that of the source.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.postgresql import insert

from pricewatch.errors import UserError
from pricewatch.store.models import Market, Source, StrictReview, Target

_TABLES: dict[str, Any] = {"source": Source, "market": Market, "target": Target}
KINDS = tuple(_TABLES)

# The same rule as `pricewatch.rules.price_jump.needs_person`; a test compares the two.
NEEDS_PERSON = """CASE WHEN i.is_new OR i.is_older OR i.known_price_cents IS NULL OR i.price_cents IS NULL
        OR (i.price_cents, i.currency) = (i.known_price_cents, i.known_currency) THEN false
    ELSE coalesce(i.currency IS DISTINCT FROM i.known_currency AND s.share IS NOT NULL
        OR abs(i.price_cents - i.known_price_cents) > i.known_price_cents * s.share, false) END"""
SHARE = "LATERAL (SELECT strict_review_share(i.listing_id, i.source_id) AS share) s"


def set_percent(
    connection: Connection, kind: str, subject: str, percent: float | None, *, by: str, now: datetime
) -> None:
    """Choose strict review for a source, market or target; None ends it."""
    column = f"{_checked(connection, kind, subject)}_id"
    value: Any = int(subject) if kind == "target" else subject
    if percent is None:
        connection.execute(delete(StrictReview).where(getattr(StrictReview, column) == value))
        return
    if not 0 < percent <= 1000:
        raise UserError("The percentage must be between 0 and 1000. Example: 20")
    statement = insert(StrictReview).values(
        {column: value, "percent": percent, "created_at": now, "created_by": by}
    )
    changes = {name: statement.excluded[name] for name in ("percent", "created_at", "created_by")}
    connection.execute(statement.on_conflict_do_update(index_elements=[column], set_=changes))


def find(connection: Connection, most: int = 500) -> list[dict[str, Any]]:
    """List what has strict review: its kind, its id, its name and the percentage."""
    query = (
        select(
            StrictReview.source_id,
            StrictReview.market_id,
            StrictReview.target_id,
            StrictReview.percent,
            StrictReview.created_at,
            StrictReview.created_by,
            Source.name,
            Market.display_name,
            Target.url,
        )
        .outerjoin(Source, Source.id == StrictReview.source_id)
        .outerjoin(Market, Market.id == StrictReview.market_id)
        .outerjoin(Target, Target.id == StrictReview.target_id)
        .order_by(StrictReview.id)
        .limit(most)
    )
    return [_row(*row) for row in connection.execute(query)]


def _row(
    source_id: str | None,
    market_id: str | None,
    target_id: int | None,
    percent: Any,
    at: datetime,
    by: str,
    *names: str | None,
) -> dict[str, Any]:
    kind, subject = next(
        (kind, value)
        for kind, value in (("source", source_id), ("market", market_id), ("target", target_id))
        if value is not None
    )
    name = next(filter(None, names), str(subject))
    return {
        "kind": kind,
        "subject": str(subject),
        "name": name,
        "percent": percent,
        "created_at": at,
        "created_by": by,
    }


def _checked(connection: Connection, kind: str, subject: str) -> str:
    """Return the kind if there is such a source, market or target."""
    if kind not in _TABLES:
        raise UserError(f"Unknown kind {kind!r}. Known: {', '.join(KINDS)}.")
    key: Any = subject
    if kind == "target":
        key = int(subject) if subject.isascii() and subject.isdigit() and len(subject) < 19 else -1
    table = _TABLES[kind]
    if connection.execute(select(table.id).where(table.id == key)).scalar() is None:
        raise UserError(f"There is no {kind} {subject!r}.")
    return kind
