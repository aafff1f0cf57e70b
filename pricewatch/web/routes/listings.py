"""Listings: search by words and filters; one listing with its price chart."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response

from pricewatch.services.notifications import channels
from pricewatch.store.people import watch_rules
from pricewatch.store.views import (
    admin_listings,
    attribute_facets,
    market_list,
    product_list,
    public_listings,
    source_list,
)
from pricewatch.vocabulary import AccessRole
from pricewatch.web.form_fields import Before, Id
from pricewatch.web.listing_query import page_filter
from pricewatch.web.request_context import Context

router = APIRouter()
MOST = 50
# Labels of the hours.
PRICE_AGES = {"24": "a day", "48": "2 days", "168": "a week", "720": "a month"}


@router.get("/listings")
def list_page(context: Context, before: Before = None) -> Response:
    filter_ = page_filter(context)
    with context.read() as connection:
        paged = replace(filter_, before_id=before)
        rows, more = admin_listings.listings_page(connection, paged, now=context.now, most=MOST)
        return context.render(
            connection,
            "listings.html",
            rows=rows,
            sparks=admin_listings.sparkline_points(connection, [row["id"] for row in rows], context.now),
            more=more,
            first=before is None,
            window=None if filter_.is_indexed else admin_listings.WINDOW,
            currencies=admin_listings.currencies(connection),
            markets=market_list.market_names(connection),
            sources=[row["id"] for row in source_list.sources(connection)],
            price_ages=PRICE_AGES,
            facets=attribute_facets.facets(connection, filter_),
            # What the form shows; every field has a value.
            chosen=defaultdict(str, context.request.query_params),
            filters=filter_.to_query(),
        )


@router.get("/listings/{listing_id}")
def detail_page(context: Context, listing_id: Id) -> Response:
    with context.read() as connection:
        row = admin_listings.listing(connection, listing_id, context.now)
        if row is None:
            raise HTTPException(404, f"There is no listing {listing_id}.")
        history = admin_listings.history(connection, listing_id)
        only_visible = not context.auth_result.may(AccessRole.OPERATE)
        offers = product_list.offers(connection, row["product_id"], context.now) if row["product_id"] else []
        return context.render(
            connection,
            "listing.html",
            row=row,
            history=history,
            has_export=public_listings.has_listing(connection, listing_id, only_visible=only_visible),
            attempts=admin_listings.attempts(connection, listing_id),
            targets=admin_listings.find_targets(connection, listing_id),
            rules=watch_rules.find_rules(connection, listing_id=listing_id, most=20),
            others=[offer for offer in offers if offer["id"] != listing_id][:6],
            channels=sorted(channels()),
        )
