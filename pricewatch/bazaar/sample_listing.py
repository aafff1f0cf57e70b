"""One listing and its history. All times are whole seconds since the start time."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from pricewatch.bazaar.presentation import ABSENT, DEFAULT, IN_STOCK, Presentation
from pricewatch.bazaar.word_tables import Category

T = TypeVar("T", bound=tuple[Any, ...])

ON_SALE, SOLD, GONE, OUT_OF_STOCK = "on_sale", "sold", "gone", "out_of_stock"
# On sale, but not in any list: only its own page shows it.
UNLISTED = "unlisted"
# The last two redirect permanently: to a similar listing, or to the category.
GONE_MODES = ("404", "410", "soft", "to_similar", "to_category")
# Whether an out-of-stock page still shows its price.
PRICE_VISIBLE, PRICE_HIDDEN = "visible", "hidden"
MARKUPS = ("jsonld", "microdata", "plain", "js")


class StateSpan(NamedTuple):
    """A period in which a listing has one state; it ends when the next one begins."""

    begins: int
    state: str
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class SampleSeller:
    """A private user or a shop."""

    id: str
    name: str
    type: str
    city: str
    postcode: str


@dataclass(slots=True, eq=False)
class SampleListing:
    """The constant attributes of a listing, and the dated lists of those that change."""

    key: str
    path: str
    category: Category
    brand: str
    model: str
    condition: str
    seller: SampleSeller
    markup: str
    area: int | None
    rooms: int | None
    ids: list[tuple[int, str]]
    titles: list[tuple[int, str]]
    prices: list[tuple[int, int]]
    spans: list[StateSpan]
    # When it was put at the top of the list: first listed, and each time it was relisted.
    bumps: list[int]
    # Counts changes: part of the cache keys of rendered pages.
    version: int = 0
    related: tuple["SampleListing", ...] = field(default=(), repr=False)
    # When its URL changed, and to which path; old paths redirect to the newest.
    moves: list[tuple[int, str]] = field(default_factory=list)

    @property
    def listed_at(self) -> int:
        """The time at which it was first listed."""
        return self.spans[0].begins

    @property
    def currency(self) -> str:
        """The currency of its category."""
        return self.category.currency

    def at(self, now: float) -> "ListingView":
        """Return the listing as of `now`, which must not be before it was listed."""
        span = latest(self.spans, now)
        price = latest(self.prices, now)[1]
        earlier = [amount for begins, amount in self.prices if begins <= now and amount > price]
        return ListingView(
            listing=self,
            id=latest(self.ids, now)[1],
            title=latest(self.titles, now)[1],
            price=price,
            was=max(earlier, default=None),
            state=ON_SALE if span.state == UNLISTED else span.state,
            mode=span.mode,
            since=span.begins,
            shown_since=max(at for at in self.bumps if at <= now),
            path=self.path_at(now),
            is_listed=span.state in (ON_SALE, OUT_OF_STOCK),
        )

    def path_at(self, now: float) -> str:
        """Return the path of its page at `now`."""
        return next((path for at, path in reversed(self.moves) if at <= now), self.path)

    def change_times(self) -> set[int]:
        """Return all times at which the listing changes."""
        dated: tuple[Sequence[tuple[Any, ...]], ...] = (
            self.ids,
            self.titles,
            self.prices,
            self.spans,
            self.moves,
        )
        return {entry[0] for entries in dated for entry in entries}

    def cancel_plans_after(self, now: int) -> None:
        """Drop the changes planned for later."""
        self.ids = [entry for entry in self.ids if entry[0] <= now]
        self.prices = [entry for entry in self.prices if entry[0] <= now]
        self.spans = [span for span in self.spans if span.begins <= now]
        self.bumps = [at for at in self.bumps if at <= now]
        self.moves = [entry for entry in self.moves if entry[0] <= now]


@dataclass(frozen=True, slots=True)
class ListingView:
    """A listing at one point in time: everything that a page can show of it."""

    listing: SampleListing
    id: str
    title: str
    price: int
    was: int | None
    state: str
    mode: str | None
    since: int
    shown_since: int
    path: str
    # Whether the list of its category contains it.
    is_listed: bool
    presentation: Presentation = DEFAULT

    @property
    def price_hidden(self) -> bool:
        """Whether it is out of stock and neither card nor page shows its price."""
        return self.state == OUT_OF_STOCK and self.mode == PRICE_HIDDEN

    @property
    def is_rental(self) -> bool:
        """Whether its price is a rent."""
        return self.listing.area is not None

    @property
    def has_no_structured_data(self) -> bool:
        """Whether its page has no structured data, whatever its markup."""
        return self.presentation.structured_data == ABSENT

    @property
    def markup(self) -> str:
        """The markup of its page; without structured data it is plain, or built by a script."""
        is_plain = self.has_no_structured_data and self.listing.markup != "js"
        return "plain" if is_plain else self.listing.markup

    @property
    def has_price_by_script(self) -> bool:
        """Whether its page has everything but the offer, which a script adds."""
        return self.presentation.price_by_script and self.listing.markup != "js"

    @property
    def currency(self) -> str:
        """The displayed currency."""
        return self.presentation.currency or self.listing.currency

    @property
    def stock(self) -> str:
        """Its displayed stock: the state, or the word shown instead of "in stock"."""
        return (
            self.state
            if self.state != ON_SALE or self.presentation.stock == IN_STOCK
            else self.presentation.stock
        )


def latest(entries: Sequence[T], now: float) -> T:
    """Return the last entry that began by `now`; the first item of each entry is its time."""
    return next((entry for entry in reversed(entries) if entry[0] <= now), entries[0])
