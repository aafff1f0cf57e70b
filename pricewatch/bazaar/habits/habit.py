"""A habit, and the time for which it was ordered."""

from dataclasses import dataclass, field
from zlib import crc32

from pricewatch.bazaar.listing import Listing


@dataclass(frozen=True, slots=True)
class Habit:
    """Something that shops do; `share` is how many listings it concerns, unless the order says otherwise."""

    name: str
    about: str
    share: float = field(default=1.0, kw_only=True)


@dataclass(slots=True, eq=False)
class Period:
    """A habit in force: from when, until when, for whom."""

    number: int
    habit: Habit
    seed: int
    category: str | None
    begins: int
    ends: int | None
    share: float
    # The listings that were named in the order, by their keys; empty where chance decides.
    keys: frozenset[str] = frozenset()

    def holds(self, now: float) -> bool:
        """Tell whether it is in force at that instant."""
        return self.begins <= now and (self.ends is None or now < self.ends)

    def covers(self, category: str | None) -> bool:
        """Tell whether it is for this category."""
        return self.category in (None, category)

    def concerns(self, listing: Listing) -> bool:
        """Tell whether it is for this listing; the same habit always chooses the same ones first."""
        if self.keys:
            return listing.key in self.keys
        return self.covers(listing.category.name) and self.draw(listing.key) < self.share

    def draw(self, what: str) -> float:
        """Return a number below 1 that the seed decides."""
        return crc32(f"{self.seed}/{self.habit.name}/{what}".encode()) / 2**32
