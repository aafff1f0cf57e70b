"""Habits of lists: the answer beyond the last page, the order, and cross-listed listings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pricewatch.bazaar.habits.habit import Habit
from pricewatch.bazaar.sample_listing import SampleListing, latest
from pricewatch.bazaar.word_tables import CATEGORIES

Arrange = Callable[[Sequence[SampleListing], float], list[SampleListing]]


@dataclass(frozen=True, slots=True)
class BeyondHabit(Habit):
    """How a page beyond the last is answered."""

    answer: str = "empty"


@dataclass(frozen=True, slots=True)
class OrderHabit(Habit):
    """The order of a list; `arrange` gets the listings newest first."""

    arrange: Arrange = lambda listings, _: list(listings)


@dataclass(frozen=True, slots=True)
class CrossListingHabit(Habit):
    """Some listings of another category are shown in this one too, each under a second URL."""


def cross_listing_source(category: str) -> str:
    """Return the category whose listings are cross-listed in this one: the next in the table."""
    names = [each.name for each in CATEGORIES]
    return names[(names.index(category) + 1) % len(names)]


def cross_listed_path(listing: SampleListing, category: str) -> str:
    """Return the URL of a listing in a category that is not its own."""
    return f"/item/{category}/{listing.path.removeprefix('/item/')}"


def _by_title(listings: Sequence[SampleListing], now: float) -> list[SampleListing]:
    return sorted(listings, key=lambda each: (latest(each.titles, now)[1].lower(), each.key))


LISTS = (
    BeyondHabit("beyond_404", "a page beyond the last is 404", answer="404"),
    BeyondHabit("beyond_410", "a page beyond the last is 410", answer="410"),
    BeyondHabit("beyond_empty", "a page beyond the last is an empty list", answer="empty"),
    BeyondHabit("beyond_first", "a page beyond the last shows the first page again", answer="first"),
    BeyondHabit("beyond_last", "a page beyond the last shows the last page again", answer="repeat"),
    BeyondHabit("beyond_to_first", "a page beyond the last redirects to page 1", answer="to_first"),
    BeyondHabit(
        "beyond_to_category", "a page beyond the last redirects to the bare category", answer="to_category"
    ),
    OrderHabit("oldest_first", "lists begin with the oldest", arrange=lambda listings, _: [*listings][::-1]),
    OrderHabit("resorted", "lists are sorted by title", arrange=_by_title),
    CrossListingHabit(
        "two_categories", "some listings of another category are shown here too, at a second URL", share=0.05
    ),
)
