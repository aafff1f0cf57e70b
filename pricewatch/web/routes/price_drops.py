"""The newest price decreases."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response

from pricewatch.store.views import market_list, price_drop_list, source_list
from pricewatch.store.views.price_drop_list import SPANS, DropFilter, DropPosition
from pricewatch.web.form_fields import percent
from pricewatch.web.request_context import Context

router = APIRouter()
MOST = 50
SPAN_NAMES = {"24h": "24 hours", "7d": "7 days", "30d": "30 days"}
Name = Annotated[str, Query(max_length=200)]


@router.get("/price-drops")
def drops_page(
    context: Context,
    span: Literal["24h", "7d", "30d"] = "24h",
    market: Name = "",
    source: Name = "",
    min_percent: Name = "",
    before: Name = "",
) -> Response:
    filter_ = DropFilter(
        since=context.now - SPANS[span],
        market_id=market or None,
        source_id=source or None,
        min_percent=min(percent(min_percent) or 0, 100),
        before=DropPosition.parse(before) if before else None,
    )
    with context.read() as connection:
        rows, more = price_drop_list.price_drops(connection, filter_, most=MOST)
        return context.render(
            connection,
            "price_drops.html",
            rows=rows,
            more=str(more) if more else None,
            first=not before,
            window=price_drop_list.HISTORY_WINDOW,
            spans=SPAN_NAMES,
            markets=market_list.market_names(connection),
            sources=[row["id"] for row in source_list.sources(connection)],
            filters={"span": span, "market": market, "source": source, "min_percent": min_percent},
        )
