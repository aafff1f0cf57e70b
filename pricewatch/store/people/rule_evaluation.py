"""Evaluate watch rules: read new price history since the last position, and add one message per change.

A failed crawl stores nothing, so neither the failure nor the recovery fires a rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, text, update

from pricewatch.money import Money
from pricewatch.rules.watch_conditions import (
    FOR_SALE,
    LOWEST_KINDS,
    PERCENT_KINDS,
    ListingState,
    comparable_availability,
    evaluate_rule,
    fires_for_new_offer,
    is_true_at_start,
)
from pricewatch.store.models import WatchRule
from pricewatch.store.people import outbox

MAX_ROWS = 5_000

# A rule on a target becomes a rule on the listing that the first check of the target stored.
_LINK_LISTINGS = text("""
UPDATE watch_rules r SET listing_id = t.listing_id, target_id = NULL
FROM targets t WHERE t.id = r.target_id AND t.listing_id IS NOT NULL
""")
# A listing that was linked to another product is no longer watched by the rule.
_DELETE_LEFT = text("""
DELETE FROM watch_states s USING watch_rules r, listings l
WHERE r.id = s.rule_id AND r.product_id IS NOT NULL AND l.id = s.listing_id
  AND l.product_id IS DISTINCT FROM r.product_id
""")
# `gone` starts as false, so that a rule on a listing that is gone already fires.
_CREATE_STATES = text("""
INSERT INTO watch_states (rule_id, listing_id, observed_at, price_cents, currency, availability,
                          reference_cents)
SELECT r.id, l.id, coalesce(greatest(l.price_observed_at, l.stock_observed_at), CAST(:now AS timestamptz)),
       l.price_cents, l.currency, l.availability, l.price_cents
FROM (
    SELECT id, listing_id FROM watch_rules WHERE enabled AND listing_id IS NOT NULL
    UNION ALL
    SELECT w.id, p.id FROM watch_rules w JOIN listings p ON p.product_id = w.product_id WHERE w.enabled
) r JOIN listings l ON l.id = r.listing_id
WHERE CAST(:rule_id AS bigint) IS NULL OR r.id = :rule_id
ON CONFLICT DO NOTHING
RETURNING rule_id, listing_id
""")
# Rules are few; each reads the history after its position from the index.
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
       r.product_id, l.title, l.source_id,
       (SELECT max(h.observed_at) FROM price_history h WHERE h.listing_id = l.id) AS changed_at
FROM watch_states s JOIN watch_rules r ON r.id = s.rule_id JOIN listings l ON l.id = s.listing_id
WHERE s.rule_id = :rule_id AND s.listing_id = :listing_id FOR UPDATE OF s
""")
_UPDATE_STATE = text("""
UPDATE watch_states SET observed_at = :observed_at, price_cents = :price_cents, currency = :currency,
    availability = :availability, reference_cents = :reference_cents
WHERE rule_id = :rule_id AND listing_id = :listing_id
""")
# Only verified as gone: a listing that was merely not seen for long does not count.
_UPDATE_GONE = text("""
UPDATE watch_states s SET gone = NOT s.gone
FROM watch_rules r, listings l
WHERE r.id = s.rule_id AND r.enabled AND r.kind = 'gone' AND l.id = s.listing_id
  AND s.gone <> (NOT l.active AND l.verification_status IS NOT DISTINCT FROM 'gone')
RETURNING s.rule_id, s.listing_id, s.gone, l.title, l.source_id, l.deactivated_at, l.price_cents, l.currency,
          l.availability, r.notify
""")
# The lowest price at which the listings were for sale after `since`, other than in the row that is evaluated.
# The last row before `since` was still the price at that time.
_LOWEST = text("""
SELECT h.price_cents FROM listings l CROSS JOIN LATERAL (
    (SELECT observed_at, price_cents, currency, availability FROM price_history
     WHERE listing_id = l.id AND observed_at > CAST(:since AS timestamptz) AND observed_at <= :until)
    UNION ALL
    (SELECT observed_at, price_cents, currency, availability FROM price_history
     WHERE listing_id = l.id AND observed_at <= CAST(:since AS timestamptz)
     ORDER BY observed_at DESC LIMIT 1)
) h
WHERE (l.id = :listing_id OR l.product_id = :product_id) AND h.currency = :currency
  AND h.availability = ANY(:for_sale) AND (l.id, h.observed_at) <> (:listing_id, :changed_at)
ORDER BY h.price_cents LIMIT 1
""")


def evaluate(connection: Connection, now: datetime) -> int:
    """Add a message to the outbox for each change that fires a rule; return how many."""
    connection.execute(_LINK_LISTINGS)
    connection.execute(_DELETE_LEFT)
    added = start(connection, now)
    for row in connection.execute(_NEW_ROWS, {"most": MAX_ROWS}).all():
        added += _evaluate_row(connection, row, now)
    for row in connection.execute(_UPDATE_GONE).all():
        if row.gone:
            price = Money.of(row.price_cents, row.currency)
            change = _Change(row.rule_id, row.listing_id, row.title, row.source_id, row.notify, price)
            added += _add_message(
                connection, change, f"gone:{row.deactivated_at}", _sentence("gone", change), now
            )
    return added


def start(connection: Connection, now: datetime, rule_id: int | None = None) -> int:
    """Set the positions of rules that have none; add a message for each rule that is true already.

    Without `rule_id`, a listing without a position has joined its product since the rule was set.
    """
    added = 0
    for created in connection.execute(_CREATE_STATES, {"now": now, "rule_id": rule_id}).all():
        row = connection.execute(_STATE, created._asdict()).one()
        state = ListingState(Money.of(row.price_cents, row.currency), row.availability)
        threshold = Money.of(row.threshold_cents, row.threshold_currency)
        joined = rule_id is None and row.product_id is not None
        if joined:
            lowest = _lowest(connection, row, state.price, row.changed_at, until=now)
            fires = fires_for_new_offer(row.kind, state, threshold=threshold, lowest=lowest)
        else:
            fires = is_true_at_start(row.kind, state, threshold)
        if fires and row.changed_at is not None:
            change = _Change(
                row.rule_id, row.listing_id, row.title, row.source_id, row.notify, state.price, threshold
            )
            sentence = f"is a new offer for {state.price}" if joined else _start_sentence(row.kind, change)
            added += _add_message(connection, change, row.changed_at.isoformat(), sentence, now)
    return added


def _evaluate_row(connection: Connection, row: Any, now: datetime) -> int:
    """Evaluate one row of history under one rule, unless another process has done so."""
    state = connection.execute(_STATE, {"rule_id": row.rule_id, "listing_id": row.listing_id}).one_or_none()
    if state is None or row.observed_at <= state.observed_at:
        return 0
    before = ListingState(Money.of(state.price_cents, state.currency), state.availability)
    after = ListingState(Money.of(row.price_cents, row.currency), row.availability)
    # The reference has the currency of the last price: a price in another currency replaces it.
    reference = Money.of(state.reference_cents, state.currency)
    lowest = _lowest(connection, state, after.price, row.observed_at, until=row.observed_at)
    verdict = evaluate_rule(
        state.kind,
        before,
        after,
        reference,
        threshold=Money.of(state.threshold_cents, state.threshold_currency),
        percent=float(state.threshold_percent) if state.threshold_percent is not None else None,
        lowest=lowest,
    )
    new_state = _state_values(after.price or before.price, verdict.reference)
    stock = comparable_availability(state.kind, state.availability, row.availability)
    connection.execute(_UPDATE_STATE, {**row._asdict(), **new_state, "availability": stock})
    if not verdict.fires:
        return 0
    compared = reference if state.kind in PERCENT_KINDS else lowest or before.price
    change = _Change(
        *(state.rule_id, state.listing_id, state.title, state.source_id, state.notify, after.price, compared),
        stock=None if before.availability == after.availability else after.availability,
    )
    return _add_message(connection, change, row.observed_at.isoformat(), _sentence(state.kind, change), now)


def _lowest(
    connection: Connection, rule: Any, price: Money | None, changed_at: datetime | None, *, until: datetime
) -> Money | None:
    """Return the lowest earlier price in the currency of `price`, of the listing or of the whole product."""
    if rule.kind not in LOWEST_KINDS or price is None or changed_at is None:
        return None
    days = LOWEST_KINDS[rule.kind]
    values = {
        "listing_id": rule.listing_id,
        "product_id": rule.product_id,
        "currency": price.currency,
        "since": "-infinity" if days is None else changed_at - timedelta(days=days),
        "until": until,
        "changed_at": changed_at,
        "for_sale": sorted(FOR_SALE),
    }
    return Money.of(connection.execute(_LOWEST, values).scalar(), price.currency)


def _state_values(price: Money | None, reference: Money | None) -> dict[str, Any]:
    return {
        "price_cents": price.minor if price else None,
        "currency": price.currency if price else None,
        "reference_cents": reference.minor if reference else None,
    }


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of a listing that fires a rule."""

    rule_id: int
    listing_id: int
    title: str
    source_id: str
    notify: list[str]
    price: Money | None
    compared: Money | None = None
    # The new availability, if it has changed.
    stock: str | None = None


def _add_message(connection: Connection, change: _Change, key: str, sentence: str, now: datetime) -> int:
    added = outbox.add(
        connection,
        key=f"watch:{change.rule_id}:{change.listing_id}:{key}",
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
    stock = f"is {change.stock.replace('_', ' ').lower()} for {price}" if change.stock else ""
    moved = f"now costs {price}, before {before}"
    return {
        "price_at_or_below": moved,
        "fell_by": f"fell from {before} to {price}",
        "rose_by": f"rose from {before} to {price}",
        "any_change": (stock if price == before else f"{moved}, and {stock}") if stock else moved,
        "lowest_ever": f"costs {price}, the lowest price so far; the lowest before was {before}",
        "lowest_in_30_days": f"costs {price}, the lowest price in 30 days; the lowest before was {before}",
        "back_in_stock": f"is back in stock for {price}",
        "sold": f"was sold for {price}",
        "gone": f"is gone; it last cost {price}",
    }[kind]


def _start_sentence(kind: str, change: _Change) -> str:
    """Say that a new rule is true already; `compared` is its threshold."""
    if kind == "price_at_or_below":
        return f"costs {change.price} already, which is at most {change.compared}"
    return f"was sold already, for {change.price}"
