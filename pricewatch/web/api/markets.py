"""Markets: list, add, change, scrape now, and accept that one has become smaller."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from pricewatch.money import MAX_CENTS
from pricewatch.services import add_market
from pricewatch.store.views import market_list
from pricewatch.store.writing import sweep_checkpoints
from pricewatch.web.api.common import ChangeContext, Currency, Name, ResponseModel, ShortText
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context

router = APIRouter(prefix="/api/admin/markets", tags=["markets"], responses=responses(404, 409))
Tier = Literal["hot", "standard", "cool"]
Price = Annotated[
    int | None, Field(ge=0, le=MAX_CENTS, description="In minor units of `price_currency`: cents, or yen")
]
PositiveNumber = Annotated[int | None, Field(ge=1, le=100_000)]


class MarketResponse(ResponseModel):
    id: str
    source_id: str
    display_name: str
    tier: Tier
    enabled: bool
    start_pages: list[Any]
    parameters: dict[str, Any]
    city: str | None
    state: str | None
    keyword: str | None
    category: str | None
    exclude_keywords: list[Any]
    min_price_cents: int | None
    max_price_cents: int | None
    price_currency: str | None
    scrape_frequency_hours: int | None
    max_listings_per_scrape: int
    max_pages: int | None
    last_scrape_at: datetime | None
    last_scrape_status: str | None
    # The maximum over the spiders, and the number of each.
    consecutive_failures: int
    failures: dict[str, int]
    circuits_open: list[str]
    # Cards seen by the last complete sweep, and by a later partial one.
    sweep_last_complete_seen: int | None
    sweep_last_partial_seen: int | None
    created_at: datetime


class NewMarket(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, Field(pattern=f"^{add_market.MARKET_ID}$")]
    source_id: ShortText
    display_name: ShortText | None = None
    tier: Tier = "standard"
    enabled: bool = True
    start_pages: list[ShortText] = Field([], max_length=100)
    city: ShortText | None = None
    state: ShortText | None = None
    keyword: ShortText | None = None
    category: ShortText | None = None
    exclude_keywords: list[ShortText] = Field([], max_length=100)
    min_price_cents: Price = None
    max_price_cents: Price = None
    price_currency: Currency | None = None
    scrape_frequency_hours: PositiveNumber = None
    max_listings_per_scrape: PositiveNumber = None
    max_pages: PositiveNumber = None


class MarketChange(BaseModel):
    """Fields that are left out stay unchanged."""

    model_config = ConfigDict(extra="forbid")

    display_name: ShortText | None = None
    tier: Tier | None = None
    enabled: bool | None = None
    scrape_frequency_hours: PositiveNumber = None
    max_listings_per_scrape: PositiveNumber = None
    max_pages: PositiveNumber = None


class ScrapeRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    spider: Literal["discovery", "sweep", "verification"] = "discovery"


class Queued(BaseModel):
    job_id: str
    spider: str
    market_id: str | None = None


@router.get("", response_model=list[MarketResponse])
def listed(context: Context) -> Any:
    with context.read() as connection:
        return market_list.markets(connection)


@router.post("", response_model=MarketResponse, status_code=201)
def add(context: ChangeContext, body: NewMarket) -> Any:
    with context.change("market added", body.id, source=body.source_id) as connection:
        add_market.add(connection, body.model_dump(), body.source_id)
        return market_list.market(connection, body.id)


@router.get("/{market_id}", response_model=MarketResponse)
def one(context: Context, market_id: Name) -> Any:
    with context.read() as connection:
        return _known(market_list.market(connection, market_id), market_id)


@router.put("/{market_id}", response_model=MarketResponse)
def change(context: ChangeContext, market_id: Name, body: MarketChange) -> Any:
    values = body.model_dump(exclude_none=True)
    with context.change("market changed", market_id, **values) as connection:
        _known(market_list.market(connection, market_id), market_id)
        market_list.update_market(connection, market_id, values)
        return market_list.market(connection, market_id)


@router.post("/{market_id}/scrape", response_model=Queued, status_code=202)
def scrape(context: ChangeContext, market_id: Name, body: ScrapeRequest | None = None) -> Any:
    spider = (body or ScrapeRequest()).spider
    with context.change("scrape now", market_id, spider=spider) as connection:
        _known(market_list.market(connection, market_id), market_id)
        job_id = market_list.scrape_now(connection, market_id, spider)
    return {"job_id": job_id, "spider": spider, "market_id": market_id}


@router.post("/{market_id}/believe", response_model=MarketResponse)
def believe(context: ChangeContext, market_id: Name) -> Any:
    """Accept the size that the last, partial sweep saw as the size of the market."""
    with context.change("smaller market believed", market_id) as connection:
        _known(market_list.market(connection, market_id), market_id)
        sweep_checkpoints.accept_partial_cycle(connection, market_id, context.now)
        return market_list.market(connection, market_id)


def _known(row: dict[str, Any] | None, market_id: str) -> dict[str, Any]:
    if row is None:
        raise HTTPException(404, f"There is no market {market_id!r}.")
    return row
