"""How pages look. A skin turns the same listings into bytes; another skin is another site's shape.

Skins only render: they decide nothing about what is listed, sold or gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pricewatch.bazaar.listing import Listing, Seller, View


@dataclass(frozen=True, slots=True)
class OverviewPage:
    """One page of results: its listings in order, and where it stands among the others."""

    heading: str
    listings: Sequence[Listing]
    total: int
    page: int
    pages: int
    next_href: str | None
    # The category whose list it is.
    category: str | None = None


class Skin(Protocol):
    """What a site must be able to show."""

    def overview(self, page: OverviewPage) -> bytes:
        """Return a page of cards."""

    def detail(self, view: View) -> bytes:
        """Return the page of a listing that is on sale, out of stock or sold."""

    def gone(self, view: View) -> bytes:
        """Return the page of a listing that is no longer there."""

    def api(self, view: View) -> bytes:
        """Return what the script of a JavaScript page asks for."""

    def seller(self, seller: Seller, listings: Sequence[Listing]) -> bytes:
        """Return the page of a seller with what they have on offer."""

    def notice(self, title: str, sentence: str) -> bytes:
        """Return a short page: a help text, an error."""

    def home(self) -> bytes:
        """Return the front page."""
