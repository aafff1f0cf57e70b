"""Targets: add, update, find, list, pause, resume and remove."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, case, delete, exists, func, select, text, update

from pricewatch.errors import UserError
from pricewatch.parsing.url import InvalidUrl, canonical_url
from pricewatch.rules.rendering import check_choice
from pricewatch.rules.target_schedule import DEFAULT_SCHEDULE
from pricewatch.store.models import Listing, Source, Target
from pricewatch.store.queues.target_filter import TargetFilter
from pricewatch.store.source_registry import source_rows
from pricewatch.store.source_registry.source_rows import Sources

CHUNK = 5_000
# Filters by source or part of a URL have no index: one page scans at most this many targets.
WINDOW = 5_000


_ADD = text("""
INSERT INTO targets (source_id, adapter_id, url, canonical_url, selectors, schedule, priority, notes, render,
                     created_by, next_due_at, listing_id, created_at, updated_at)
SELECT r.source_id, coalesce(r.adapter_id, s.adapter_id), r.url, r.canonical_url, r.selectors, r.schedule,
       r.priority, r.notes, nullif(r.render, 'inherit'), :created_by,
       CASE WHEN s.tos_approved_by IS NOT NULL THEN CAST(:now AS timestamptz) END,
       (SELECT l.id FROM listings l WHERE l.source_id = r.source_id AND l.canonical_url = r.canonical_url),
       :now, :now
FROM json_to_recordset(CAST(:rows AS json)) AS r(
    source_id text, adapter_id text, url text, canonical_url text, selectors jsonb, schedule text,
    priority integer, notes text, render text)
JOIN sources s ON s.id = r.source_id
ON CONFLICT (source_id, canonical_url) DO NOTHING
RETURNING id, source_id, canonical_url
""")

# Values that are set replace the stored ones. A new schedule, adapter, selector or rendering resets failures
# and makes the target due at once.
_UPDATE = text("""
UPDATE targets t SET
    schedule = n.schedule, priority = n.priority, adapter_id = n.adapter_id, selectors = n.selectors,
    notes = n.notes, render = n.render, updated_at = :now,
    status = CASE WHEN n.reset AND t.status = 'BROKEN' THEN 'ACTIVE' ELSE t.status END,
    consecutive_failures = CASE WHEN n.reset THEN 0 ELSE t.consecutive_failures END,
    next_due_at = CASE WHEN n.reset AND t.next_due_at IS NOT NULL THEN :now ELSE t.next_due_at END
FROM (
    SELECT k.id, o.*, (k.schedule, k.adapter_id, k.selectors, k.render)
                      IS DISTINCT FROM (o.schedule, o.adapter_id, o.selectors, o.render) AS reset
    FROM json_to_recordset(CAST(:rows AS json)) AS r(
        source_id text, adapter_id text, canonical_url text, selectors jsonb, schedule text,
        priority integer, notes text, render text)
    JOIN targets k ON k.source_id = r.source_id AND k.canonical_url = r.canonical_url
    CROSS JOIN LATERAL (
        SELECT coalesce(r.schedule, k.schedule) AS schedule, coalesce(r.priority, k.priority) AS priority,
               coalesce(r.adapter_id, k.adapter_id) AS adapter_id, k.selectors || r.selectors AS selectors,
               coalesce(r.notes, k.notes) AS notes, nullif(coalesce(r.render, k.render), 'inherit') AS render
    ) o
) n
WHERE t.id = n.id AND (t.schedule, t.priority, t.adapter_id, t.selectors, t.notes, t.render)
                      IS DISTINCT FROM (n.schedule, n.priority, n.adapter_id, n.selectors, n.notes, n.render)
RETURNING t.source_id, t.canonical_url
""")
# Fields with a default value: they change an existing target only if the user chose them.
_FIELDS_WITH_DEFAULTS = ("schedule", "priority")


@dataclass(frozen=True, slots=True)
class NewTarget:
    """A validated URL to watch."""

    url: str
    canonical_url: str
    schedule: str = DEFAULT_SCHEDULE
    priority: int = 0
    selectors: dict[str, str] = field(default_factory=dict)
    adapter_id: str | None = None
    notes: str | None = None
    # A `Render`, or "inherit" to use that of the source.
    render: str | None = None
    # Which of schedule and priority the user chose.
    chosen: tuple[str, ...] = ()


@dataclass(slots=True)
class AddedTargets:
    """The ids of added targets by index in the input, the source of each input, and the updated indexes."""

    ids: dict[int, int]
    sources: list[str]
    updated: set[int]


def add(
    connection: Connection, new: Sequence[NewTarget], now: datetime, created_by: str | None = None
) -> AddedTargets:
    """Add new targets with their sources, and update existing ones, in the caller's transaction."""
    sources = source_rows.create_missing(connection, (target.url for target in new))
    rows = [_row(target, sources) for target in new]
    ids: dict[tuple[str, str], int] = {}
    for begin in range(0, len(rows), CHUNK):
        parameters = {"rows": json.dumps(rows[begin : begin + CHUNK]), "now": now, "created_by": created_by}
        ids |= {(row.source_id, row.canonical_url): row.id for row in connection.execute(_ADD, parameters)}
    added = {
        index: target_id
        for index, row in enumerate(rows)
        if (target_id := ids.pop((row["source_id"], row["canonical_url"]), None)) is not None
    }
    existing = {index: row for index, row in enumerate(rows) if index not in added}
    updated_keys = _update(connection, list(existing.values()), now)
    updated = {
        index for index, row in existing.items() if (row["source_id"], row["canonical_url"]) in updated_keys
    }
    return AddedTargets(added, [row["source_id"] for row in rows], updated)


def _update(connection: Connection, rows: Sequence[dict[str, Any]], now: datetime) -> set[tuple[str, str]]:
    changes = [
        {**row, **{name: None for name in _FIELDS_WITH_DEFAULTS if name not in row["chosen"]}}
        for row in rows
        if row["chosen"] or row["selectors"] or row["adapter_id"] or row["notes"] or row["render"]
    ]
    updated: set[tuple[str, str]] = set()
    for begin in range(0, len(changes), CHUNK):
        parameters = {"rows": json.dumps(changes[begin : begin + CHUNK]), "now": now}
        updated |= {(row.source_id, row.canonical_url) for row in connection.execute(_UPDATE, parameters)}
    return updated


def _row(target: NewTarget, sources: Sources) -> dict[str, Any]:
    source = sources.of(target.url)
    if source is None:
        raise ValueError(f"no source was created for {target.url}")
    return {"source_id": source.id, **asdict(target)}


def find(connection: Connection, names: Sequence[str]) -> list[int]:
    """Find targets by id or URL; raise UserError for the first that does not exist."""
    found: list[int] = []
    for name in names:
        target_id = find_url(connection, name) if "/" in name else _find_id(connection, name)
        if target_id is None:
            raise UserError(f"There is no target {name}. `scrapy targets list` lists all targets.")
        found.append(target_id)
    return found


def _find_id(connection: Connection, name: str) -> int | None:
    if not (name.isascii() and name.isdigit()):
        raise UserError(f"{name!r} is neither the id of a target nor a URL.")
    return connection.execute(select(Target.id).where(Target.id == int(name[:18]))).scalar()


def find_url(connection: Connection, url: str) -> int | None:
    """Find the target of this page by its canonical URL."""
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


def stored_price(connection: Connection, source_id: str, canonical: str) -> dict[str, Any]:
    """Return the stored price, currency and availability of a page; empty if it was never stored."""
    row = connection.execute(
        select(Listing.price_cents, Listing.currency, Listing.availability).where(
            Listing.source_id == source_id, Listing.canonical_url == canonical
        )
    ).first()
    return row._asdict() if row else {}


def find_ids(connection: Connection, filter_: TargetFilter) -> list[int]:
    return list(connection.execute(select(Target.id).where(*filter_.conditions())).scalars())


def count(connection: Connection, filter_: TargetFilter) -> int:
    return connection.execute(
        select(func.count()).select_from(Target).where(*filter_.conditions())
    ).scalar_one()


def find_rows(
    connection: Connection, filter_: TargetFilter, *, most: int, after: int = 0
) -> list[dict[str, Any]]:
    """List targets in order of id, after the id `after`, with the price of their listing."""
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
        .where(Target.id > after, *filter_.conditions())
        .order_by(Target.id)
        .limit(most)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def page(
    connection: Connection, filter_: TargetFilter, *, most: int, after: int = 0
) -> tuple[list[dict[str, Any]], int | None]:
    """Return a page and the id after which the next one begins; a page may be short if matches are rare."""
    if filter_.is_indexed:
        rows = find_rows(connection, filter_, most=most + 1, after=after)
        return rows[:most], rows[most - 1]["id"] if len(rows) > most else None
    last = connection.execute(
        select(Target.id).where(Target.id > after).order_by(Target.id).offset(WINDOW - 1).limit(1)
    ).scalar()
    rows = find_rows(connection, replace(filter_, up_to=last), most=most + 1, after=after)
    if len(rows) > most:
        return rows[:most], rows[most - 1]["id"]
    return rows, last


def pause(connection: Connection, ids: Sequence[int], now: datetime) -> int:
    """Remove targets from the schedule and the queue until they are resumed."""
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
    """Activate targets and reset their failures; they are due at once if their source is approved."""
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


def set_render(connection: Connection, ids: Sequence[int], render: str, now: datetime) -> int:
    """Choose whether the pages of targets are rendered; as for other changes, they are due at once."""
    value = check_choice(render)
    return connection.execute(
        update(Target)
        .where(Target.id.in_(list(ids)), Target.render.is_distinct_from(value))
        .values(
            render=value,
            status=case((Target.status == "BROKEN", "ACTIVE"), else_=Target.status),
            consecutive_failures=0,
            next_due_at=case((Target.next_due_at.is_not(None), now)),
            updated_at=now,
        )
    ).rowcount


def remove(connection: Connection, ids: Sequence[int]) -> int:
    """Delete targets. Their listings and price history stay."""
    return connection.execute(delete(Target).where(Target.id.in_(list(ids)))).rowcount
