"""One listing and its whole life. All times are whole seconds relative to the start instant."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from pricewatch.bazaar.look import IN_STOCK, USUAL, Look
from pricewatch.bazaar.names import Category

T = TypeVar("T", bound=tuple[Any, ...])

ON_SALE, SOLD, GONE, OUT_OF_STOCK = "on_sale", "sold", "gone", "out_of_stock"
# On sale, but on no list: only its own page shows it.
UNLISTED = "unlisted"
# The last two redirect for good: to something similar, or to its category.
GONE_MODES = ("404", "410", "soft", "to_similar", "to_category")
# Whether an out-of-stock page still tells its price.
PRICE_VISIBLE, PRICE_HIDDEN = "visible", "hidden"
MARKUPS = ("jsonld", "microdata", "plain", "js")


class Span(NamedTuple):
    """A stretch of a listing's life; it ends where the next one begins."""

    begins: int
    state: str
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class Seller:
    """Who sells: a private user or a shop."""

    id: str
    name: str
    type: str
    city: str
    postcode: str


@dataclass(slots=True, eq=False)
class Listing:
    """What never changes about a listing, and the dated lists of everything that does."""

    key: str
    path: str
    category: Category
    brand: str
    model: str
    condition: str
    seller: Seller
    markup: str
    area: int | None
    rooms: int | None
    ids: list[tuple[int, str]]
    titles: list[tuple[int, str]]
    prices: list[tuple[int, int]]
    spans: list[Span]
    # When it was put at the top of the overview: first listed, and each time it came back.
    tops: list[int]
    # Counts applied changes, so that rendered pages know when they are out of date.
    version: int = 0
    related: tuple["Listing", ...] = field(default=(), repr=False)
    # When it moved to another path; the old ones lead to the newest.
    moves: list[tuple[int, str]] = field(default_factory=list)

    @property
    def listed_at(self) -> int:
        """The instant it was first listed."""
        return self.spans[0].begins

    @property
    def currency(self) -> str:
        """The currency of its category."""
        return self.category.currency

    def at(self, now: float) -> "View":
        """Return the listing as it stands at `now`; only for one that is already listed."""
        span = latest(self.spans, now)
        price = latest(self.prices, now)[1]
        earlier = [amount for begins, amount in self.prices if begins <= now and amount > price]
        return View(
            listing=self,
            id=latest(self.ids, now)[1],
            title=latest(self.titles, now)[1],
            price=price,
            was=max(earlier, default=None),
            state=ON_SALE if span.state == UNLISTED else span.state,
            mode=span.mode,
            since=span.begins,
            shown_since=max(top for top in self.tops if top <= now),
            path=self.path_at(now),
            is_listed=span.state in (ON_SALE, OUT_OF_STOCK),
        )

    def path_at(self, now: float) -> str:
        """Return the path of its page at `now`."""
        return next((path for at, path in reversed(self.moves) if at <= now), self.path)

    def moments(self) -> set[int]:
        """Return every instant at which something about it changes."""
        dated: tuple[Sequence[tuple[Any, ...]], ...] = (
            self.ids,
            self.titles,
            self.prices,
            self.spans,
            self.moves,
        )
        return {entry[0] for entries in dated for entry in entries}

    def forget_after(self, now: int) -> None:
        """Drop what was planned for later: from here on the listing is in a test's hands."""
        self.ids = [entry for entry in self.ids if entry[0] <= now]
        self.prices = [entry for entry in self.prices if entry[0] <= now]
        self.spans = [span for span in self.spans if span.begins <= now]
        self.tops = [top for top in self.tops if top <= now]
        self.moves = [entry for entry in self.moves if entry[0] <= now]


@dataclass(frozen=True, slots=True)
class View:
    """A listing at one instant: all that a page can show of it."""

    listing: Listing
    id: str
    title: str
    price: int
    was: int | None
    state: str
    mode: str | None
    since: int
    shown_since: int
    path: str
    # Whether its category's list has it.
    is_listed: bool
    look: Look = USUAL

    @property
    def price_hidden(self) -> bool:
        """Whether neither card nor page tell the price of what is out of stock."""
        return self.state == OUT_OF_STOCK and self.mode == PRICE_HIDDEN

    @property
    def currency(self) -> str:
        """The currency in which it is shown."""
        return self.look.currency or self.listing.currency

    @property
    def stock(self) -> str:
        """What is said of its stock, in a word: its state, or what stands in place of "in stock"."""
        return self.state if self.state != ON_SALE or self.look.stock == IN_STOCK else self.look.stock


def latest(entries: Sequence[T], now: float) -> T:
    """Return the last entry that has begun at `now`; each entry starts with its instant."""
    return next((entry for entry in reversed(entries) if entry[0] <= now), entries[0])
