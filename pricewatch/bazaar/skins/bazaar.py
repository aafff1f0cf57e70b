"""The marketplace's own look."""

from collections.abc import Sequence
from functools import partial
from html import escape

from pricewatch.bazaar.cache import ByteCache
from pricewatch.bazaar.details import details
from pricewatch.bazaar.habits.lists import guest_path
from pricewatch.bazaar.habits.orders import Habits
from pricewatch.bazaar.listing import Listing, Seller, View
from pricewatch.bazaar.names import CATEGORIES
from pricewatch.bazaar.skins import OverviewPage, cards, detail, layout
from pricewatch.bazaar.world import World

CARD_BYTES = 48 * 2**20


class BazaarSkin:
    """Renders the listings of a world as the sample marketplace shows them."""

    def __init__(self, world: World, page_bytes: int, habits: Habits) -> None:
        self._world = world
        self._habits = habits
        self._clock = world.clock
        self._page_bytes = page_bytes
        self._cards = ByteCache(CARD_BYTES)

    def overview(self, page: OverviewPage) -> bytes:
        """Return a page of cards."""
        return cards.overview(page, self._render(page.listings, page.category))

    def detail(self, view: View) -> bytes:
        """Return the page of a listing, as heavy as asked for."""
        html = detail.detail(view, details(self._world.seed, view.listing), self._clock)
        return layout.padded(html, self._page_bytes)

    def gone(self, view: View) -> bytes:
        """Return the page of a listing that is no longer there."""
        return detail.gone(view, self._clock)

    def api(self, view: View) -> bytes:
        """Return what the script of a JavaScript page asks for."""
        return detail.api(view, details(self._world.seed, view.listing), self._clock)

    def seller(self, seller: Seller, listings: Sequence[Listing]) -> bytes:
        """Return the page of a seller with what they have on offer."""
        offered = b"".join(self._render(listings)).decode()
        body = (
            f'<main class="seller-page" data-seller-id="{seller.id}" data-seller-type="{seller.type}">'
            f"<h1>{escape(seller.name)}</h1><p>{seller.postcode} {seller.city}</p>\n{offered}</main>"
        )
        return layout.page(seller.name, body)

    def notice(self, title: str, sentence: str) -> bytes:
        """Return a short page: a help text, an error."""
        return layout.page(title, f"<main><h1>{escape(title)}</h1><p>{escape(sentence)}</p></main>")

    def home(self) -> bytes:
        """Return the front page."""
        rows = "".join(f'<li><a href="/c/{entry.name}">{entry.label}</a></li>' for entry in CATEGORIES)
        search = '<form action="/search"><input name="q"><button>Search</button></form>'
        return layout.page(
            "Everything second hand", f'<main>{search}<ul class="categories">{rows}</ul></main>'
        )

    def _render(self, listings: Sequence[Listing], category: str | None = None) -> list[bytes]:
        stamp = self._habits.stamp()
        return [
            self._cards.get(
                (listing.key, listing.version, stamp, category), partial(self._card, listing, category)
            )
            for listing in listings
        ]

    def _card(self, listing: Listing, category: str | None) -> bytes:
        view = self._habits.view(listing)
        home = category in (None, listing.category.name)
        return cards.card(view, self._clock, view.path if home else guest_path(listing, category or ""))
