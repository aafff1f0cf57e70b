"""What the skins of other sites share. Such a site has addresses of its own: its skin answers requests.

Amounts keep their minor units and take on the site's currency: the truth about a price stays comparable.
"""

from collections.abc import Sequence
from typing import ClassVar

from pricewatch.bazaar.listing import GONE, Listing, View
from pricewatch.bazaar.messages import Request, Response
from pricewatch.bazaar.results import Behaviour, page_of, search
from pricewatch.bazaar.skins import OverviewPage
from pricewatch.bazaar.world import World


class ForeignSite:
    """Base of the skins: looking listings up is the same everywhere."""

    currency: ClassVar[str]
    methods: ClassVar[tuple[str, ...]] = ("GET", "HEAD")

    def __init__(self, world: World) -> None:
        self._world = world
        self._clock = world.clock

    def address(self, view: View) -> str:
        """Return the path of a listing's own page."""
        raise NotImplementedError

    def respond(self, request: Request, behaviour: Behaviour) -> Response | None:
        """Answer a request; None where the site has nothing at that address."""
        raise NotImplementedError

    def _found(self, **wanted: str) -> list[Listing]:
        """Return what a search finds: `category`, `q`, `min`, `max` in whole currency, `status`."""
        return search(self._world, wanted, self._world.now)

    def _page(
        self, listings: Sequence[Listing], number: str, rows: str, behaviour: Behaviour
    ) -> OverviewPage | None:
        return page_of("", "", {"page": number, "rows": rows}, listings, behaviour)

    def _views(self, page: OverviewPage) -> list[View]:
        return [listing.at(self._world.now) for listing in page.listings]

    def _by_id(self, platform_id: str) -> View | None:
        """Return the listing that has this id at present."""
        view = self._present(self._world.by_id.get(platform_id))
        return view if view is not None and view.id == platform_id else None

    def _present(self, listing: Listing | None) -> View | None:
        if listing is None or listing.listed_at > self._world.now:
            return None
        return listing.at(self._world.now)


def gone_status(view: View) -> int | None:
    """Return the status by which a page says that its listing is gone; None where it does not."""
    if view.state != GONE or view.mode == "soft":
        return None
    return 410 if view.mode == "410" else 404
