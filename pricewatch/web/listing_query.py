"""The filter of a request for listings: the same parameters on the page, in the API and for exports."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Query

from pricewatch.money import MAX_CENTS
from pricewatch.store.views.listing_filter import ListingFilter
from pricewatch.store.views.query_values import MAX_HOURS, MAX_TEXT
from pricewatch.vocabulary import SellerType
from pricewatch.web.api.common import Currency
from pricewatch.web.request_context import Context, RequestContext

Stock = Literal["IN_STOCK", "OUT_OF_STOCK", "BACKORDER", "SOLD", "LISTED"]
Cents = Annotated[
    int | None,
    Query(ge=0, le=MAX_CENTS, description="In minor units of `currency`, which is required with it"),
]
Words = Annotated[str, Query(max_length=MAX_TEXT)]
_Q = 'Words of the title, brand, place, seller and attributes; also "a phrase", -excluded, or, begin*'
_PLACE = "The beginning of a postcode, or words of a place; several are separated by commas"
_PRICE = "In whole units, such as 12.50, of `currency`, which is required with it"
_PRICE_FIELDS = ("lowest", "highest", "unit_lowest", "unit_highest")


def page_filter(context: RequestContext) -> ListingFilter:
    """The filter of the listings page, whose form always has a currency: it only counts beside a price."""
    parameters = dict(context.request.query_params)
    if not any(parameters.get(name, "").strip() for name in _PRICE_FIELDS):
        parameters.pop("currency", None)
    return ListingFilter.from_query(parameters, context.now)


def api_filter(
    context: Context,
    q: Annotated[Words, Query(description=_Q)] = "",
    without: Annotated[Words, Query(description="Words that a listing must not have")] = "",
    source: Words = "",
    source_id: Annotated[Words, Query(description="The same as `source`")] = "",
    market: Words = "",
    market_id: Annotated[Words, Query(description="The same as `market`")] = "",
    state: Annotated[Literal["", "on", "off"], Query(description="On sale, or sold or gone")] = "",
    stock: Stock | Literal[""] = "",
    availability: Annotated[Stock | None, Query(description="The same as `stock`")] = None,
    currency: Annotated[
        Currency | Literal[""], Query(description="Only listings with a price in this currency")
    ] = "",
    lowest: Annotated[Words, Query(description=_PRICE)] = "",
    highest: Annotated[Words, Query(description=_PRICE)] = "",
    min_price_cents: Cents = None,
    max_price_cents: Cents = None,
    price_age: Annotated[Words, Query(description="Only prices that are older than this many hours")] = "",
    max_price_age_hours: Annotated[
        float | None,
        Query(gt=0, le=MAX_HOURS, description="Only prices that were read within this many hours"),
    ] = None,
    unit_lowest: Annotated[Words, Query(description=f"Per m². {_PRICE}")] = "",
    unit_highest: Annotated[Words, Query(description=f"Per m². {_PRICE}")] = "",
    area_min: Words = "",
    area_max: Words = "",
    rooms_min: Words = "",
    rooms_max: Words = "",
    place: Annotated[Words, Query(description=_PLACE)] = "",
    seller: SellerType | Literal[""] = "",
) -> ListingFilter:
    """Declares the parameters for the schema; conditions on attributes have names of their own."""
    return ListingFilter.from_query(context.request.query_params, context.now)


FilterOfQuery = Annotated[ListingFilter, Depends(api_filter)]
