"""The targets themselves: added, looked up, listed, paused, removed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, case, delete, exists, func, select, text, update
from sqlalchemy.sql import ColumnElement

from pricewatch.errors import UserError
from pricewatch.parsing.url import InvalidUrl, canonical_url
from pricewatch.rules.target_schedule import DEFAULT_SCHEDULE
from pricewatch.store.models import Listing, Source, Target
from pricewatch.store.writing import source_rows
from pricewatch.store.writing.source_rows import Sources

CHUNK = 5_000
# Parts of a URL and sources have no index of their own: that many targets are looked at for one page.
WINDOW = 5_000

_ADD = text("""
INSERT INTO targets (source_id, adapter_id, url, canonical_url, selectors, schedule, priority, notes,
                     created_by, next_due_at, listing_id, created_at, updated_at)
SELECT r.source_id, coalesce(r.adapter_id, s.adapter_id), r.url, r.canonical_url, r.selectors, r.schedule,
       r.priority, r.notes, :created_by,
       CASE WHEN s.tos_approved_by IS NOT NULL THEN CAST(:now AS timestamptz) END,
       (SELECT l.id FROM listings l WHERE l.source_id = r.source_id AND l.canonical_url = r.canonical_url),
       :now, :now
FROM json_to_recordset(CAST(:rows AS json)) AS r(
    source_id text, adapter_id text, url text, canonical_url text, selectors jsonb, schedule text,
    priority integer, notes text)
JOIN sources s ON s.id = r.source_id
ON CONFLICT (source_id, canonical_url) DO NOTHING
RETURNING id, source_id, canonical_url
""")


# What is given wins; a target that is now read otherwise, or at other times, is looked at as if it were new.
_UPDATE = text("""
UPDATE targets t SET
    schedule = n.schedule, priority = n.priority, adapter_id = n.adapter_id, selectors = n.selectors,
    notes = n.notes, updated_at = :now,
    status = CASE WHEN n.is_read_anew AND t.status = 'BROKEN' THEN 'ACTIVE' ELSE t.status END,
    consecutive_failures = CASE WHEN n.is_read_anew THEN 0 ELSE t.consecutive_failures END,
    next_due_at = CASE WHEN n.is_read_anew AND t.next_due_at IS NOT NULL THEN :now ELSE t.next_due_at END
FROM (
    SELECT k.id, o.*, (k.schedule, k.adapter_id, k.selectors)
                      IS DISTINCT FROM (o.schedule, o.adapter_id, o.selectors) AS is_read_anew
    FROM json_to_recordset(CAST(:rows AS json)) AS r(
        source_id text, adapter_id text, canonical_url text, selectors jsonb, schedule text,
        priority integer, notes text)
    JOIN targets k ON k.source_id = r.source_id AND k.canonical_url = r.canonical_url
    CROSS JOIN LATERAL (
        SELECT coalesce(r.schedule, k.schedule) AS schedule, coalesce(r.priority, k.priority) AS priority,
               coalesce(r.adapter_id, k.adapter_id) AS adapter_id, k.selectors || r.selectors AS selectors,
               coalesce(r.notes, k.notes) AS notes
    ) o
) n
WHERE t.id = n.id AND (t.schedule, t.priority, t.adapter_id, t.selectors, t.notes)
                      IS DISTINCT FROM (n.schedule, n.priority, n.adapter_id, n.selectors, n.notes)
RETURNING t.source_id, t.canonical_url
""")
# What a known target takes over only where it was given: elsewhere it is the default for a new one.
_DEFAULTED = ("schedule", "priority")


@dataclass(frozen=True, slots=True)
class NewTarget:
    """A URL that somebody wants to be watched; checked already."""

    url: str
    canonical_url: str
    schedule: str = DEFAULT_SCHEDULE
    priority: int = 0
    selectors: dict[str, str] = field(default_factory=dict)
    adapter_id: str | None = None
    notes: str | None = None
    # Which of schedule and priority somebody chose.
    given: tuple[str, ...] = ()


@dataclass(slots=True)
class AddedTarget:
    """Which of the new targets are there now, by place in what was given, and the source of each.

    `updated` are the places of those that were known, and were given something new.
    """

    ids: dict[int, int]
    sources: list[str]
    updated: set[int]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which targets are meant; every field narrows the choice."""

    ids: Sequence[int] | None = None
    status: str | None = None
    source_id: str | None = None
    adapter_id: str | None = None
    queue_state: str | None = None
    contains: str | None = None
    due_before: datetime | None = None
    up_to: int | None = None

    @property
    def is_everything(self) -> bool:
        return all(value is None for value in asdict(self).values())

    @property
    def is_indexed(self) -> bool:
        return self.ids is not None or (self.contains is None and self.source_id is None)

    def conditions(self) -> list[ColumnElement[bool]]:
        found: list[ColumnElement[bool]] = []
        if self.ids is not None:
            found.append(Target.id.in_(list(self.ids)))
        found += [
            getattr(Target, name) == value
            for name in ("status", "source_id", "adapter_id", "queue_state")
            if (value := getattr(self, name)) is not None
        ]
        if self.status is not None and self.status != "ACTIVE":
            # Said so that the small index of what is not active can be used.
            found.append(Target.status != "ACTIVE")
        if self.contains is not None:
            found.append(Target.url.icontains(self.contains, autoescape=True))
        if self.due_before is not None:
            found.append(Target.next_due_at <= self.due_before)
        if self.up_to is not None:
            found.append(Target.id <= self.up_to)
        return found


def add(
    connection: Connection, new: Sequence[NewTarget], now: datetime, created_by: str | None = None
) -> AddedTarget:
    """Add what is not known yet, with the sources it needs, and change what is known and given otherwise;
    all in the transaction that the caller holds."""
    sources = source_rows.create(connection, (target.url for target in new))
    rows = [_row(target, sources) for target in new]
    ids: dict[tuple[str, str], int] = {}
    for begin in range(0, len(rows), CHUNK):
        given = {"rows": json.dumps(rows[begin : begin + CHUNK]), "now": now, "created_by": created_by}
        ids |= {(row.source_id, row.canonical_url): row.id for row in connection.execute(_ADD, given)}
    added = {
        place: target_id
        for place, row in enumerate(rows)
        if (target_id := ids.pop((row["source_id"], row["canonical_url"]), None)) is not None
    }
    known = {place: row for place, row in enumerate(rows) if place not in added}
    updated = _update(connection, list(known.values()), now)
    places = {place for place, row in known.items() if (row["source_id"], row["canonical_url"]) in updated}
    return AddedTarget(added, [row["source_id"] for row in rows], places)


def _update(connection: Connection, rows: Sequence[dict[str, Any]], now: datetime) -> set[tuple[str, str]]:
    given = [
        {**row, **{name: None for name in _DEFAULTED if name not in row["given"]}}
        for row in rows
        if row["given"] or row["selectors"] or row["adapter_id"] or row["notes"]
    ]
    updated: set[tuple[str, str]] = set()
    for begin in range(0, len(given), CHUNK):
        parameters = {"rows": json.dumps(given[begin : begin + CHUNK]), "now": now}
        updated |= {(row.source_id, row.canonical_url) for row in connection.execute(_UPDATE, parameters)}
    return updated


def _row(target: NewTarget, sources: Sources) -> dict[str, Any]:
    source = sources.of(target.url)
    if source is None:
        raise ValueError(f"no source was made for {target.url}")
    return {"source_id": source.id, **asdict(target)}


def find(connection: Connection, names: Sequence[str]) -> list[int]:
    """Targets by their number or their URL; all of them or a sentence about the first that is not there."""
    found: list[int] = []
    for name in names:
        target_id = find_url(connection, name) if "/" in name else find_number(connection, name)
        if target_id is None:
            raise UserError(f"There is no target {name}: `scrapy targets list` shows those there are.")
        found.append(target_id)
    return found


def find_number(connection: Connection, name: str) -> int | None:
    if not (name.isascii() and name.isdigit()):
        raise UserError(f"{name!r} is neither the number of a target nor a URL.")
    return connection.execute(select(Target.id).where(Target.id == int(name[:18]))).scalar()


def find_url(connection: Connection, url: str) -> int | None:
    """The target that watches this page, however its URL is written."""
    try:
        canonical = canonical_url(url)
    except InvalidUrl as error:
        raise UserError(f"{url[:200]!r} cannot be watched: {error}.") from None
    source = source_rows.load(connection).of(url)
    if source is None:
        return None
    return connection.execute(
        select(Target.id).where(Target.source_id == source.id, Target.canonical_url == canonical)
    ).scalar()


def known_price(connection: Connection, source_id: str, canonical: str) -> dict[str, Any]:
    """What is stored of a page so far; nothing where it was never stored."""
    row = connection.execute(
        select(Listing.price_cents, Listing.currency, Listing.availability).where(
            Listing.source_id == source_id, Listing.canonical_url == canonical
        )
    ).first()
    return row._asdict() if row else {}


def choose(connection: Connection, wanted: Wanted) -> list[int]:
    return list(connection.execute(select(Target.id).where(*wanted.conditions())).scalars())


def count(connection: Connection, wanted: Wanted) -> int:
    return connection.execute(
        select(func.count()).select_from(Target).where(*wanted.conditions())
    ).scalar_one()


def listed(connection: Connection, wanted: Wanted, *, most: int, after: int = 0) -> list[dict[str, Any]]:
    """Targets as people want to see them, with the price of their listing; by number, from `after` on."""
    query = (
        select(
            *(
                column
                for column in Target.__table__.columns
                if column.name not in ("leased_by", "lease_until")
            ),
            Source.tos_approved_by,
            Listing.title,
            Listing.price_cents,
            Listing.currency,
            Listing.availability,
            Listing.price_observed_at,
        )
        .join(Source, Source.id == Target.source_id)
        .outerjoin(Listing, Listing.id == Target.listing_id)
        .where(Target.id > after, *wanted.conditions())
        .order_by(Target.id)
        .limit(most)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def page(
    connection: Connection, wanted: Wanted, *, most: int, after: int = 0
) -> tuple[list[dict[str, Any]], int | None]:
    """A page, and after which target the next one begins; it may be short where what is asked for is rare."""
    if wanted.is_indexed:
        rows = listed(connection, wanted, most=most + 1, after=after)
        return rows[:most], rows[most - 1]["id"] if len(rows) > most else None
    last = connection.execute(
        select(Target.id).where(Target.id > after).order_by(Target.id).offset(WINDOW - 1).limit(1)
    ).scalar()
    rows = listed(connection, replace(wanted, up_to=last), most=most + 1, after=after)
    if len(rows) > most:
        return rows[:most], rows[most - 1]["id"]
    return rows, last


def pause(connection: Connection, ids: Sequence[int], now: datetime) -> int:
    """Out of the schedule and out of the queue until somebody resumes it."""
    connection.execute(
        update(Target)
        .where(Target.id.in_(list(ids)), Target.queue_state == "pending")
        .values(queue_state="idle", queued_at=None)
    )
    return connection.execute(
        update(Target)
        .where(Target.id.in_(list(ids)), Target.status != "PAUSED")
        .values(status="PAUSED", updated_at=now)
    ).rowcount


def resume(connection: Connection, ids: Sequence[int], now: datetime) -> int:
    """Due at once, as if it were new, where its source is approved; its failures are forgotten."""
    approved = exists().where(Source.id == Target.source_id, Source.tos_approved_by.is_not(None))
    return connection.execute(
        update(Target)
        .where(Target.id.in_(list(ids)), Target.status != "ACTIVE")
        .values(
            status="ACTIVE",
            consecutive_failures=0,
            next_due_at=case((approved, now)),
            updated_at=now,
        )
    ).rowcount


def remove(connection: Connection, ids: Sequence[int]) -> int:
    """No longer watched. What was stored of it stays: history is never deleted."""
    return connection.execute(delete(Target).where(Target.id.in_(list(ids)))).rowcount
