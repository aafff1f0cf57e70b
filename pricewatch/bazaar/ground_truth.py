"""The ground truth: every listing up to now, for tests to compare a crawl with."""

from typing import Any

from pricewatch.bazaar.habits import shown_facts
from pricewatch.bazaar.habits.list_habits import cross_listed_path
from pricewatch.bazaar.sample_listing import SampleListing
from pricewatch.bazaar.storefront import Storefront


def ground_truth(storefront: Storefront, category: str | None = None) -> list[dict[str, Any]]:
    """Return every listing that was listed up to now, in the order of first ids."""
    inventory = storefront.inventory
    now = inventory.update()
    return [
        listing_record(storefront, listing, now, category)
        for listing in inventory.listings
        if listing.listed_at <= now and _is_in_category(storefront, listing, category)
    ]


def _is_in_category(storefront: Storefront, listing: SampleListing, category: str | None) -> bool:
    """Return whether the listing belongs to a category or was cross-listed there."""
    return category in (None, listing.category.name) or storefront.habits.was_cross_listed(
        listing, category or ""
    )


def listing_record(
    storefront: Storefront, listing: SampleListing, now: float, category: str | None = None
) -> dict[str, Any]:
    """Return the history of one listing up to `now`."""
    iso = storefront.inventory.clock.iso
    view = listing.at(now)
    spans = [span for span in listing.spans if span.begins <= now]
    ends = [iso(span.begins) for span in spans[1:]] + [None]
    other_categories = [
        name for name in storefront.inventory.categories if storefront.habits.was_cross_listed(listing, name)
    ]
    periods = shown_facts.shown_facts(storefront.habits, listing, now, category)
    return {
        "id": view.id,
        "ids": [platform_id for at, platform_id in listing.ids if at <= now],
        "url": storefront.address(view),
        "title": view.title,
        "category": listing.category.name,
        "currency": storefront.habits.view(listing).currency,
        "seller_id": listing.seller.id,
        "city": listing.seller.city,
        "markup": listing.markup,
        "listed_at": iso(listing.listed_at),
        "relisted_at": iso(view.shown_since) if view.shown_since != listing.listed_at else None,
        "prices": [[iso(at), price] for at, price in listing.prices if at <= now],
        "spans": [
            [iso(span.begins), end, span.state, span.mode] for span, end in zip(spans, ends, strict=True)
        ],
        "urls": [listing.path, *(path for at, path in listing.moves if at <= now)],
        "other_urls": [cross_listed_path(listing, name) for name in other_categories],
        "shown": shown_facts.as_json(periods, iso),
        "state": spans[-1].state,
        "mode": view.mode,
        "price": view.price,
    }
