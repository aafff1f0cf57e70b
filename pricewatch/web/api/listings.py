"""Listings for consumers: fresh listings of visible sources, and their price history."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query
from pydantic import Field

from pricewatch.errors import UserError
from pricewatch.money import MAX_CENTS
from pricewatch.rules.market_membership import PriceRange
from pricewatch.store.views import public_listings
from pricewatch.store.views.listing_filter import ListingFilter
from pricewatch.web.api.common import Currency, Limit, Page, ResponseModel, ShortText, page_of
from pricewatch.web.form_fields import Before, Id
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context
from pricewatch.web.template_filters import listing_badge

router = APIRouter(prefix="/api/listings", tags=["listings"], responses=responses(404))
Stock = Literal["IN_STOCK", "OUT_OF_STOCK", "BACKORDER", "SOLD", "LISTED"]
MAX_AGE_HOURS = 24 * 366
Cents = Annotated[
    int | None,
    Query(ge=0, le=MAX_CENTS, description="In minor units of `currency`, which is required with it"),
]


class ListingResponse(ResponseModel):
    id: int
    source_id: str
    market_id: str | None
    title: str
    url: str
    price_cents: int | None
    price_max_cents: int | None
    currency: str | None
    availability: Stock
    brand: str | None
    gtin: str | None
    location: str | None
    area: Decimal | None
    image_url: str | None
    product_id: int | None
    freshness_confidence: Annotated[
        int, Field(description="Confidence that the listing still exists and its price is current, 0 to 100")
    ]
    price_confidence: Annotated[
        int | None, Field(description="Confidence in the price; decreases from price_observed_at on")
    ]
    price_observed_at: Annotated[
        datetime | None,
        Field(description="When the price was last read; later sightings without a price do not count"),
    ]
    badge: str | None
    first_seen_at: datetime
    last_seen_at: datetime
    times_seen: int


class Price(ResponseModel):
    observed_at: datetime
    price_cents: int | None
    price_max_cents: int | None
    currency: str | None
    availability: Stock


class History(ResponseModel):
    items: list[Price]
    # The next page begins before this time.
    next: datetime | None = None


@router.get("", response_model=Page[ListingResponse])
def find(
    context: Context,
    q: Annotated[ShortText | None, Query(description="Words of the title")] = None,
    source_id: Annotated[ShortText | None, Query()] = None,
    market_id: Annotated[ShortText | None, Query()] = None,
    availability: Stock | None = None,
    currency: Annotated[
        Currency | None, Query(description="Only listings with a price in this currency")
    ] = None,
    min_price_cents: Cents = None,
    max_price_cents: Cents = None,
    max_price_age_hours: Annotated[
        float | None,
        Query(gt=0, le=MAX_AGE_HOURS, description="Only prices that were read within this many hours"),
    ] = None,
    before: Before = None,
    limit: Limit = 50,
) -> Any:
    """`market_id` selects all listings that the market has shown, even if another market saw them last."""
    if currency is None and (min_price_cents is not None or max_price_cents is not None):
        raise UserError(
            "A price filter needs a currency, such as currency=EUR: prices are compared in one currency only."
        )
    filters = ListingFilter(
        title_query=q,
        source_id=source_id,
        market_id=market_id,
        availability=availability,
        currency=currency,
        prices=PriceRange.of(min_price_cents, max_price_cents, currency),
        price_read_since=context.now - timedelta(hours=max_price_age_hours) if max_price_age_hours else None,
        before_id=before,
    )
    with context.read() as connection:
        rows, following = public_listings.listings(connection, filters, limit)
    return {"items": [_with_badge(row, context.now) for row in rows], "next": following}


@router.get("/{listing_id}", response_model=ListingResponse)
def one(context: Context, listing_id: Id) -> Any:
    with context.read() as connection:
        row = public_listings.listing(connection, listing_id)
    if row is None:
        raise HTTPException(404, f"There is no listing {listing_id}.")
    return _with_badge(row, context.now)


@router.get("/{listing_id}/history", response_model=History)
def history(
    context: Context,
    listing_id: Id,
    before: Annotated[datetime | None, Query()] = None,
    limit: Limit = 100,
) -> Any:
    """The newest first."""
    with context.read() as connection:
        if public_listings.listing(connection, listing_id) is None:
            raise HTTPException(404, f"There is no listing {listing_id}.")
        rows = public_listings.history(connection, listing_id, most=limit + 1, before=before)
    return page_of(rows, limit, "observed_at")


def _with_badge(row: dict[str, Any], now: datetime) -> dict[str, Any]:
    return {**row, "badge": listing_badge(row, now)}
