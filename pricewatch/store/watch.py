"""Watch rules on what was stored: read on from where each rule stopped, one message per change.

A crawl that failed stores nothing, so it changes nothing here, and neither does its recovery.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select, text, update

from pricewatch.errors import UserError
from pricewatch.parsing.price import from_cents
from pricewatch.rules.watch import KINDS, Point, judge, known_stock
from pricewatch.store import messages
from pricewatch.store.models import Listing, Product, Target, WatchRule

MOST_ROWS = 5_000

# A rule that was made with a target is about the listing that the target's first look stored.
_FOLLOW_TARGETS = text("""
UPDATE watch_rules r SET listing_id = t.listing_id, target_id = NULL
FROM targets t WHERE t.id = r.target_id AND t.listing_id IS NOT NULL
""")
# A rule begins with what is stored when it is made: only later changes are news.
_BEGIN = text("""
INSERT INTO watch_states (rule_id, listing_id, observed_at, price_cents, currency, availability,
                          reference_cents, gone)
SELECT r.id, l.id, coalesce(greatest(l.price_observed_at, l.stock_observed_at), CAST(:now AS timestamptz)),
       l.price_cents, l.currency, l.availability, l.price_cents,
       NOT l.active AND l.verification_status IS NOT DISTINCT FROM 'gone'
FROM (
    SELECT id, listing_id FROM watch_rules WHERE enabled AND listing_id IS NOT NULL
    UNION ALL
    SELECT w.id, p.id FROM watch_rules w JOIN listings p ON p.product_id = w.product_id WHERE w.enabled
) r JOIN listings l ON l.id = r.listing_id
WHERE CAST(:rule_id AS bigint) IS NULL OR r.id = :rule_id
ON CONFLICT DO NOTHING
""")
# Rules are few; each asks the index of history for what came after its own place.
_NEW_ROWS = text("""
SELECT s.rule_id, s.listing_id, h.observed_at, h.price_cents, h.currency, h.availability
FROM watch_states s JOIN watch_rules r ON r.id = s.rule_id AND r.enabled
CROSS JOIN LATERAL (
    SELECT observed_at, price_cents, currency, availability FROM price_history
    WHERE listing_id = s.listing_id AND observed_at > s.observed_at ORDER BY observed_at LIMIT 100
) h
ORDER BY s.rule_id, s.listing_id, h.observed_at LIMIT :most
""")
_STATE = text("""
SELECT s.*, r.kind, r.threshold_cents, r.threshold_percent, r.notify, l.title, l.source_id
FROM watch_states s JOIN watch_rules r ON r.id = s.rule_id JOIN listings l ON l.id = s.listing_id
WHERE s.rule_id = :rule_id AND s.listing_id = :listing_id FOR UPDATE OF s
""")
_MOVE = text("""
UPDATE watch_states SET observed_at = :observed_at, price_cents = :price_cents, currency = :currency,
    availability = :availability, reference_cents = :reference_cents
WHERE rule_id = :rule_id AND listing_id = :listing_id
""")
# Gone by evidence; what is only old and not yet verified is not gone.
_GONE = text("""
UPDATE watch_states s SET gone = NOT s.gone
FROM watch_rules r, listings l
WHERE r.id = s.rule_id AND r.enabled AND r.kind = 'gone' AND l.id = s.listing_id
  AND s.gone <> (NOT l.active AND l.verification_status IS NOT DISTINCT FROM 'gone')
RETURNING s.rule_id, s.listing_id, s.gone, l.title, l.source_id, l.deactivated_at, l.price_cents, l.currency,
          l.availability, r.notify
""")


def evaluate(connection: Connection, now: datetime) -> int:
    """Put a message into the outbox for each change that a rule is about; says how many."""
    connection.execute(_FOLLOW_TARGETS)
    connection.execute(_BEGIN, {"now": now, "rule_id": None})
    told = 0
    for row in connection.execute(_NEW_ROWS, {"most": MOST_ROWS}).all():
        told += _read(connection, row, now)
    for row in connection.execute(_GONE).all():
        if row.gone:
            told += _tell(connection, row, f"gone:{row.deactivated_at}", _sentence("gone", row, None), now)
    return told


def _read(connection: Connection, row: Any, now: datetime) -> int:
    """One row of history under one rule; somebody else may have read it meanwhile."""
    state = connection.execute(_STATE, {"rule_id": row.rule_id, "listing_id": row.listing_id}).one_or_none()
    if state is None or row.observed_at <= state.observed_at:
        return 0
    before = Point(state.price_cents, state.currency, state.availability)
    after = Point(row.price_cents, row.currency, row.availability)
    verdict = judge(
        state.kind,
        before,
        after,
        state.reference_cents,
        threshold_cents=state.threshold_cents,
        threshold_percent=float(state.threshold_percent) if state.threshold_percent is not None else None,
    )
    stock = known_stock(state.kind, state.availability, row.availability)
    moved = {"availability": stock, "reference_cents": verdict.reference_cents}
    connection.execute(_MOVE, {**row._asdict(), **moved})
    if not verdict.fires:
        return 0
    compared = state.reference_cents if state.kind in ("fell_by", "rose_by") else state.price_cents
    found = _Change(state, row, compared)
    return _tell(connection, found, row.observed_at.isoformat(), _sentence(state.kind, found, compared), now)


class _Change:
    """A change with the listing and the rule that it is about."""

    def __init__(self, state: Any, row: Any, compared: int | None):
        self.rule_id, self.listing_id, self.notify = state.rule_id, state.listing_id, state.notify
        self.title, self.source_id = state.title, state.source_id
        self.price_cents, self.currency, self.availability = row.price_cents, row.currency, row.availability
        self.compared = compared


def _tell(connection: Connection, change: Any, which: str, sentence: str, now: datetime) -> int:
    added = messages.add(
        connection,
        key=f"watch:{change.rule_id}:{change.listing_id}:{which}",
        kind="watch",
        title=f"{change.title[:120]}: {sentence}",
        body=f"{change.title}\n{sentence} on {change.source_id}.",
        link=f"/listings/{change.listing_id}",
        channels=change.notify,
        now=now,
    )
    if added:
        connection.execute(
            update(WatchRule)
            .where(WatchRule.id == change.rule_id)
            .values(last_fired_at=now, last_fired_price_cents=change.price_cents)
        )
    return int(added)


def _sentence(kind: str, change: Any, compared: int | None) -> str:
    price = _money(change.price_cents, change.currency)
    before = _money(compared, change.currency)
    return {
        "price_at_or_below": f"now costs {price}, before {before}",
        "fell_by": f"fell from {before} to {price}",
        "rose_by": f"rose from {before} to {price}",
        "back_in_stock": f"is back in stock for {price}",
        "sold": f"was sold for {price}",
        "gone": f"is gone; it last cost {price}",
    }[kind]


def _money(cents: int | None, currency: str | None) -> str:
    return (
        f"{from_cents(cents, currency)} {currency}" if cents is not None and currency else "an unknown price"
    )


def add(
    connection: Connection,
    *,
    kind: str,
    listing_id: int | None = None,
    product_id: int | None = None,
    target_id: int | None = None,
    threshold_cents: int | None = None,
    threshold_percent: float | None = None,
    notify: list[str] | None = None,
    now: datetime,
) -> int:
    if kind not in KINDS:
        raise UserError(f"There is no rule {kind!r}; there are {', '.join(KINDS)}.")
    if sum(one is not None for one in (listing_id, product_id, target_id)) != 1:
        raise UserError("A rule watches one listing, one product or one target.")
    if kind == "price_at_or_below" and not threshold_cents:
        raise UserError("Say the price at or below which you want to be told.")
    if kind in ("fell_by", "rose_by") and not (threshold_percent and 0 < threshold_percent <= 1000):
        raise UserError("Say by how many per cent the price must move.")
    for table, key in ((Listing, listing_id), (Product, product_id), (Target, target_id)):
        if key is not None and connection.execute(select(table.id).where(table.id == key)).scalar() is None:
            raise UserError(f"There is no {table.__name__.lower()} {key}.")
    rule_id = connection.execute(
        insert(WatchRule)
        .values(
            kind=kind,
            listing_id=listing_id,
            product_id=product_id,
            target_id=target_id,
            threshold_cents=threshold_cents if kind == "price_at_or_below" else None,
            threshold_percent=threshold_percent if kind in ("fell_by", "rose_by") else None,
            notify=notify or [],
        )
        .returning(WatchRule.id)
    ).scalar_one()
    connection.execute(_BEGIN, {"now": now, "rule_id": rule_id})
    return int(rule_id)


def remove(connection: Connection, rule_id: int) -> bool:
    return connection.execute(delete(WatchRule).where(WatchRule.id == rule_id)).rowcount == 1


def listed(
    connection: Connection, *, listing_id: int | None = None, before_id: int | None = None, most: int
) -> list[dict[str, Any]]:
    query = (
        select(
            *WatchRule.__table__.columns,
            Listing.title.label("listing_title"),
            Listing.price_cents,
            Listing.currency,
            Product.title.label("product_title"),
            Target.url.label("target_url"),
        )
        .outerjoin(Listing, Listing.id == WatchRule.listing_id)
        .outerjoin(Product, Product.id == WatchRule.product_id)
        .outerjoin(Target, Target.id == WatchRule.target_id)
        .order_by(WatchRule.id.desc())
        .limit(most)
    )
    if listing_id is not None:
        query = query.where(WatchRule.listing_id == listing_id)
    if before_id is not None:
        query = query.where(WatchRule.id < before_id)
    return [dict(row) for row in connection.execute(query).mappings()]
