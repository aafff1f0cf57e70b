"""Targets whose page moved permanently: their URL is updated, or the move is quarantined for a person."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, text
from sqlalchemy.exc import IntegrityError

from pricewatch.items import Offer
from pricewatch.parsing.identity import identity_key
from pricewatch.parsing.url import canonical_url
from pricewatch.queued_work import LeasedTarget
from pricewatch.rules.page_moves import IDS, why_different_product
from pricewatch.store.people import audit_log
from pricewatch.store.source_registry import source_rows

_LOCK_TARGET = text("""
SELECT t.id, t.source_id, t.url, t.canonical_url, t.listing_id, l.canonical_url AS listing_url,
       l.gtin, l.sku, l.mpn, l.platform_id AS product_id
FROM targets t LEFT JOIN listings l ON l.id = t.listing_id
WHERE t.id = :target_id FOR UPDATE OF t
""")
_TAKEN = text("""
SELECT (SELECT id FROM targets
        WHERE source_id = :source_id AND canonical_url = :target_url AND id <> :target_id) AS target_id,
       (SELECT min(id) FROM listings
        WHERE source_id = :source_id AND (canonical_url = :listing_url OR identity_key = :identity_key)
          AND id IS DISTINCT FROM :listing_id) AS listing_id
""")
_MOVE_TARGET = text("""
UPDATE targets SET url = :url, canonical_url = :target_url, updated_at = :now WHERE id = :target_id
""")
_MOVE_LISTING = text("UPDATE listings SET url = :url, canonical_url = :listing_url WHERE id = :listing_id")
_LINK_LISTING = text("""
UPDATE targets t SET listing_id = l.id FROM listings l
WHERE t.id = :target_id AND l.source_id = t.source_id AND l.identity_key = :identity_key
""")
# The listing that a target left, if no market and no other target checks it.
_RETIRE = text("""
UPDATE listings l SET active = false, deactivated_at = coalesce(l.deactivated_at, :now), removed_at = :now,
                      verification_requested_at = NULL
WHERE l.id = :listing_id AND l.market_id IS NULL
  AND NOT EXISTS (SELECT FROM targets t WHERE t.listing_id = l.id)
""")
_CLOSE = text("""
UPDATE quarantine SET status = :status, reviewed_at = :now, reviewed_by = 'pricewatch', note = :note
WHERE source_id = :source_id AND identity_key = :identity_key AND reason = 'MOVED' AND status = 'pending'
""")
_REJECTED = text("""
SELECT EXISTS (SELECT FROM quarantine
               WHERE source_id = :source_id AND identity_key = :identity_key AND status = 'rejected'
                 AND reason = 'MOVED' AND url = :url AND reviewed_by <> 'pricewatch')
""")


def move_target(
    connection: Connection,
    target_id: int,
    offer: Offer,
    *,
    by: str,
    now: datetime,
    is_confirmed: bool = False,
) -> str | None:
    """Move a target and its listing to the URL that they redirect to, or return the reason why not.

    Unless a person has confirmed the move, the page must show a stored id of the product.
    """
    known = connection.execute(_LOCK_TARGET, {"target_id": target_id}).one_or_none()
    if known is None:
        return "its target is no longer watched"
    values = {
        "target_id": target_id,
        "source_id": known.source_id,
        "listing_id": known.listing_id,
        "url": offer.fetch_url or offer.url,
        "target_url": canonical_url(offer.fetch_url or offer.url),
        "listing_url": offer.url,
        "identity_key": identity_key(offer.product_id, offer.sku, offer.url),
        "now": now,
    }
    taken = connection.execute(_TAKEN, values).one()
    source = source_rows.load(connection).of(values["url"])
    if source is None or source.id != known.source_id:
        return f"the new page belongs to {source.id if source else 'no known source'}"
    if taken.target_id is not None:
        return f"target {taken.target_id} already monitors the new page"
    if not is_confirmed and (reason := _why_not_same(known, offer, taken.listing_id)):
        return reason
    # If another listing has the new page, the target switches to it and the old listing keeps its URL.
    moves_listing = known.listing_id is not None and taken.listing_id is None
    try:
        with connection.begin_nested():
            connection.execute(_MOVE_TARGET, values)
            if moves_listing:
                connection.execute(_MOVE_LISTING, values)
    except IntegrityError:
        return "another target or listing has just taken the new URL"
    audit_log.record_action(
        connection,
        person=by,
        address=None,
        action="target moved",
        subject=f"target {target_id}",
        now=now,
        details={
            "from": known.url,
            "to": values["url"],
            "listing_id": known.listing_id if moves_listing else taken.listing_id,
            "ids": {name: getattr(offer, name) for name in IDS if getattr(offer, name)},
        },
    )
    close_quarantined_move(connection, known, accepted=True, note="its target followed it", now=now)
    return None


def link_listing(connection: Connection, target_id: int, identity: str, now: datetime) -> None:
    """Link a target to the listing of its new page, and retire the listing that it left."""
    known = connection.execute(_LOCK_TARGET, {"target_id": target_id}).one()
    connection.execute(_LINK_LISTING, {"target_id": target_id, "identity_key": identity})
    connection.execute(_RETIRE, {"listing_id": known.listing_id, "now": now})


def close_quarantined_move(
    connection: Connection, target: LeasedTarget | Row[Any], *, accepted: bool, note: str, now: datetime
) -> None:
    """Close the quarantined move of a target."""
    connection.execute(
        _CLOSE,
        {
            "source_id": target.source_id,
            "identity_key": identity_key(None, None, target.canonical_url),
            "status": "accepted" if accepted else "rejected",
            "note": note,
            "now": now,
        },
    )


def was_rejected(connection: Connection, source_id: str, identity: str, url: str) -> bool:
    """Return whether a person has rejected this page as the new page."""
    values = {"source_id": source_id, "identity_key": identity, "url": url}
    return bool(connection.execute(_REJECTED, values).scalar())


def _why_not_same(known: Row[Any], offer: Offer, other_listing: int | None) -> str | None:
    if known.listing_id is None:
        return "no listing was stored before it redirected to another page"
    stored = {name: getattr(known, name) for name in IDS}
    found = {name: getattr(offer, name) for name in IDS}
    if reason := why_different_product(stored, found):
        return reason
    if other_listing is not None:
        return f"the new page is already stored as listing {other_listing}"
    return None
