"""A habit, and the period in which it is active."""

from dataclasses import dataclass, field
from zlib import crc32

from pricewatch.bazaar.sample_listing import SampleListing


@dataclass(frozen=True, slots=True)
class Habit:
    """A habit of shops; `share` is the default share of listings that it applies to."""

    name: str
    about: str
    share: float = field(default=1.0, kw_only=True)


@dataclass(slots=True, eq=False)
class Period:
    """An ordered habit: when it is active, and for which listings."""

    number: int
    habit: Habit
    seed: int
    category: str | None
    begins: int
    ends: int | None
    share: float
    # Keys of the listings named in the order; if empty, listings are selected at random.
    keys: frozenset[str] = frozenset()

    def is_active(self, now: float) -> bool:
        """Return whether it is active at this time."""
        return self.begins <= now and (self.ends is None or now < self.ends)

    def covers(self, category: str | None) -> bool:
        """Return whether it applies to this category."""
        return self.category in (None, category)

    def applies_to(self, listing: SampleListing) -> bool:
        """Return whether it applies to this listing; a habit always selects the same listings first."""
        if self.keys:
            return listing.key in self.keys
        return self.covers(listing.category.name) and self.random_value(listing.key) < self.share

    def random_value(self, name: str) -> float:
        """Return a number below 1 that depends on the seed and `name`."""
        return crc32(f"{self.seed}/{self.habit.name}/{name}".encode()) / 2**32
