"""What is really so: every listing up to now, for tests to compare a crawl with."""

from typing import Any

from pricewatch.bazaar.habits import evidence
from pricewatch.bazaar.habits.lists import guest_path
from pricewatch.bazaar.listing import Listing
from pricewatch.bazaar.site import Site


def truth(site: Site, category: str | None = None) -> list[dict[str, Any]]:
    """Return every listing that was ever listed up to the clock's instant, in the order of first ids."""
    world = site.world
    now = world.settle()
    return [
        record(site, listing, now, category)
        for listing in world.listings
        if listing.listed_at <= now and _belongs(site, listing, category)
    ]


def _belongs(site: Site, listing: Listing, category: str | None) -> bool:
    """Whether a category has it, or had it as a guest."""
    return category in (None, listing.category.name) or site.habits.was_guest(listing, category or "")


def record(site: Site, listing: Listing, now: float, category: str | None = None) -> dict[str, Any]:
    """Return one listing's life up to `now`, and nothing of its future."""
    iso = site.world.clock.iso
    view = listing.at(now)
    spans = [span for span in listing.spans if span.begins <= now]
    ends = [iso(span.begins) for span in spans[1:]] + [None]
    hosts = [name for name in site.world.shelves if site.habits.was_guest(listing, name)]
    told = evidence.shown(site.habits, listing, now, category)
    return {
        "id": view.id,
        "ids": [platform_id for at, platform_id in listing.ids if at <= now],
        "url": site.address(view),
        "title": view.title,
        "category": listing.category.name,
        "currency": site.habits.view(listing).currency,
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
        "other_urls": [guest_path(listing, name) for name in hosts],
        "shown": evidence.as_json(told, iso),
        "state": spans[-1].state,
        "mode": view.mode,
        "price": view.price,
    }
