"""Listings: search by title and filters; one listing with its price chart."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response

from pricewatch.rules.market_membership import PriceRange
from pricewatch.services.notifications import channels
from pricewatch.store.people import watch_rules
from pricewatch.store.views import admin_listings, market_list, product_list, source_list
from pricewatch.store.views.listing_filter import ListingFilter
from pricewatch.web.form_fields import Before, Id, price
from pricewatch.web.request_context import Context

router = APIRouter()
MOST = 50
PriceAge = Literal["", "24", "48", "168", "720"]
# Labels of the hours.
PRICE_AGES = {"24": "a day", "48": "2 days", "168": "a week", "720": "a month"}


@router.get("/listings")
def list_page(
    context: Context,
    q: str = "",
    source: str = "",
    market: str = "",
    state: Literal["", "on", "off"] = "",
    lowest: str = "",
    highest: str = "",
    currency: str = "",
    stock: Literal["", "IN_STOCK", "LISTED", "BACKORDER", "OUT_OF_STOCK", "SOLD"] = "",
    price_age: PriceAge = "",
    before: Before = None,
) -> Response:
    filters = ListingFilter(
        title_query=q.replace("\x00", "").strip()[:200] or None,
        source_id=source or None,
        market_id=market or None,
        active=None if not state else state == "on",
        prices=PriceRange(price(lowest, currency), price(highest, currency)),
        availability=stock or None,
        price_read_before=context.now - timedelta(hours=int(price_age)) if price_age else None,
        before_id=before,
    )
    with context.read() as connection:
        rows, more = admin_listings.listings_page(connection, filters, now=context.now, most=MOST)
        return context.render(
            connection,
            "listings.html",
            rows=rows,
            sparks=admin_listings.sparkline_points(connection, [row["id"] for row in rows], context.now),
            more=more,
            first=before is None,
            currencies=admin_listings.currencies(connection),
            markets=market_list.market_names(connection),
            sources=[row["id"] for row in source_list.sources(connection)],
            price_ages=PRICE_AGES,
            filters={
                "q": q,
                "source": source,
                "market": market,
                "state": state,
                "lowest": lowest,
                "highest": highest,
                "currency": currency,
                "stock": stock,
                "price_age": price_age,
            },
        )


@router.get("/listings/{listing_id}")
def detail_page(context: Context, listing_id: Id) -> Response:
    with context.read() as connection:
        row = admin_listings.listing(connection, listing_id, context.now)
        if row is None:
            raise HTTPException(404, f"There is no listing {listing_id}.")
        history = admin_listings.history(connection, listing_id)
        offers = product_list.offers(connection, row["product_id"], context.now) if row["product_id"] else []
        return context.render(
            connection,
            "listing.html",
            row=row,
            history=history,
            attempts=admin_listings.attempts(connection, listing_id),
            targets=admin_listings.find_targets(connection, listing_id),
            rules=watch_rules.find_rules(connection, listing_id=listing_id, most=20),
            others=[offer for offer in offers if offer["id"] != listing_id][:6],
            channels=sorted(channels()),
        )
