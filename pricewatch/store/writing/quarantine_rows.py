"""Quarantined offers, and for a limited time the pages that they came from.

An offer that is quarantined again for the same reason updates its open row and the count of that row.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from pricewatch import clock
from pricewatch.items import Offer, ProductPage, SellerInfo
from pricewatch.rules.custom_spiders import custom_spider_name
from pricewatch.store.engine.json_safe import json_safe
from pricewatch.store.models import Listing, Quarantined, QuarantinePage
from pricewatch.store.writing.batch import Batch
from pricewatch.vocabulary import Availability, QuarantineReason, SellerType


@dataclass(frozen=True, slots=True)
class QuarantineFilter:
    """A filter for quarantined offers; every field that is set narrows the selection."""

    ids: Sequence[int] | None = None
    status: str | None = None
    adapter_id: str | None = None
    source_id: str | None = None
    reason: str | None = None

    def conditions(self) -> list[Any]:
        conditions = [
            getattr(Quarantined, name) == value
            for name in ("status", "adapter_id", "source_id", "reason")
            if (value := getattr(self, name)) is not None
        ]
        return conditions if self.ids is None else [*conditions, Quarantined.id.in_(list(self.ids))]


# Pending rows of product pages that could be read now, by identity key or by URL. Price jumps are excluded:
# they wait for another run. LATERAL makes it an index scan per row of the batch, however many are pending.
_READ_AGAIN = text("""
SELECT pending.id FROM incoming i CROSS JOIN LATERAL (
    SELECT q.id FROM quarantine q
    WHERE q.status = 'pending' AND q.listing_id IS NULL AND q.source_id = i.source_id
      AND q.observed_at <= i.observed_at
      AND q.identity_key IN (
          i.identity_key, 'URL:' || left(encode(sha256(convert_to(i.canonical_url, 'UTF8')), 'hex'), 16))
    LIMIT 20
) pending
WHERE i.detail AND NOT i.quarantined AND i.price_cents IS NOT NULL
""")


def quarantine_offer(connection: Connection, item: ProductPage, *, run_id: int, at: datetime) -> None:
    """Quarantine an offer: insert a row, or update the open one."""
    if item.quarantine is None:
        raise ValueError("the offer has no reason for quarantine")
    offer = item.offer
    observed_at = offer.observed_at or at
    values = {
        "source_id": offer.source,
        "run_id": run_id,
        "target_id": item.target_id,
        "listing_id": None,
        "adapter_id": item.adapter_id,
        "adapter_version": offer.adapter_version,
        "url": json_safe(offer.fetch_url or offer.url),
        "identity_key": _identity_key(connection, item),
        "reason": item.quarantine.reason,
        "offer": json_safe(asdict(offer)),
        "details": json_safe({"evidence": item.evidence, **item.quarantine.details, **replay_details(item)}),
        "page_hash": save_page(connection, item.page, observed_at),
        "first_seen_at": observed_at,
        "observed_at": observed_at,
    }
    new = insert(Quarantined).values(values)
    unchanged = {"source_id", "identity_key", "reason", "target_id", "first_seen_at"}
    connection.execute(
        new.on_conflict_do_update(
            index_elements=[Quarantined.source_id, Quarantined.identity_key, Quarantined.reason],
            index_where=Quarantined.status == "pending",
            set_={
                **{name: new.excluded[name] for name in values if name not in unchanged},
                "target_id": func.coalesce(new.excluded.target_id, Quarantined.target_id),
                "times_seen": Quarantined.times_seen + 1,
            },
        )
    )


def replay_details(item: ProductPage) -> dict[str, str]:
    """Return what a replay needs to read the page as the run did."""
    place = {"price_place": item.given_price_place} if item.given_price_place else {}
    return {"encoding": item.encoding, **place}


def _identity_key(connection: Connection, item: ProductPage) -> str | None:
    """Return the key of the known listing, because the key that was read from the page may be wrong.

    A page that moved has the key of its target instead.
    """
    known = None
    moved = item.quarantine is not None and item.quarantine.reason is QuarantineReason.MOVED
    if item.listing_id is not None and not moved:
        query = select(Listing.identity_key).where(Listing.id == item.listing_id)
        known = connection.execute(query).scalar()
    return known or json_safe(item.offer.identity_key) or None


def save_page(connection: Connection, page: bytes, at: datetime) -> str | None:
    """Store a page once per content, and return the hash of the content."""
    if not page:
        return None
    page_hash = hashlib.sha256(page).hexdigest()
    new = insert(QuarantinePage).values(hash=page_hash, page=zlib.compress(page), kept_at=at)
    # The update also prevents maintenance from removing the page at the same time.
    upsert = new.on_conflict_do_update(index_elements=["hash"], set_={"kept_at": new.excluded.kept_at})
    connection.execute(upsert)
    return page_hash


def reject_readable(connection: Connection, batch: Batch) -> None:
    """Reject the open rows of product pages that this batch could read."""
    ids = connection.execute(_READ_AGAIN).scalars().all()
    if ids:
        note = f"run {batch.run_id} could read it"
        reject(connection, ids, by="pricewatch", note=note, now=clock.now())


def find_rows(
    connection: Connection, criteria: QuarantineFilter, *, most: int, before: int | None = None
) -> list[dict[str, Any]]:
    """Return quarantined offers without their pages, newest first, with ids below `before`."""
    query = (
        select(
            *Quarantined.__table__.columns,
            select(func.length(QuarantinePage.page))
            .where(QuarantinePage.hash == Quarantined.page_hash)
            .scalar_subquery()
            .label("page_bytes"),
        )
        .where(*criteria.conditions())
        .order_by(Quarantined.id.desc())
        .limit(most)
    )
    if before is not None:
        query = query.where(Quarantined.id < before)
    return [dict(row) for row in connection.execute(query).mappings()]


def get(connection: Connection, quarantine_id: int, *, lock: bool = False) -> dict[str, Any] | None:
    """Return a quarantined offer with its page as it was downloaded."""
    query = select(*Quarantined.__table__.columns).where(Quarantined.id == quarantine_id)
    row = connection.execute(query.with_for_update() if lock else query).mappings().first()
    if row is None:
        return None
    page = connection.execute(
        select(QuarantinePage.page).where(QuarantinePage.hash == row["page_hash"])
    ).scalar()
    return {**row, "page": zlib.decompress(page) if page is not None else None}


def why_no_replay(adapter_id: str) -> str | None:
    """Return why the pages of this adapter cannot be read again, or None if they can."""
    if (spider := custom_spider_name(adapter_id)) is None:
        return None
    return f"the spider {spider} reads its pages itself: no adapter can read its quarantined offers again"


def why_no_page(row: Mapping[str, Any]) -> str:
    """Return why a quarantined offer has no page."""
    if row["page_hash"] is None and (spider := custom_spider_name(row["adapter_id"])) is not None:
        return f"the spider {spider} provided no page with the offer"
    if row["page_hash"] is None:
        return "it came from an overview page, and overview pages are not stored"
    return "its page was removed: after review, or after KEEP_HELD_PAGES_DAYS"


def reject(
    connection: Connection, ids: Sequence[int], *, by: str, note: str | None, now: datetime
) -> list[int]:
    """Reject quarantined offers; return the ids of those that were pending."""
    return list(
        connection.execute(
            update(Quarantined)
            .where(Quarantined.id.in_(list(ids)), Quarantined.status == "pending")
            .values(status="rejected", reviewed_at=now, reviewed_by=by, note=note)
            .returning(Quarantined.id)
        ).scalars()
    )


def close(
    connection: Connection, quarantine_id: int, *, status: str, by: str, note: str | None, now: datetime
) -> None:
    """Close a quarantined offer with this status."""
    connection.execute(
        update(Quarantined)
        .where(Quarantined.id == quarantine_id)
        .values(status=status, reviewed_at=now, reviewed_by=by, note=note)
    )


def stored_offer(stored: Mapping[str, Any]) -> Offer:
    """Convert the stored JSON back to an offer."""
    values = {field.name: stored[field.name] for field in fields(Offer) if stored.get(field.name) is not None}
    for name in ("observed_at", "sold_at"):
        if isinstance(values.get(name), str):
            values[name] = datetime.fromisoformat(values[name])
    values["availability"] = Availability(values.get("availability", Availability.UNKNOWN))
    if seller := values.get("seller"):
        kind = SellerType(seller["type"]) if seller.get("type") else None
        values["seller"] = SellerInfo(seller["id"], seller.get("name"), kind)
    required = {"url": "", "title": "", "price_cents": 0, "currency": ""}
    return Offer(**{**required, **values})
