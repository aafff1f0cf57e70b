"""Base class of the skins of other sites. Such a site has its own URLs, so its skin answers requests.

Amounts in minor units stay the same in the currency of the site, so that prices can be compared.
"""

from collections.abc import Sequence
from typing import ClassVar

from pricewatch.bazaar.http_messages import Request, Response
from pricewatch.bazaar.inventory import Inventory
from pricewatch.bazaar.result_pages import Behaviour, page_of, search
from pricewatch.bazaar.sample_listing import GONE, ListingView, SampleListing
from pricewatch.bazaar.skins import ListPage


class SiteSkin:
    """Look listings up; subclasses route requests and render pages."""

    currency: ClassVar[str]
    methods: ClassVar[tuple[str, ...]] = ("GET", "HEAD")

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._clock = inventory.clock

    def address(self, view: ListingView) -> str:
        """Return the path of a listing's page."""
        raise NotImplementedError

    def respond(self, request: Request, behaviour: Behaviour) -> Response | None:
        """Answer a request; None if the site has no such page."""
        raise NotImplementedError

    def _found(self, **conditions: str) -> list[SampleListing]:
        """Return the listings of a search: `category`, `q`, `status`, `min` and `max` in major units."""
        return search(self._inventory, conditions, self._inventory.now)

    def _page(
        self, listings: Sequence[SampleListing], number: str, rows: str, behaviour: Behaviour
    ) -> ListPage | None:
        return page_of("", "", {"page": number, "rows": rows}, listings, behaviour)

    def _views(self, page: ListPage) -> list[ListingView]:
        return [listing.at(self._inventory.now) for listing in page.listings]

    def _by_id(self, platform_id: str) -> ListingView | None:
        """Return the listing that currently has this id."""
        view = self._present(self._inventory.by_id.get(platform_id))
        return view if view is not None and view.id == platform_id else None

    def _present(self, listing: SampleListing | None) -> ListingView | None:
        if listing is None or listing.listed_at > self._inventory.now:
            return None
        return listing.at(self._inventory.now)


def gone_status(view: ListingView) -> int | None:
    """Return the error status of the page of a gone listing; None if its status is 200."""
    if view.state != GONE or view.mode == "soft":
        return None
    return 410 if view.mode == "410" else 404
