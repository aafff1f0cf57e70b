"""Offers that are held: everything about them is kept, the page they came from too."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from pricewatch.items import Availability, Offer, ProductPage, Seller, SellerType
from pricewatch.store.models import Quarantined
from pricewatch.store.plain import plain


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


def hold(connection: Connection, item: ProductPage, *, run_id: int, at: datetime) -> None:
    if item.held is None:
        raise ValueError("only an offer that is held goes to quarantine")
    offer = item.offer
    connection.execute(
        insert(Quarantined).values(
            source_id=offer.source,
            run_id=run_id,
            target_id=item.target_id,
            adapter_id=item.adapter_id,
            adapter_version=offer.adapter_version,
            url=plain(offer.fetch_url or offer.url),
            identity_key=plain(offer.identity_key) or None,
            reason=item.held.reason,
            offer=plain(asdict(offer)),
            details=plain({"evidence": item.evidence, **item.held.details, "encoding": item.encoding}),
            page_hash=hashlib.sha256(item.page).hexdigest() if item.page else None,
            page=zlib.compress(item.page) if item.page else None,
            observed_at=offer.observed_at or at,
        )
    )


def listed(
    connection: Connection, wanted: HeldWanted, *, most: int, before: int | None = None
) -> list[dict[str, Any]]:
    """Held offers without their pages, the newest first, from `before` on."""
    query = (
        select(
            *(column for column in Quarantined.__table__.columns if column.name != "page"),
            func.length(Quarantined.page).label("page_bytes"),
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
    page = row["page"]
    return {**row, "page": zlib.decompress(page) if page is not None else None}


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
        given["seller"] = Seller(seller["id"], seller.get("name"), kind)
    required = {"url": "", "title": "", "price_cents": 0, "currency": ""}
    return Offer(**{**required, **given})
