"""All listings as they stand at the clock's instant, kept in order while the clock moves."""

from bisect import bisect_left, bisect_right, insort

from pricewatch.bazaar import catalogue
from pricewatch.bazaar.clock import Clock
from pricewatch.bazaar.listing import SOLD, Listing, View
from pricewatch.bazaar.names import CATEGORIES
from pricewatch.bazaar.timeline import DAY

RELATED = 4

# Sorts newest first; the id breaks ties, so no comparison ever reaches the listing.
Place = tuple[int, int, Listing]


class Shelf:
    """The listings of one category in the order of its overview: those on offer, and those sold."""

    def __init__(self) -> None:
        self.offered: list[Place] = []
        self.sold: list[Place] = []
        # Counts changes, so that rendered overviews know when they are out of date.
        self.version = 0


class World:
    """Listings, sellers and shelves. `settle` brings them up to the clock before anything is read."""

    def __init__(self, seed: int, listings: int, days: int, clock: Clock) -> None:
        self.seed = seed
        self.clock = clock
        # There the pre-generated lives end.
        self.horizon = days * DAY
        self.listings, self.sellers = catalogue.build(seed, listings, days)
        self.by_path: dict[str, Listing] = {}
        self.by_id: dict[str, Listing] = {}
        self.by_seller: dict[str, list[Listing]] = {}
        self.shelves = {category.name: Shelf() for category in CATEGORIES}
        self.version = 0
        self._places: dict[Listing, tuple[list[Place], Place]] = {}
        for listing in self.listings:
            self.register(listing)
        self._relate()
        self._events = sorted(
            (float(at), number) for number, listing in enumerate(self.listings) for at in listing.moments()
        )
        self._next = 0
        # The instant that shelves and versions stand for; a running clock may be a moment ahead of it.
        self.now = 0.0
        self._restock(clock.now())

    def settle(self) -> float:
        """Apply everything that happened since the last call; return the instant that now holds."""
        now = self.clock.now()
        if now < self.now:
            self._restock(now)
        else:
            self.now = now
            while self._next < len(self._events) and self._events[self._next][0] <= now:
                self.refresh(self.listings[self._events[self._next][1]])
                self._next += 1
        return now

    def refresh(self, listing: Listing) -> None:
        """Put a listing where it belongs at the present instant, and let its old pages expire."""
        shelf = self.shelves[listing.category.name]
        held = self._places.pop(listing, None)
        if held is not None:
            places, place = held
            del places[bisect_left(places, place)]
        if listing.listed_at <= self.now:
            view = listing.at(self.now)
            goal = _row(shelf, view)
            if goal is not None:
                place = (-view.shown_since, -int(view.id), listing)
                insort(goal, place)
                self._places[listing] = (goal, place)
        listing.version += 1
        shelf.version += 1
        self.version += 1

    def register(self, listing: Listing) -> None:
        """Make a listing known by its path, by every id it ever has, and by its seller."""
        for path in (listing.path, *(path for _, path in listing.moves)):
            self.by_path[path] = listing
        for _, platform_id in listing.ids:
            self.by_id[platform_id] = listing
        self.by_seller.setdefault(listing.seller.id, []).append(listing)

    def add(self, listing: Listing) -> None:
        """Take in a listing that was not pre-generated."""
        self.listings.append(listing)
        self.register(listing)
        for at in listing.moments():
            insort(self._events, (float(at), len(self.listings) - 1))
        self._next = bisect_right(self._events, (self.now, len(self.listings)))
        self.refresh(listing)

    def move(self, listing: Listing, at: int, path: str) -> None:
        """Let the page of a listing move to another path at that instant."""
        listing.moves.append((at, path))
        listing.moves.sort()
        self.by_path[path] = listing
        self.note(listing, at)

    def next_id(self) -> int:
        """Return an id above all others, so that ties fall as they would on a real platform."""
        return max(map(int, self.by_id), default=catalogue.FIRST_ID) + 1

    def note(self, listing: Listing, at: int) -> None:
        """Remember that a listing was changed by hand at that instant, and show it at once."""
        insort(self._events, (float(at), self.listings.index(listing)))
        self._next = bisect_right(self._events, (self.now, len(self.listings)))
        self.refresh(listing)

    def _restock(self, now: float) -> None:
        """Fill all shelves anew: at the start, and when the clock goes back."""
        self.now = now
        self._next = bisect_right(self._events, (now, len(self.listings)))
        self._places.clear()
        for shelf in self.shelves.values():
            shelf.offered.clear()
            shelf.sold.clear()
            shelf.version += 1
        for listing in self.listings:
            listing.version += 1
            if listing.listed_at <= now:
                view = listing.at(now)
                row = _row(self.shelves[listing.category.name], view)
                if row is not None:
                    place = (-view.shown_since, -int(view.id), listing)
                    row.append(place)
                    self._places[listing] = (row, place)
        for shelf in self.shelves.values():
            shelf.offered.sort()
            shelf.sold.sort()
        self.version += 1

    def _relate(self) -> None:
        """Give each listing a few older neighbours to show; fixed, so that a page never changes by theirs."""
        for category in CATEGORIES:
            row = [listing for listing in self.listings if listing.category is category]
            for number, listing in enumerate(row):
                near = row[max(0, number - RELATED) : number]
                listing.related = tuple(near or row[1 : 1 + RELATED])


def _row(shelf: Shelf, view: View) -> list[Place] | None:
    if view.is_listed:
        return shelf.offered
    return shelf.sold if view.state == SOLD else None
