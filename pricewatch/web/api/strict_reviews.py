"""Strict review: whose price changes wait for a person."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from pricewatch.store.writing import strict_review_rows
from pricewatch.web.api.common import ChangeContext, ResponseModel, ShortText
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context

router = APIRouter(prefix="/api/strict-reviews", tags=["quarantine"], responses=responses(404))
SubjectKind = Literal["source", "market", "target"]


class StrictReviewResponse(ResponseModel):
    kind: SubjectKind
    subject: Annotated[str, Field(description="The id of the source, market or target")]
    name: str
    percent: Decimal
    created_at: datetime
    created_by: str


class StrictReviewRequest(BaseModel):
    """A price that differs by more than `percent` waits for a person; null ends strict review."""

    model_config = ConfigDict(extra="forbid")

    kind: SubjectKind
    subject: ShortText
    percent: Annotated[float | None, Field(gt=0, le=1000)]


@router.get("", response_model=list[StrictReviewResponse])
def listed(context: Context) -> Any:
    with context.read() as connection:
        return strict_review_rows.find(connection)


@router.put("", response_model=list[StrictReviewResponse])
def choose(context: ChangeContext, body: StrictReviewRequest) -> Any:
    """Set or end strict review of a source, market or target."""
    subject = f"{body.kind} {body.subject}"
    with context.change("strict review", subject, percent=body.percent) as connection:
        strict_review_rows.set_percent(
            connection, body.kind, body.subject, body.percent, by=context.person, now=context.now
        )
        return strict_review_rows.find(connection)
