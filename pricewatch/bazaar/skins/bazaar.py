"""The skin of the sample marketplace itself."""

from collections.abc import Sequence
from functools import partial
from html import escape

from pricewatch.bazaar.habits.list_habits import cross_listed_path
from pricewatch.bazaar.habits.orders import Habits
from pricewatch.bazaar.inventory import Inventory
from pricewatch.bazaar.page_cache import PageCache
from pricewatch.bazaar.product_details import details_of
from pricewatch.bazaar.sample_listing import ListingView, SampleListing, SampleSeller
from pricewatch.bazaar.skins import ListPage, detail_page, hashed_names, layout, overview_page
from pricewatch.bazaar.word_tables import CATEGORIES

CARD_CACHE_BYTES = 48 * 2**20


class BazaarSkin:
    """Render listings as pages of the sample marketplace."""

    def __init__(self, inventory: Inventory, page_bytes: int, habits: Habits) -> None:
        self._inventory = inventory
        self._habits = habits
        self._clock = inventory.clock
        self._page_bytes = page_bytes
        self._cards = PageCache(CARD_CACHE_BYTES)

    def overview(self, page: ListPage) -> bytes:
        """Return a page of cards."""
        return overview_page.overview(page, self._render(page.listings, page.category))

    def detail(self, view: ListingView) -> bytes:
        """Return the page of a listing, padded to the configured size; hashed names change the size."""
        html = detail_page.detail(view, details_of(self._inventory.seed, view.listing), self._clock)
        html = layout.padded(html, self._page_bytes)
        return hashed_names.hashed(html) if view.presentation.hashed_names else html

    def gone(self, view: ListingView) -> bytes:
        """Return the page of a listing that is gone."""
        return detail_page.gone(view, self._clock)

    def api(self, view: ListingView) -> bytes:
        """Return the JSON that the scripts of a page request."""
        return detail_page.api(view, details_of(self._inventory.seed, view.listing), self._clock)

    def seller(self, seller: SampleSeller, listings: Sequence[SampleListing]) -> bytes:
        """Return the page of a seller with the listings on offer."""
        offered = b"".join(self._render(listings)).decode()
        body = (
            f'<main class="seller-page" data-seller-id="{seller.id}" data-seller-type="{seller.type}">'
            f"<h1>{escape(seller.name)}</h1><p>{seller.postcode} {seller.city}</p>\n{offered}</main>"
        )
        return layout.page(seller.name, body)

    def notice(self, title: str, message: str) -> bytes:
        """Return a short page: a help text or an error."""
        return layout.page(title, f"<main><h1>{escape(title)}</h1><p>{escape(message)}</p></main>")

    def home(self) -> bytes:
        """Return the front page."""
        rows = "".join(f'<li><a href="/c/{entry.name}">{entry.label}</a></li>' for entry in CATEGORIES)
        search = '<form action="/search"><input name="q"><button>Search</button></form>'
        return layout.page(
            "Everything second hand", f'<main>{search}<ul class="categories">{rows}</ul></main>'
        )

    def _render(self, listings: Sequence[SampleListing], category: str | None = None) -> list[bytes]:
        habits = self._habits.cache_key()
        return [
            self._cards.get(
                (listing.key, listing.version, habits, category), partial(self._card, listing, category)
            )
            for listing in listings
        ]

    def _card(self, listing: SampleListing, category: str | None) -> bytes:
        view = self._habits.view(listing)
        is_own_category = category in (None, listing.category.name)
        return overview_page.card(
            view, self._clock, view.path if is_own_category else cross_listed_path(listing, category or "")
        )
