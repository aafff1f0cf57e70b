"""Watch rules: add, change, pause, remove and list them. `rule_evaluation` decides when they fire."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select, text, update

from pricewatch.errors import UserError
from pricewatch.money import ISO_4217, MAX_CENTS, Money
from pricewatch.rules.watch_conditions import KINDS, PERCENT_KINDS
from pricewatch.store.models import Listing, Product, Target, WatchRule, WatchState
from pricewatch.store.people import rule_evaluation

_CURRENCIES = text("""
SELECT currency FROM listings WHERE id = :listing_id AND currency IS NOT NULL
UNION
SELECT currency FROM listings WHERE product_id = :product_id AND currency IS NOT NULL
UNION
SELECT coalesce(l.currency, t.selectors ->> 'currency')
FROM targets t LEFT JOIN listings l ON l.id = t.listing_id
WHERE t.id = :target_id AND coalesce(l.currency, t.selectors ->> 'currency') IS NOT NULL
""")


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
    """Add a rule and return its id; if it is true already, add its message.

    A listing in another currency than the threshold never fires the rule.
    """
    if sum(key is not None for key in (listing_id, product_id, target_id)) != 1:
        raise UserError("A rule must watch exactly one listing, product or target.")
    condition = _condition(kind, threshold, threshold_percent)
    for table, key in ((Listing, listing_id), (Product, product_id), (Target, target_id)):
        if key is not None and connection.execute(select(table.id).where(table.id == key)).scalar() is None:
            raise UserError(f"There is no {table.__name__.lower()} {key}.")
    watched = {"listing_id": listing_id, "product_id": product_id, "target_id": target_id}
    rule_id = connection.execute(
        insert(WatchRule).values(**condition, **watched, notify=notify or []).returning(WatchRule.id)
    ).scalar_one()
    rule_evaluation.start(connection, now, rule_id)
    return int(rule_id)


def change(
    connection: Connection,
    rule_id: int,
    *,
    kind: str,
    threshold: Money | None = None,
    threshold_percent: float | None = None,
    notify: list[str] | None = None,
    enabled: bool = True,
    now: datetime,
) -> bool:
    """Replace the condition and the channels of a rule; return False if there is no such rule.

    The rule starts again from the current prices, as a new one does.
    """
    values = {**_condition(kind, threshold, threshold_percent), "notify": notify or [], "enabled": enabled}
    if connection.execute(update(WatchRule).where(WatchRule.id == rule_id).values(**values)).rowcount == 0:
        return False
    _restart(connection, rule_id, now)
    return True


def set_enabled(connection: Connection, rule_id: int, now: datetime, *, enabled: bool) -> bool:
    """Pause or resume a rule. Changes during the pause do not fire it, unless it is true afterwards."""
    rule = WatchRule.id == rule_id
    if connection.execute(update(WatchRule).where(rule).values(enabled=enabled)).rowcount == 0:
        return False
    _restart(connection, rule_id, now)
    return True


def _restart(connection: Connection, rule_id: int, now: datetime) -> None:
    connection.execute(delete(WatchState).where(WatchState.rule_id == rule_id))
    rule_evaluation.start(connection, now, rule_id)


def _condition(kind: str, threshold: Money | None, percent: float | None) -> dict[str, Any]:
    """Check the condition of a rule, and return its columns."""
    if kind not in KINDS:
        raise UserError(f"Unknown kind of rule {kind!r}. Known: {', '.join(KINDS)}.")
    if kind == "price_at_or_below" and (threshold is None or not 0 < threshold.minor <= MAX_CENTS):
        raise UserError("This rule needs a price greater than 0. Example: 12.50")
    if threshold is not None and threshold.currency not in ISO_4217:
        raise UserError(f"{threshold.currency!r} is not a currency code. Example: EUR")
    if kind in PERCENT_KINDS and not (percent and 0 < percent <= 1000):
        raise UserError("This rule needs a percentage between 0 and 1000. Example: 10")
    has_threshold = threshold is not None and kind == "price_at_or_below"
    return {
        "kind": kind,
        "threshold_cents": threshold.minor if threshold and has_threshold else None,
        "currency": threshold.currency if threshold and has_threshold else None,
        "threshold_percent": percent if kind in PERCENT_KINDS else None,
    }


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


def find_rule(connection: Connection, rule_id: int) -> dict[str, Any] | None:
    return next(iter(find_rules(connection, rule_id=rule_id, most=1)), None)


def find_rules(
    connection: Connection,
    *,
    rule_id: int | None = None,
    listing_id: int | None = None,
    before_id: int | None = None,
    most: int,
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
    if rule_id is not None:
        query = query.where(WatchRule.id == rule_id)
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
