"""Targets whose page moved for good: they follow with their listing, or wait in quarantine for a person."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, text
from sqlalchemy.exc import IntegrityError

from pricewatch.items import Offer
from pricewatch.parsing.identity import identity_key
from pricewatch.parsing.url import canonical_url
from pricewatch.queued_work import LeasedTarget
from pricewatch.rules.page_moves import IDS, why_another_product
from pricewatch.store.people import audit_log
from pricewatch.store.writing import source_rows

_KNOWN = text("""
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
_TIE = text("""
UPDATE targets t SET listing_id = l.id FROM listings l
WHERE t.id = :target_id AND l.source_id = t.source_id AND l.identity_key = :identity_key
""")
# The one that a target has left, where nobody else would ever look at it.
_RETIRE = text("""
UPDATE listings l SET active = false, deactivated_at = coalesce(l.deactivated_at, :now), removed_at = :now,
                      verification_requested_at = NULL
WHERE l.id = :listing_id AND l.market_id IS NULL
  AND NOT EXISTS (SELECT FROM targets t WHERE t.listing_id = l.id)
""")
_SETTLE = text("""
UPDATE quarantine SET status = :status, reviewed_at = :now, reviewed_by = 'pricewatch', note = :note
WHERE source_id = :source_id AND identity_key = :identity_key AND reason = 'MOVED' AND status = 'pending'
""")
_REJECTED = text("""
SELECT EXISTS (SELECT FROM quarantine
               WHERE source_id = :source_id AND identity_key = :identity_key AND status = 'rejected'
                 AND reason = 'MOVED' AND url = :url AND reviewed_by <> 'pricewatch')
""")


def follow(
    connection: Connection,
    target_id: int,
    offer: Offer,
    *,
    by: str,
    now: datetime,
    is_confirmed: bool = False,
) -> str | None:
    """Let a target and its listing have the address of the page that they led to; else say why not.

    Without a person who confirms it, the page has to show an id that is stored.
    """
    known = connection.execute(_KNOWN, {"target_id": target_id}).one_or_none()
    if known is None:
        return "its target is no longer watched"
    given = {
        "target_id": target_id,
        "source_id": known.source_id,
        "listing_id": known.listing_id,
        "url": offer.fetch_url or offer.url,
        "target_url": canonical_url(offer.fetch_url or offer.url),
        "listing_url": offer.url,
        "identity_key": identity_key(offer.product_id, offer.sku, offer.url),
        "now": now,
    }
    taken = connection.execute(_TAKEN, given).one()
    source = source_rows.load(connection).of(given["url"])
    if source is None or source.id != known.source_id:
        return f"the page that it led to belongs to {source.id if source else 'no known source'}"
    if taken.target_id is not None:
        return f"target {taken.target_id} watches the page that it led to already"
    if not is_confirmed and (why := _why_not(known, offer, taken.listing_id)):
        return why
    # Where another listing has that page, the target goes over to it and the old one keeps its address.
    moves_listing = known.listing_id is not None and taken.listing_id is None
    try:
        with connection.begin_nested():
            connection.execute(_MOVE_TARGET, given)
            if moves_listing:
                connection.execute(_MOVE_LISTING, given)
    except IntegrityError:
        return "its new address was taken by another one this moment"
    audit_log.note(
        connection,
        person=by,
        address=None,
        action="target moved",
        subject=f"target {target_id}",
        now=now,
        details={
            "from": known.url,
            "to": given["url"],
            "listing_id": known.listing_id if moves_listing else taken.listing_id,
            "ids": {name: getattr(offer, name) for name in IDS if getattr(offer, name)},
        },
    )
    settle_held(connection, known, accepted=True, note="its target followed it", now=now)
    return None


def tie(connection: Connection, target_id: int, identity: str, now: datetime) -> None:
    """Let a target belong to the listing that its new page was stored as."""
    known = connection.execute(_KNOWN, {"target_id": target_id}).one()
    connection.execute(_TIE, {"target_id": target_id, "identity_key": identity})
    connection.execute(_RETIRE, {"listing_id": known.listing_id, "now": now})


def settle_held(
    connection: Connection, target: LeasedTarget | Row[Any], *, accepted: bool, note: str, now: datetime
) -> None:
    """What is held of a target because its page moved needs nobody any longer."""
    connection.execute(
        _SETTLE,
        {
            "source_id": target.source_id,
            "identity_key": identity_key(None, None, target.canonical_url),
            "status": "accepted" if accepted else "rejected",
            "note": note,
            "now": now,
        },
    )


def was_rejected(connection: Connection, source_id: str, identity: str, url: str) -> bool:
    """Whether a person has said that this page is not the one that moved."""
    given = {"source_id": source_id, "identity_key": identity, "url": url}
    return bool(connection.execute(_REJECTED, given).scalar())


def _why_not(known: Row[Any], offer: Offer, other_listing: int | None) -> str | None:
    if known.listing_id is None:
        return "nothing was stored of it before it led to another page"
    stored = {name: getattr(known, name) for name in IDS}
    shown = {name: getattr(offer, name) for name in IDS}
    if why := why_another_product(stored, shown):
        return why
    if other_listing is not None:
        return f"the page that it led to is stored as listing {other_listing} already"
    return None
