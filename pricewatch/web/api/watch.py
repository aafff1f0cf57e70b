"""Watch rules."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from pricewatch.errors import UserError
from pricewatch.money import MAX_CENTS, Money
from pricewatch.services.notifications import channels
from pricewatch.store.people import watch_rules
from pricewatch.web.api.common import ChangeContext, Currency, Limit, Page, ResponseModel, ShortText, page_of
from pricewatch.web.form_fields import LARGEST_ID, Before, Id
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context

router = APIRouter(prefix="/api/watch-rules", tags=["watch rules"], responses=responses(404))
Kind = Literal[
    "price_at_or_below",
    "fell_by",
    "rose_by",
    "any_change",
    "lowest_ever",
    "lowest_in_30_days",
    "back_in_stock",
    "sold",
    "gone",
]
WATCHED = ("listing_id", "product_id", "target_id")
Number = Annotated[int | None, Field(ge=1, le=LARGEST_ID)]


class WatchRuleResponse(ResponseModel):
    id: int
    kind: Kind
    listing_id: int | None
    product_id: int | None
    target_id: int | None
    threshold_cents: int | None
    currency: str | None
    threshold_percent: Decimal | None
    notify: list[Any]
    enabled: bool
    last_fired_at: datetime | None
    last_fired_price_cents: int | None
    last_fired_currency: str | None
    created_at: datetime


class Condition(BaseModel):
    """When a rule fires, with a threshold if the kind needs one, and the channels of its messages.

    `threshold_cents` is in minor units of `currency`, by default the currency of the watched listings if
    they have only one. A price in another currency never fires the rule.
    """

    model_config = ConfigDict(extra="forbid")

    kind: Kind
    threshold_cents: Annotated[int | None, Field(ge=1, le=MAX_CENTS)] = None
    currency: Currency | None = None
    threshold_percent: Annotated[float | None, Field(gt=0, le=1000)] = None
    notify: list[ShortText] = Field([], max_length=10)


class NewRule(Condition):
    """A rule for one listing, product or target. If it is true already, its message is sent at once."""

    listing_id: Number = None
    product_id: Number = None
    target_id: Number = None


class ChangedRule(Condition):
    """Replaces the condition, the channels and whether the rule is enabled."""

    enabled: bool = True


class Removed(BaseModel):
    id: int


@router.get("", response_model=Page[WatchRuleResponse])
def find(context: Context, before: Before = None, limit: Limit = 50) -> Any:
    with context.read() as connection:
        return page_of(watch_rules.find_rules(connection, before_id=before, most=limit + 1), limit)


@router.post("", response_model=WatchRuleResponse, status_code=201)
def add(context: ChangeContext, body: NewRule) -> Any:
    _check_channels(body)
    watched = body.model_dump(include=set(WATCHED))
    with context.change("watch rule added", body.kind) as connection:
        rule_id = watch_rules.add(
            connection, now=context.now, **_values(connection, body, watched), **watched
        )
        return watch_rules.find_rule(connection, rule_id)


@router.put("/{rule_id}", response_model=WatchRuleResponse)
def change(context: ChangeContext, rule_id: Id, body: ChangedRule) -> Any:
    """The rule then compares with the current prices, as a new rule does."""
    _check_channels(body)
    with context.change("watch rule changed", f"rule {rule_id}", kind=body.kind) as connection:
        rule = watch_rules.find_rule(connection, rule_id)
        if rule is None:
            raise HTTPException(404, f"There is no rule {rule_id}.")
        watched = {name: rule[name] for name in WATCHED}
        values = _values(connection, body, watched)
        watch_rules.change(connection, rule_id, now=context.now, enabled=body.enabled, **values)
        return watch_rules.find_rule(connection, rule_id)


@router.delete("/{rule_id}", response_model=Removed)
def remove(context: ChangeContext, rule_id: Id) -> Any:
    with context.change("watch rule removed", f"rule {rule_id}") as connection:
        if not watch_rules.remove(connection, rule_id):
            raise HTTPException(404, f"There is no rule {rule_id}.")
    return {"id": rule_id}


def _check_channels(rule: Condition) -> None:
    known = channels()
    if unknown := [name for name in rule.notify if name not in known]:
        raise UserError(f"Unknown channel {unknown[0]!r}. Known: {', '.join(sorted(known)) or 'none'}.")


def _values(connection: Connection, rule: Condition, watched: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": rule.kind,
        "threshold": _threshold(connection, rule, watched),
        "threshold_percent": rule.threshold_percent,
        "notify": rule.notify,
    }


def _threshold(connection: Connection, rule: Condition, watched: dict[str, Any]) -> Money | None:
    if rule.threshold_cents is None:
        return None
    currency = rule.currency or watch_rules.currency_of(connection, **watched)
    if currency is None:
        raise UserError(
            "Add the currency of the threshold, such as EUR: the watched listings do not have just one."
        )
    return Money(rule.threshold_cents, currency)
