"""Price decreases of the listings that consumers may see."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel

from pricewatch.store.views import price_drop_list
from pricewatch.store.views.price_drop_list import SPANS, DropFilter, DropPosition
from pricewatch.web.api.common import Limit, ResponseModel, ShortText
from pricewatch.web.listing_query import Stock
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context

router = APIRouter(prefix="/api/price-drops", tags=["listings"], responses=responses())
Span = Literal["24h", "7d", "30d"]


class PriceDropResponse(ResponseModel):
    id: int
    source_id: str
    market_id: str | None
    title: str
    url: str
    location: str | None
    availability: Stock
    observed_at: datetime
    before_cents: int
    price_cents: int
    currency: str
    percent: float


class PriceDropPage(BaseModel):
    items: list[PriceDropResponse]
    next: str | None = None


@router.get("", response_model=PriceDropPage)
def find(
    context: Context,
    span: Span = "24h",
    market_id: Annotated[ShortText | None, Query()] = None,
    source_id: Annotated[ShortText | None, Query()] = None,
    min_percent: Annotated[float, Query(ge=0, le=100)] = 0,
    before: Annotated[ShortText | None, Query(description="The `next` of the previous page.")] = None,
    limit: Limit = 50,
) -> Any:
    """The newest first. One page examines a limited number of price changes, so it may be short or empty."""
    filter_ = DropFilter(
        since=context.now - SPANS[span],
        market_id=market_id,
        source_id=source_id,
        min_percent=min_percent,
        before=DropPosition.parse(before) if before else None,
    )
    with context.read() as connection:
        rows, following = price_drop_list.price_drops(connection, filter_, most=limit, only_visible=True)
    return {"items": rows, "next": str(following) if following else None}
