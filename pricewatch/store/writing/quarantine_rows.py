"""Offers that are held: everything about them is kept, and for a while the page they came from.

However often the same thing is held for the same reason, it is one open row, with how often and since when.
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
from pricewatch.rules.custom_spiders import spider_of
from pricewatch.store.engine.json_safe import json_safe
from pricewatch.store.models import Listing, Quarantined, QuarantinePage
from pricewatch.store.writing.batch import Batch
from pricewatch.vocabulary import Availability, QuarantineReason, SellerType


@dataclass(frozen=True, slots=True)
class HeldWanted:
    """Which held offers are meant; every field narrows the choice."""

    ids: Sequence[int] | None = None
    status: str | None = None
    adapter_id: str | None = None
    source_id: str | None = None
    reason: str | None = None

    def conditions(self) -> list[Any]:
        found = [
            getattr(Quarantined, name) == value
            for name in ("status", "adapter_id", "source_id", "reason")
            if (value := getattr(self, name)) is not None
        ]
        return found if self.ids is None else [*found, Quarantined.id.in_(list(self.ids))]


# A page that was read well answers for what was held of it before, whether it was known by an id or by its
# URL. A price that jumped is not among it: that one waits for another run. Row by row along the index,
# however much is held.
_READ_AGAIN = text("""
SELECT held.id FROM incoming i CROSS JOIN LATERAL (
    SELECT q.id FROM quarantine q
    WHERE q.status = 'pending' AND q.listing_id IS NULL AND q.source_id = i.source_id
      AND q.observed_at <= i.observed_at
      AND q.identity_key IN (
          i.identity_key, 'URL:' || left(encode(sha256(convert_to(i.canonical_url, 'UTF8')), 'hex'), 16))
    LIMIT 20
) held
WHERE i.detail AND NOT i.held AND i.price_cents IS NOT NULL
""")


def hold(connection: Connection, item: ProductPage, *, run_id: int, at: datetime) -> None:
    """Open a row for what is held, or bring the open one up to date."""
    if item.held is None:
        raise ValueError("only an offer that is held goes to quarantine")
    offer = item.offer
    observed_at = offer.observed_at or at
    given = {
        "source_id": offer.source,
        "run_id": run_id,
        "target_id": item.target_id,
        "listing_id": None,
        "adapter_id": item.adapter_id,
        "adapter_version": offer.adapter_version,
        "url": json_safe(offer.fetch_url or offer.url),
        "identity_key": _identity_key(connection, item),
        "reason": item.held.reason,
        "offer": json_safe(asdict(offer)),
        "details": json_safe({"evidence": item.evidence, **item.held.details, "encoding": item.encoding}),
        "page_hash": keep_page(connection, item.page, observed_at),
        "first_seen_at": observed_at,
        "observed_at": observed_at,
    }
    newest = insert(Quarantined).values(given)
    kept = {"source_id", "identity_key", "reason", "target_id", "first_seen_at"}
    connection.execute(
        newest.on_conflict_do_update(
            index_elements=[Quarantined.source_id, Quarantined.identity_key, Quarantined.reason],
            index_where=Quarantined.status == "pending",
            set_={
                **{name: newest.excluded[name] for name in given if name not in kept},
                "target_id": func.coalesce(newest.excluded.target_id, Quarantined.target_id),
                "times_seen": Quarantined.times_seen + 1,
            },
        )
    )


def _identity_key(connection: Connection, item: ProductPage) -> str | None:
    """That of the listing whose page it is: what is held was hardly read well enough to say.

    A page that moved is held as that of its target.
    """
    known = None
    moved = item.held is not None and item.held.reason is QuarantineReason.MOVED
    if item.listing_id is not None and not moved:
        query = select(Listing.identity_key).where(Listing.id == item.listing_id)
        known = connection.execute(query).scalar()
    return known or json_safe(item.offer.identity_key) or None


def keep_page(connection: Connection, page: bytes, at: datetime) -> str | None:
    """Keep a page under the hash of its content, which is the answer; the same page is kept once."""
    if not page:
        return None
    page_hash = hashlib.sha256(page).hexdigest()
    new = insert(QuarantinePage).values(hash=page_hash, page=zlib.compress(page), kept_at=at)
    # The update also keeps maintenance from removing it at this very moment.
    kept = new.on_conflict_do_update(index_elements=["hash"], set_={"kept_at": new.excluded.kept_at})
    connection.execute(kept)
    return page_hash


def settle_read(connection: Connection, batch: Batch) -> None:
    """What can be read again no longer waits for a person."""
    ids = connection.execute(_READ_AGAIN).scalars().all()
    if ids:
        note = f"run {batch.run_id} could read it"
        reject(connection, ids, by="pricewatch", note=note, now=clock.now())


def listed(
    connection: Connection, wanted: HeldWanted, *, most: int, before: int | None = None
) -> list[dict[str, Any]]:
    """Held offers without their pages, the newest first, from `before` on."""
    query = (
        select(
            *Quarantined.__table__.columns,
            select(func.length(QuarantinePage.page))
            .where(QuarantinePage.hash == Quarantined.page_hash)
            .scalar_subquery()
            .label("page_bytes"),
        )
        .where(*wanted.conditions())
        .order_by(Quarantined.id.desc())
        .limit(most)
    )
    if before is not None:
        query = query.where(Quarantined.id < before)
    return [dict(row) for row in connection.execute(query).mappings()]


def get(connection: Connection, held_id: int, *, lock: bool = False) -> dict[str, Any] | None:
    """One held offer with its page, as it came from the site."""
    query = select(*Quarantined.__table__.columns).where(Quarantined.id == held_id)
    row = connection.execute(query.with_for_update() if lock else query).mappings().first()
    if row is None:
        return None
    page = connection.execute(
        select(QuarantinePage.page).where(QuarantinePage.hash == row["page_hash"])
    ).scalar()
    return {**row, "page": zlib.decompress(page) if page is not None else None}


def no_replay(adapter_id: str) -> str | None:
    """Why nothing that is held of this reader can be read again; None where there is an adapter for that."""
    if (spider := spider_of(adapter_id)) is None:
        return None
    return f"the spider {spider} reads its pages itself: no adapter can read what is held of it again"


def no_page(held: Mapping[str, Any]) -> str:
    """Why there is no page to look at."""
    if held["page_hash"] is None and (spider := spider_of(held["adapter_id"])) is not None:
        return f"the spider {spider} gave none with the offer"
    if held["page_hash"] is None:
        return "it came from an overview page, of which none is kept"
    return "its page was removed: those of settled offers go first, the others after KEEP_HELD_PAGES_DAYS"


def reject(
    connection: Connection, ids: Sequence[int], *, by: str, note: str | None, now: datetime
) -> list[int]:
    """What is wrong stays out; answers with those that were waiting, so that a second time does nothing."""
    return list(
        connection.execute(
            update(Quarantined)
            .where(Quarantined.id.in_(list(ids)), Quarantined.status == "pending")
            .values(status="rejected", reviewed_at=now, reviewed_by=by, note=note)
            .returning(Quarantined.id)
        ).scalars()
    )


def settle(
    connection: Connection, held_id: int, *, status: str, by: str, note: str | None, now: datetime
) -> None:
    connection.execute(
        update(Quarantined)
        .where(Quarantined.id == held_id)
        .values(status=status, reviewed_at=now, reviewed_by=by, note=note)
    )


def offer_of(kept: Mapping[str, Any]) -> Offer:
    """The offer as it was before it became JSON."""
    given = {field.name: kept[field.name] for field in fields(Offer) if kept.get(field.name) is not None}
    for name in ("observed_at", "sold_at"):
        if isinstance(given.get(name), str):
            given[name] = datetime.fromisoformat(given[name])
    given["availability"] = Availability(given.get("availability", Availability.UNKNOWN))
    if seller := given.get("seller"):
        kind = SellerType(seller["type"]) if seller.get("type") else None
        given["seller"] = SellerInfo(seller["id"], seller.get("name"), kind)
    required = {"url": "", "title": "", "price_cents": 0, "currency": ""}
    return Offer(**{**required, **given})
