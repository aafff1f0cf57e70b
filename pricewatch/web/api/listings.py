"""Listings for consumers: fresh listings of visible sources, and their price history."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from pydantic import Field

from pricewatch.store.views import public_listings
from pricewatch.vocabulary import SellerType
from pricewatch.web.api.common import Limit, Page, ResponseModel, page_of
from pricewatch.web.form_fields import Before, Id
from pricewatch.web.listing_query import FilterOfQuery, Stock
from pricewatch.web.problems import responses
from pricewatch.web.request_context import Context
from pricewatch.web.template_filters import listing_badge

router = APIRouter(prefix="/api/listings", tags=["listings"], responses=responses(404))


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
    area: Annotated[Decimal | None, Field(description="In m²")]
    rooms: Decimal | None
    unit_price_cents: Annotated[int | None, Field(description="Price per m² in minor units")]
    image_url: str | None
    product_id: int | None
    seller_name: str | None
    seller_type: SellerType | None
    attributes: dict[str, Any]
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
    filter_: FilterOfQuery,
    before: Before = None,
    limit: Limit = 50,
) -> Any:
    """`market` selects all listings that the market has shown, even if another market saw them last.

    `attr.NAME=` is the word that an attribute has; `attr.NAME.min=` and `attr.NAME.max=` limit its number.
    """
    with context.read() as connection:
        rows, following = public_listings.listings(connection, replace(filter_, before_id=before), limit)
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
