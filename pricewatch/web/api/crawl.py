"""Crawls on request, of one market or of all that are enabled; and their results."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict

from pricewatch.store.views import admin_listings, market_list, run_list
from pricewatch.store.views.listing_filter import ListingFilter
from pricewatch.web.api.common import ChangeContext, Limit, Name, ResponseModel, ShortText, page_of
from pricewatch.web.api.markets import Queued
from pricewatch.web.api.runs import RunResponse
from pricewatch.web.form_fields import Before
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context

router = APIRouter(prefix="/api/crawl", tags=["crawl"], responses=responses(404, 409))


class CrawlRequest(BaseModel):
    """Without a market, crawl every enabled market whose source is approved."""

    model_config = ConfigDict(extra="forbid")

    market_id: ShortText | None = None
    spider: Literal["discovery", "sweep", "verification"] = "discovery"


class CrawledListing(ResponseModel):
    id: int
    title: str
    url: str
    price_cents: int | None
    currency: str | None
    availability: str
    active: bool
    sold_at: datetime | None
    first_seen_at: datetime
    last_seen_at: datetime
    confidence: int


class Results(BaseModel):
    market_id: str
    last_run: RunResponse | None
    items: list[CrawledListing]
    next: int | None = None


@router.post("/execute", response_model=list[Queued], status_code=202)
def execute(context: ChangeContext, body: CrawlRequest) -> Any:
    with context.change("crawl", body.market_id or "all markets", spider=body.spider) as connection:
        if body.market_id is not None:
            if market_list.market(connection, body.market_id) is None:
                raise HTTPException(404, f"There is no market {body.market_id!r}.")
            market_ids = [body.market_id]
        else:
            rows = market_list.markets(connection)
            market_ids = [row["id"] for row in rows if row["enabled"] and row["tos_approved_by"] is not None]
        return [
            {
                "job_id": market_list.scrape_now(connection, market_id, body.spider),
                "spider": body.spider,
                "market_id": market_id,
            }
            for market_id in market_ids
        ]


@router.get("/results/{market_id}", response_model=Results)
def results(context: Context, market_id: Name, before: Before = None, limit: Limit = 50) -> Any:
    """The listings of a market, the newest first, and its last run."""
    with context.read() as connection:
        if market_list.market(connection, market_id) is None:
            raise HTTPException(404, f"There is no market {market_id!r}.")
        filters = ListingFilter(market_id=market_id, before_id=before)
        rows = admin_listings.listings(connection, filters, now=context.now, most=limit + 1)
        last = run_list.runs(connection, market_id=market_id, most=1)
    return {"market_id": market_id, "last_run": last[0] if last else None, **page_of(rows, limit)}
