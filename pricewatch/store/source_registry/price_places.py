"""Where the price stands on the product pages of each source, as pages or a person showed it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select, update

from pricewatch.errors import UserError
from pricewatch.rules.price_place import BY_PAGES, PlaceMemory, after_pages
from pricewatch.store.models import Source

LONGEST_SELECTOR = 500


@dataclass(frozen=True, slots=True)
class PricePlace:
    """The place of a source: its CSS selector, how many pages confirmed it, and who chose it when."""

    selector: str
    seen: int
    at: datetime | None
    by: str | None

    @property
    def is_chosen_by_person(self) -> bool:
        return self.by != BY_PAGES


def remember(connection: Connection, source_id: str, selector: str, *, by: str, now: datetime) -> None:
    """Store where the price stands. `by` is "pages" or a person, whose choice only a person changes."""
    if by == BY_PAGES:
        remember_pages(connection, {source_id: [selector]}, now)
        return
    if not _is_usable(selector):
        raise UserError(f"A selector has 1 to {LONGEST_SELECTOR} characters, without control characters.")
    _store(connection, source_id, PlaceMemory(selector.strip(), 0, by), now)


def remember_pages(connection: Connection, places: Mapping[str, Sequence[str]], now: datetime) -> None:
    """Add what product pages showed, by source and in order; a source is written once, if it changes."""
    usable = {
        source_id: list(filter(_is_usable, selectors))
        for source_id, selectors in places.items()
    }
    columns = (
        Source.id,
        Source.price_place,
        Source.price_place_seen,
        Source.price_place_by,
        Source.price_place_other,
        Source.price_place_other_seen,
    )
    # In one order, so that two runs do not deadlock.
    query = select(*columns).where(Source.id.in_(sorted(usable))).order_by(Source.id).with_for_update()
    for row in connection.execute(query).all():
        memory = PlaceMemory(*row[1:])
        changed = after_pages(memory, usable[row.id])
        if changed != memory:
            _store(connection, row.id, changed, now)


def place_of(connection: Connection, source_ids: Iterable[str]) -> dict[str, PricePlace]:
    """Return the places of these sources by id; sources without one are left out."""
    query = select(
        Source.id,
        Source.price_place,
        Source.price_place_seen,
        Source.price_place_at,
        Source.price_place_by,
    ).where(Source.id.in_(sorted(set(source_ids))), Source.price_place.is_not(None))
    return {row[0]: PricePlace(*row[1:]) for row in connection.execute(query)}  # type: ignore[arg-type]  # not NULL


def forget(connection: Connection, source_id: str) -> None:
    """Remove the place of a source; pages can teach a new one."""
    _store(connection, source_id, PlaceMemory(), None)


def _is_usable(selector: str) -> bool:
    return bool(selector.strip()) and len(selector) <= LONGEST_SELECTOR and selector.isprintable()


def _store(connection: Connection, source_id: str, memory: PlaceMemory, now: datetime | None) -> None:
    changed = connection.execute(
        update(Source)
        .where(Source.id == source_id)
        .values(
            price_place=memory.selector,
            price_place_seen=memory.seen,
            price_place_at=now,
            price_place_by=memory.by,
            price_place_other=memory.other,
            price_place_other_seen=memory.other_seen,
        )
    )
    if changed.rowcount != 1:
        raise UserError(f"There is no source {source_id!r}.")
