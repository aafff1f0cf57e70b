"""Runs, and the pages of one run."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from pydantic import StringConstraints

from pricewatch.rules.custom_spiders import LONGEST_NAME
from pricewatch.store.views import run_list
from pricewatch.vocabulary import RunStatus
from pricewatch.web.api.common import Limit, Page, ResponseModel, ShortText, page_of
from pricewatch.web.form_fields import After, Before, Id
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context

router = APIRouter(prefix="/api/runs", tags=["runs"], responses=responses(404))
# The name of a built-in or custom spider; PostgreSQL cannot store NUL characters in text.
Spider = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME, pattern=r"^[^\x00]*$")]


class RunResponse(ResponseModel):
    id: int
    spider: str
    source_id: str | None
    market_id: str | None
    adapter_id: str | None
    adapter_version: str | None
    trigger: str
    job_id: str | None
    node: str | None
    status: RunStatus
    reason: str | None
    partial: bool
    watched: bool
    started_at: datetime
    heartbeat_at: datetime
    finished_at: datetime | None
    pages: int
    cards: int
    new_listings: int
    updated_listings: int
    price_rows: int
    details: int
    gone: int
    urls_attempted: int
    urls_succeeded: int
    urls_failed: int
    offers_valid: int
    offers_dropped: int
    offers_quarantined: int
    failure_rate: Decimal | None
    yield_rate: Decimal | None
    reasons: dict[str, Any]
    progress: dict[str, Any]


class RunDetails(RunResponse):
    errors: list[Any]
    arguments: dict[str, Any]


class RunPageResponse(ResponseModel):
    id: int
    start_page: str | None
    page: int | None
    url: str
    outcome: str
    http_status: int | None
    cards: int
    new_listings: int
    price_rows: int
    dropped: dict[str, Any]
    error: str | None
    duration_ms: int | None
    fetched_at: datetime


@router.get("", response_model=Page[RunResponse])
def find(
    context: Context,
    spider: Annotated[Spider | None, Query()] = None,
    status: RunStatus | None = None,
    market_id: Annotated[ShortText | None, Query()] = None,
    before: Before = None,
    limit: Limit = 50,
) -> Any:
    with context.read() as connection:
        rows = run_list.runs(
            connection, spider=spider, status=status, market_id=market_id, before_id=before, most=limit + 1
        )
    return page_of(rows, limit)


@router.get("/{run_id}", response_model=RunDetails)
def one(context: Context, run_id: Id) -> Any:
    with context.read() as connection:
        return _known(run_list.run(connection, run_id), run_id)


@router.get("/{run_id}/pages", response_model=Page[RunPageResponse])
def pages(
    context: Context,
    run_id: Id,
    after: After = 0,
    limit: Limit = 100,
) -> Any:
    with context.read() as connection:
        _known(run_list.run(connection, run_id), run_id)
        return page_of(run_list.pages(connection, run_id, after=after, most=limit + 1), limit)


def _known(row: dict[str, Any] | None, run_id: int) -> dict[str, Any]:
    if row is None:
        raise HTTPException(404, f"There is no run {run_id}.")
    return row
