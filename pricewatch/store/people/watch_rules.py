"""Watch rules on what was stored: read on from where each rule stopped, one message per change.

A crawl that failed stores nothing, so it changes nothing here, and neither does its recovery.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select, text, update

from pricewatch.errors import UserError
from pricewatch.money import ISO_4217, MAX_CENTS, Money
from pricewatch.rules.watch_conditions import KINDS, Point, judge, known_stock
from pricewatch.store.models import Listing, Product, Target, WatchRule
from pricewatch.store.people import outbox

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
SELECT s.*, r.kind, r.threshold_cents, r.currency AS threshold_currency, r.threshold_percent, r.notify,
       l.title, l.source_id
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

_CURRENCIES = text("""
SELECT currency FROM listings WHERE id = :listing_id AND currency IS NOT NULL
UNION
SELECT currency FROM listings WHERE product_id = :product_id AND currency IS NOT NULL
UNION
SELECT coalesce(l.currency, t.selectors ->> 'currency')
FROM targets t LEFT JOIN listings l ON l.id = t.listing_id
WHERE t.id = :target_id AND coalesce(l.currency, t.selectors ->> 'currency') IS NOT NULL
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
            price = Money.of(row.price_cents, row.currency)
            found = _Change(row.rule_id, row.listing_id, row.title, row.source_id, row.notify, price)
            told += _tell(connection, found, f"gone:{row.deactivated_at}", _sentence("gone", found), now)
    return told


def _read(connection: Connection, row: Any, now: datetime) -> int:
    """One row of history under one rule; somebody else may have read it meanwhile."""
    state = connection.execute(_STATE, {"rule_id": row.rule_id, "listing_id": row.listing_id}).one_or_none()
    if state is None or row.observed_at <= state.observed_at:
        return 0
    before = Point(Money.of(state.price_cents, state.currency), state.availability)
    after = Point(Money.of(row.price_cents, row.currency), row.availability)
    # Always of the last price's currency: a price of another one takes its place.
    reference = Money.of(state.reference_cents, state.currency)
    verdict = judge(
        state.kind,
        before,
        after,
        reference,
        threshold=Money.of(state.threshold_cents, state.threshold_currency),
        percent=float(state.threshold_percent) if state.threshold_percent is not None else None,
    )
    moved = _state_of(after.price or before.price, verdict.reference)
    stock = known_stock(state.kind, state.availability, row.availability)
    connection.execute(_MOVE, {**row._asdict(), **moved, "availability": stock})
    if not verdict.fires:
        return 0
    compared = reference if state.kind in ("fell_by", "rose_by") else before.price
    found = _Change(
        state.rule_id, state.listing_id, state.title, state.source_id, state.notify, after.price, compared
    )
    return _tell(connection, found, row.observed_at.isoformat(), _sentence(state.kind, found), now)


def _state_of(price: Money | None, reference: Money | None) -> dict[str, Any]:
    return {
        "price_cents": price.minor if price else None,
        "currency": price.currency if price else None,
        "reference_cents": reference.minor if reference else None,
    }


@dataclass(frozen=True, slots=True)
class _Change:
    """A change with the listing and the rule that it is about."""

    rule_id: int
    listing_id: int
    title: str
    source_id: str
    notify: list[str]
    price: Money | None
    compared: Money | None = None


def _tell(connection: Connection, change: _Change, which: str, sentence: str, now: datetime) -> int:
    added = outbox.add(
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
            .values(
                last_fired_at=now,
                last_fired_price_cents=change.price.minor if change.price else None,
                last_fired_currency=change.price.currency if change.price else None,
            )
        )
    return int(added)


def _sentence(kind: str, change: _Change) -> str:
    price, before = change.price or "an unknown price", change.compared or "an unknown price"
    return {
        "price_at_or_below": f"now costs {price}, before {before}",
        "fell_by": f"fell from {before} to {price}",
        "rose_by": f"rose from {before} to {price}",
        "back_in_stock": f"is back in stock for {price}",
        "sold": f"was sold for {price}",
        "gone": f"is gone; it last cost {price}",
    }[kind]


def add(
    connection: Connection,
    *,
    kind: str,
    listing_id: int | None = None,
    product_id: int | None = None,
    target_id: int | None = None,
    threshold: Money | None = None,
    threshold_percent: float | None = None,
    notify: list[str] | None = None,
    now: datetime,
) -> int:
    """A threshold is money: a listing that costs money of another currency never fires the rule."""
    if kind not in KINDS:
        raise UserError(f"There is no rule {kind!r}; there are {', '.join(KINDS)}.")
    if sum(one is not None for one in (listing_id, product_id, target_id)) != 1:
        raise UserError("A rule watches one listing, one product or one target.")
    if kind == "price_at_or_below" and (threshold is None or not 0 < threshold.minor <= MAX_CENTS):
        raise UserError("Say the price at or below which you want to be told.")
    if threshold is not None and threshold.currency not in ISO_4217:
        raise UserError(f"{threshold.currency!r} is not a currency code. Example: EUR")
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
            threshold_cents=threshold.minor if threshold and kind == "price_at_or_below" else None,
            currency=threshold.currency if threshold and kind == "price_at_or_below" else None,
            threshold_percent=threshold_percent if kind in ("fell_by", "rose_by") else None,
            notify=notify or [],
        )
        .returning(WatchRule.id)
    ).scalar_one()
    connection.execute(_BEGIN, {"now": now, "rule_id": rule_id})
    return int(rule_id)


def currency_of(
    connection: Connection,
    *,
    listing_id: int | None = None,
    product_id: int | None = None,
    target_id: int | None = None,
) -> str | None:
    """The one currency that what is watched costs; None where it is not known or there are several."""
    found = connection.execute(
        _CURRENCIES, {"listing_id": listing_id, "product_id": product_id, "target_id": target_id}
    )
    currencies = list(found.scalars())
    return currencies[0] if len(currencies) == 1 else None


def remove(connection: Connection, rule_id: int) -> bool:
    return connection.execute(delete(WatchRule).where(WatchRule.id == rule_id)).rowcount == 1


def listed(
    connection: Connection, *, listing_id: int | None = None, before_id: int | None = None, most: int
) -> list[dict[str, Any]]:
    query = (
        select(
            *WatchRule.__table__.columns,
            Listing.title.label("listing_title"),
            Listing.price_cents.label("price_cents"),
            Listing.currency.label("price_currency"),
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
    return [
        {
            **row,
            "threshold": Money.of(row["threshold_cents"], row["currency"]),
            "price": Money.of(row["price_cents"], row["price_currency"]),
        }
        for row in connection.execute(query).mappings()
    ]
