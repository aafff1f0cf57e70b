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
Kind = Literal["price_at_or_below", "fell_by", "rose_by", "back_in_stock", "sold", "gone"]
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


class NewRule(BaseModel):
    """A rule for one listing, product or target, with a threshold if the kind needs one.

    `threshold_cents` is in minor units of `currency`, by default the currency of the watched listings if
    they have only one. A price in another currency never fires the rule.
    """

    model_config = ConfigDict(extra="forbid")

    kind: Kind
    listing_id: Number = None
    product_id: Number = None
    target_id: Number = None
    threshold_cents: Annotated[int | None, Field(ge=1, le=MAX_CENTS)] = None
    currency: Currency | None = None
    threshold_percent: Annotated[float | None, Field(gt=0, le=1000)] = None
    notify: list[ShortText] = Field([], max_length=10)


class Removed(BaseModel):
    id: int


@router.get("", response_model=Page[WatchRuleResponse])
def find(context: Context, before: Before = None, limit: Limit = 50) -> Any:
    with context.read() as connection:
        return page_of(watch_rules.find_rules(connection, before_id=before, most=limit + 1), limit)


@router.post("", response_model=WatchRuleResponse, status_code=201)
def add(context: ChangeContext, body: NewRule) -> Any:
    known = channels()
    if unknown := [name for name in body.notify if name not in known]:
        raise UserError(f"Unknown channel {unknown[0]!r}. Known: {', '.join(sorted(known)) or 'none'}.")
    with context.change("watch rule added", body.kind) as connection:
        values = body.model_dump(exclude={"threshold_cents", "currency"})
        rule_id = watch_rules.add(
            connection, now=context.now, threshold=_threshold(connection, body), **values
        )
        return next(row for row in watch_rules.find_rules(connection, most=1, before_id=rule_id + 1))


@router.delete("/{rule_id}", response_model=Removed)
def remove(context: ChangeContext, rule_id: Id) -> Any:
    with context.change("watch rule removed", f"rule {rule_id}") as connection:
        if not watch_rules.remove(connection, rule_id):
            raise HTTPException(404, f"There is no rule {rule_id}.")
    return {"id": rule_id}


def _threshold(connection: Connection, rule: NewRule) -> Money | None:
    if rule.threshold_cents is None:
        return None
    watched = {name: getattr(rule, name) for name in ("listing_id", "product_id", "target_id")}
    currency = rule.currency or watch_rules.currency_of(connection, **watched)
    if currency is None:
        raise UserError(
            "Add the currency of the threshold, such as EUR: the watched listings do not have just one."
        )
    return Money(rule.threshold_cents, currency)
