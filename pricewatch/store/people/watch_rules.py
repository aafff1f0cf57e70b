"""Watch rules: each rule reads new price history since its last position and adds one message per change.

A failed crawl stores nothing, so neither the failure nor the recovery fires a rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select, text, update

from pricewatch.errors import UserError
from pricewatch.money import ISO_4217, MAX_CENTS, Money
from pricewatch.rules.watch_conditions import KINDS, ListingState, comparable_availability, evaluate_rule
from pricewatch.store.models import Listing, Product, Target, WatchRule
from pricewatch.store.people import outbox

MAX_ROWS = 5_000

# A rule on a target becomes a rule on the listing that the first check of the target stored.
_LINK_LISTINGS = text("""
UPDATE watch_rules r SET listing_id = t.listing_id, target_id = NULL
FROM targets t WHERE t.id = r.target_id AND t.listing_id IS NOT NULL
""")
# A rule starts from the state stored at its creation, so only later changes fire it.
_CREATE_STATES = text("""
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
       l.title, l.source_id
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
    """Add a message to the outbox for each change that fires a rule; return how many."""
    connection.execute(_LINK_LISTINGS)
    connection.execute(_CREATE_STATES, {"now": now, "rule_id": None})
    added = 0
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


def _evaluate_row(connection: Connection, row: Any, now: datetime) -> int:
    """Evaluate one row of history under one rule, unless another process has done so."""
    state = connection.execute(_STATE, {"rule_id": row.rule_id, "listing_id": row.listing_id}).one_or_none()
    if state is None or row.observed_at <= state.observed_at:
        return 0
    before = ListingState(Money.of(state.price_cents, state.currency), state.availability)
    after = ListingState(Money.of(row.price_cents, row.currency), row.availability)
    # The reference has the currency of the last price: a price in another currency replaces it.
    reference = Money.of(state.reference_cents, state.currency)
    verdict = evaluate_rule(
        state.kind,
        before,
        after,
        reference,
        threshold=Money.of(state.threshold_cents, state.threshold_currency),
        percent=float(state.threshold_percent) if state.threshold_percent is not None else None,
    )
    new_state = _state_values(after.price or before.price, verdict.reference)
    stock = comparable_availability(state.kind, state.availability, row.availability)
    connection.execute(_UPDATE_STATE, {**row._asdict(), **new_state, "availability": stock})
    if not verdict.fires:
        return 0
    compared = reference if state.kind in ("fell_by", "rose_by") else before.price
    change = _Change(
        state.rule_id, state.listing_id, state.title, state.source_id, state.notify, after.price, compared
    )
    return _add_message(connection, change, row.observed_at.isoformat(), _sentence(state.kind, change), now)


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
    """Add a rule and return its id. A listing in another currency than the threshold never fires the rule."""
    if kind not in KINDS:
        raise UserError(f"Unknown kind of rule {kind!r}. Known: {', '.join(KINDS)}.")
    if sum(key is not None for key in (listing_id, product_id, target_id)) != 1:
        raise UserError("A rule must watch exactly one listing, product or target.")
    if kind == "price_at_or_below" and (threshold is None or not 0 < threshold.minor <= MAX_CENTS):
        raise UserError("This rule needs a price greater than 0. Example: 12.50")
    if threshold is not None and threshold.currency not in ISO_4217:
        raise UserError(f"{threshold.currency!r} is not a currency code. Example: EUR")
    if kind in ("fell_by", "rose_by") and not (threshold_percent and 0 < threshold_percent <= 1000):
        raise UserError("This rule needs a percentage between 0 and 1000. Example: 10")
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
    connection.execute(_CREATE_STATES, {"now": now, "rule_id": rule_id})
    return int(rule_id)


def currency_of(
    connection: Connection,
    *,
    listing_id: int | None = None,
    product_id: int | None = None,
    target_id: int | None = None,
) -> str | None:
    """Return the currency of the watched listing, product or target; None if unknown or several."""
    result = connection.execute(
        _CURRENCIES, {"listing_id": listing_id, "product_id": product_id, "target_id": target_id}
    )
    currencies = list(result.scalars())
    return currencies[0] if len(currencies) == 1 else None


def remove(connection: Connection, rule_id: int) -> bool:
    return connection.execute(delete(WatchRule).where(WatchRule.id == rule_id)).rowcount == 1


def find_rules(
    connection: Connection, *, listing_id: int | None = None, before_id: int | None = None, most: int
) -> list[dict[str, Any]]:
    """List rules, newest first, with the current price of their listing."""
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
