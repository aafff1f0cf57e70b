"""How the pages of a source are fetched and read: whether they are rendered, and what pages taught."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection, func, select, update

from pricewatch.errors import UserError
from pricewatch.queued_work import SourceHints
from pricewatch.rules.rendering import CHOICES
from pricewatch.store.models import Source
from pricewatch.store.people import audit_log
from pricewatch.vocabulary import Render


def load(connection: Connection, source_ids: Iterable[str]) -> dict[str, SourceHints]:
    """Return the hints of these sources by id."""
    query = select(
        Source.id,
        Source.render,
        Source.needs_browser,
        func.coalesce(Source.price_place, ""),
        Source.price_place_seen,
    ).where(Source.id.in_(sorted(set(source_ids))))
    return {row.id: SourceHints(*row[1:]) for row in connection.execute(query)}


def set_render(connection: Connection, source_id: str, render: str) -> None:
    """Choose whether the pages of a source are rendered; what pages taught about it is forgotten."""
    if render not in CHOICES:
        raise UserError(f"Unknown choice {render[:20]!r}. Known: {', '.join(CHOICES)}.")
    values = {"render": render, "needs_browser": False}
    if connection.execute(update(Source).where(Source.id == source_id).values(values)).rowcount != 1:
        raise UserError(f"There is no source {source_id!r}.")


def learn_browser(connection: Connection, source_ids: Iterable[str], now: datetime) -> None:
    """Store that these sources show prices only in the browser, unless a person chose otherwise."""
    learned = connection.execute(
        update(Source)
        .where(Source.id.in_(sorted(set(source_ids))), Source.render == Render.AUTO, ~Source.needs_browser)
        .values(needs_browser=True)
        .returning(Source.id)
    )
    for source_id in sorted(learned.scalars()):
        audit_log.record_action(
            connection,
            person="pricewatch",
            address=None,
            action="source needs the browser",
            subject=source_id,
            now=now,
        )
