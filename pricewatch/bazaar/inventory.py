"""All listings at the current time, indexed in display order while the clock moves."""

from bisect import bisect_left, bisect_right, insort

from pricewatch.bazaar import catalogue
from pricewatch.bazaar.marketplace_clock import MarketplaceClock
from pricewatch.bazaar.sample_listing import SOLD, ListingView, SampleListing
from pricewatch.bazaar.timeline import DAY
from pricewatch.bazaar.word_tables import CATEGORIES

RELATED = 4

# Sorts newest first; ids are unique, so listings are never compared.
IndexKey = tuple[int, int, SampleListing]


class CategoryIndex:
    """The offered and the sold listings of one category, in display order."""

    def __init__(self) -> None:
        self.offered: list[IndexKey] = []
        self.sold: list[IndexKey] = []
        # Counts changes: part of the cache keys of rendered lists.
        self.version = 0


class Inventory:
    """Listings, sellers and categories. Call `update` before reading: it applies the changes since then."""

    def __init__(self, seed: int, listings: int, days: int, clock: MarketplaceClock) -> None:
        self.seed = seed
        self.clock = clock
        # Where the generated timeline ends.
        self.horizon = days * DAY
        self.listings, self.sellers = catalogue.build(seed, listings, days)
        self.by_path: dict[str, SampleListing] = {}
        self.by_id: dict[str, SampleListing] = {}
        self.by_seller: dict[str, list[SampleListing]] = {}
        self.categories = {category.name: CategoryIndex() for category in CATEGORIES}
        self.version = 0
        self._positions: dict[SampleListing, tuple[list[IndexKey], IndexKey]] = {}
        for listing in self.listings:
            self.register(listing)
        self._link_related()
        self._events = sorted(
            (float(at), number)
            for number, listing in enumerate(self.listings)
            for at in listing.change_times()
        )
        self._next = 0
        # The time of the last update; a running clock may be slightly ahead of it.
        self.now = 0.0
        self._rebuild(clock.now())

    def update(self) -> float:
        """Apply all changes since the last call; return the current time."""
        now = self.clock.now()
        if now < self.now:
            self._rebuild(now)
        else:
            self.now = now
            while self._next < len(self._events) and self._events[self._next][0] <= now:
                self.reindex(self.listings[self._events[self._next][1]])
                self._next += 1
        return now

    def reindex(self, listing: SampleListing) -> None:
        """Move a listing to its current position and invalidate its cached pages."""
        index = self.categories[listing.category.name]
        position = self._positions.pop(listing, None)
        if position is not None:
            old_keys, old_key = position
            del old_keys[bisect_left(old_keys, old_key)]
        if listing.listed_at <= self.now:
            view = listing.at(self.now)
            keys = _keys_for(index, view)
            if keys is not None:
                key = _key(view)
                insort(keys, key)
                self._positions[listing] = (keys, key)
        listing.version += 1
        index.version += 1
        self.version += 1

    def register(self, listing: SampleListing) -> None:
        """Index a listing by its paths, by all ids it ever has, and by its seller."""
        for path in (listing.path, *(path for _, path in listing.moves)):
            self.by_path[path] = listing
        for _, platform_id in listing.ids:
            self.by_id[platform_id] = listing
        self.by_seller.setdefault(listing.seller.id, []).append(listing)

    def add(self, listing: SampleListing) -> None:
        """Add a listing that was not generated at the start."""
        self.listings.append(listing)
        self.register(listing)
        for at in listing.change_times():
            insort(self._events, (float(at), len(self.listings) - 1))
        self._next = bisect_right(self._events, (self.now, len(self.listings)))
        self.reindex(listing)

    def move(self, listing: SampleListing, at: int, path: str) -> None:
        """Change the path of a listing at this time."""
        listing.moves.append((at, path))
        listing.moves.sort()
        self.by_path[path] = listing
        self.record_change(listing, at)

    def next_id(self) -> int:
        """Return an id higher than all others, as a real platform would assign it."""
        return max(map(int, self.by_id), default=catalogue.FIRST_ID) + 1

    def record_change(self, listing: SampleListing, at: int) -> None:
        """Record that a listing changes at this time, and reindex it."""
        insort(self._events, (float(at), self.listings.index(listing)))
        self._next = bisect_right(self._events, (self.now, len(self.listings)))
        self.reindex(listing)

    def _rebuild(self, now: float) -> None:
        """Rebuild all indexes: at the start, and when the clock goes back."""
        self.now = now
        self._next = bisect_right(self._events, (now, len(self.listings)))
        self._positions.clear()
        for index in self.categories.values():
            index.offered.clear()
            index.sold.clear()
            index.version += 1
        for listing in self.listings:
            listing.version += 1
            if listing.listed_at <= now:
                view = listing.at(now)
                keys = _keys_for(self.categories[listing.category.name], view)
                if keys is not None:
                    key = _key(view)
                    keys.append(key)
                    self._positions[listing] = (keys, key)
        for index in self.categories.values():
            index.offered.sort()
            index.sold.sort()
        self.version += 1

    def _link_related(self) -> None:
        """Assign each listing a few older listings to show; fixed, so that cached pages stay valid."""
        for category in CATEGORIES:
            listings = [listing for listing in self.listings if listing.category is category]
            for number, listing in enumerate(listings):
                older = listings[max(0, number - RELATED) : number]
                listing.related = tuple(older or listings[1 : 1 + RELATED])


def _key(view: ListingView) -> IndexKey:
    return (-view.shown_since, -int(view.id), view.listing)


def _keys_for(index: CategoryIndex, view: ListingView) -> list[IndexKey] | None:
    """Return the list of the index that contains a listing in this state; None if neither does."""
    if view.is_listed:
        return index.offered
    return index.sold if view.state == SOLD else None
