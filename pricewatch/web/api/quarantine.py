"""Quarantined offers: list, choose the price, accept, reject and extract again."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query
from pydantic import BaseModel, ConfigDict, Field

from pricewatch.services import candidate_choice, quarantine_review
from pricewatch.services.candidate_choice import ChoiceRequest
from pricewatch.store.engine.database import engine
from pricewatch.store.writing import quarantine_rows
from pricewatch.store.writing.quarantine_rows import QuarantineFilter
from pricewatch.vocabulary import QuarantineReason
from pricewatch.web.api.common import (
    ChangeContext,
    Currency,
    Limit,
    LongText,
    Page,
    ResponseModel,
    ShortText,
    page_of,
)
from pricewatch.web.form_fields import Before, Id
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context

router = APIRouter(prefix="/api/quarantine", tags=["quarantine"], responses=responses(404))
Status = Literal["pending", "accepted", "rejected", "replayed"]


class QuarantinedOffer(ResponseModel):
    id: int
    source_id: str
    run_id: int | None
    target_id: int | None
    listing_id: int | None
    adapter_id: str
    adapter_version: str
    url: str
    identity_key: str | None
    reason: QuarantineReason
    offer: dict[str, Any]
    details: dict[str, Any]
    page_hash: str | None
    status: Status
    times_seen: int
    first_seen_at: datetime
    observed_at: datetime
    reviewed_at: datetime | None
    reviewed_by: str | None
    note: str | None


class Note(BaseModel):
    model_config = ConfigDict(extra="forbid")

    note: LongText | None = None


class Replay(BaseModel):
    model_config = ConfigDict(extra="forbid")

    apply: bool = False


class ReviewResponse(BaseModel):
    id: int
    outcome: str
    details: str = ""


class PriceChoiceRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    number: Annotated[int, Field(ge=1, le=10_000, description="The number of one of `details.candidates`.")]
    expected: Annotated[
        ShortText | None,
        Field(description="Its price, such as 12.50 EUR: refused if the page was read again and it changed."),
    ] = None
    currency: Currency | None = None
    availability: Literal["IN_STOCK", "OUT_OF_STOCK", "BACKORDER"] | None = None
    for_site: Annotated[bool, Field(description="Remember the place of the price for the whole site.")] = (
        False
    )


class PriceChoiceResponse(ReviewResponse):
    """The custom selectors that the target got, and the place of the price that the site got."""

    selectors: dict[str, str] = {}
    site_selector: str | None = None


@router.get("", response_model=Page[QuarantinedOffer])
def find(
    context: Context,
    status: Status | None = "pending",
    reason: QuarantineReason | None = None,
    adapter_id: Annotated[ShortText | None, Query()] = None,
    before: Before = None,
    limit: Limit = 50,
) -> Any:
    filters = QuarantineFilter(status=status, reason=reason, adapter_id=adapter_id)
    with context.read() as connection:
        return page_of(quarantine_rows.find_rows(connection, filters, most=limit + 1, before=before), limit)


@router.get("/{quarantine_id}", response_model=QuarantinedOffer)
def one(context: Context, quarantine_id: Id) -> Any:
    with context.read() as connection:
        return _known(connection, quarantine_id)


@router.post("/{quarantine_id}/accept", response_model=ReviewResponse)
def accept(context: ChangeContext, quarantine_id: Id, body: Note) -> Any:
    with context.change("offer accepted", f"offer {quarantine_id}", note=body.note) as connection:
        _known(connection, quarantine_id)
        review = quarantine_review.accept(
            connection, quarantine_id, by=context.person, note=body.note, now=context.now
        )
    return {"id": quarantine_id, "outcome": str(review.outcome), "details": review.details}


@router.post("/{quarantine_id}/choose", response_model=PriceChoiceResponse)
def choose(context: ChangeContext, quarantine_id: Id, body: PriceChoiceRequest) -> Any:
    """Store the price of one candidate, and teach the target where it stands on the page.

    Currency and availability are needed only if the page does not state them.
    """
    request = ChoiceRequest(
        body.number, body.expected or "", body.currency or "", body.availability or "", body.for_site
    )
    with engine().begin() as connection:
        _known(connection, quarantine_id)
        chosen = candidate_choice.choose(
            connection, quarantine_id, request, by=context.person, now=context.now, address=context.address
        )
    return {
        "id": quarantine_id,
        "outcome": str(chosen.review.outcome),
        "details": chosen.review.details,
        "selectors": chosen.selectors,
        "site_selector": chosen.site_selector or None,
    }


@router.post("/{quarantine_id}/reject", response_model=ReviewResponse)
def reject(context: ChangeContext, quarantine_id: Id, body: Note) -> Any:
    with context.change("offers rejected", f"offer {quarantine_id}", note=body.note) as connection:
        _known(connection, quarantine_id)
        rejected = quarantine_rows.reject(
            connection, [quarantine_id], by=context.person, note=body.note, now=context.now
        )
    return {"id": quarantine_id, "outcome": "rejected" if rejected else "not waiting"}


@router.post("/{quarantine_id}/replay", response_model=ReviewResponse)
def replay(context: ChangeContext, quarantine_id: Id, body: Replay) -> Any:
    """Extract the saved page again; the result is stored only if `apply` is true."""
    with context.change("offer replayed", f"offer {quarantine_id}", apply=body.apply) as connection:
        _known(connection, quarantine_id)
        review = quarantine_review.replay(
            connection, quarantine_id, by=context.person, now=context.now, apply=body.apply
        )
    return {"id": quarantine_id, "outcome": str(review.outcome), "details": review.details}


def _known(connection: Any, quarantine_id: int) -> dict[str, Any]:
    rows = quarantine_rows.find_rows(connection, QuarantineFilter(ids=[quarantine_id]), most=1)
    if not rows:
        raise HTTPException(404, f"There is no offer {quarantine_id} in quarantine.")
    return rows[0]
