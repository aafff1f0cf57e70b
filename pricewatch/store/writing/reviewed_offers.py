"""How a reviewed offer is written: with the same steps as an offer of a crawl, one row at a time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, case, cast, select, text, update
from sqlalchemy import Row as ResultRow
from sqlalchemy.dialects.postgresql import JSONB

from pricewatch.store.models import Target
from pricewatch.store.writing import history_append, incoming_rows, listing_upsert
from pricewatch.store.writing.batch import Batch
from pricewatch.store.writing.incoming_rows import Row
from pricewatch.store.writing.strict_review_rows import NEEDS_PERSON, SHARE

_LOADED = text("SELECT is_older, known_price_cents, known_currency, appended, known_at FROM incoming")
_NEEDS_PERSON = text(f"SELECT {NEEDS_PERSON} FROM incoming i CROSS JOIN {SHARE}")


def load(connection: Connection, row: Row) -> ResultRow[Any]:
    """Load one row into `incoming`, and return what is stored about its listing."""
    incoming_rows.load(connection, [row])
    return connection.execute(_LOADED).one()


def needs_person(connection: Connection) -> bool:
    """Return whether strict review lets only a person accept the loaded row."""
    return bool(connection.execute(_NEEDS_PERSON).scalar_one())


def write(connection: Connection, run_id: int, run_type: str) -> bool:
    """Write the loaded row, and return whether the price history got a new row."""
    batch = Batch(run_id)
    listing_upsert.upsert(connection, batch)
    history_append.append(connection, batch, run_type=run_type)
    return bool(connection.execute(_LOADED).one().appended)


def selectors_of_target(connection: Connection, target_id: int) -> dict[str, str] | None:
    query = select(Target.selectors).where(Target.id == target_id)
    selectors: dict[str, str] | None = connection.execute(query).scalar()
    return selectors


def add_selectors(connection: Connection, target_id: int, selectors: dict[str, str], now: datetime) -> None:
    """Add selectors to a target or replace them; a broken target is active and due again."""
    is_broken = Target.status == "BROKEN"
    connection.execute(
        update(Target)
        .where(Target.id == target_id)
        .values(
            selectors=Target.selectors.op("||")(cast(selectors, JSONB)),
            status=case((is_broken, "ACTIVE"), else_=Target.status),
            next_due_at=case(
                (and_(is_broken, Target.next_due_at.is_not(None)), now), else_=Target.next_due_at
            ),
            consecutive_failures=0,
            updated_at=now,
        )
    )


def mark_target_read(connection: Connection, target_id: int, now: datetime) -> None:
    """A target whose last offer was quarantined has been read successfully after all."""
    connection.execute(
        update(Target)
        .where(Target.id == target_id, Target.last_status == "QUARANTINED")
        .values(last_status="SUCCESS", last_reason=None, updated_at=now)
    )
