"""Skins render the same listings as the pages of different sites.

They only render: they do not decide what is listed, sold or gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pricewatch.bazaar.sample_listing import ListingView, SampleListing, SampleSeller


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a list: its listings in order, and its position among the pages."""

    heading: str
    listings: Sequence[SampleListing]
    total: int
    page: int
    pages: int
    next_href: str | None
    # The category whose list this is.
    category: str | None = None


class Skin(Protocol):
    """The pages that a skin must render."""

    def overview(self, page: ListPage) -> bytes:
        """Return a page of cards."""

    def detail(self, view: ListingView) -> bytes:
        """Return the page of a listing that is on sale, out of stock or sold."""

    def gone(self, view: ListingView) -> bytes:
        """Return the page of a listing that is gone."""

    def api(self, view: ListingView) -> bytes:
        """Return the JSON that the scripts of a page request."""

    def seller(self, seller: SampleSeller, listings: Sequence[SampleListing]) -> bytes:
        """Return the page of a seller with the listings on offer."""

    def notice(self, title: str, message: str) -> bytes:
        """Return a short page: a help text or an error."""

    def home(self) -> bytes:
        """Return the front page."""
