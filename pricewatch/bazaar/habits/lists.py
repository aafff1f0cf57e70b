"""Habits of lists: what a page beyond the last answers, the order of listings, and listings of others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pricewatch.bazaar.habits.habit import Habit
from pricewatch.bazaar.listing import Listing, latest
from pricewatch.bazaar.names import CATEGORIES

Arrange = Callable[[Sequence[Listing], float], list[Listing]]


@dataclass(frozen=True, slots=True)
class BeyondHabit(Habit):
    """What a page beyond the last one answers."""

    answer: str = "empty"


@dataclass(frozen=True, slots=True)
class OrderHabit(Habit):
    """In which order a list stands, given newest first."""

    arrange: Arrange = lambda listings, _: list(listings)


@dataclass(frozen=True, slots=True)
class GuestHabit(Habit):
    """Listings of another category stand in this one too, each with a URL of its own there."""


def home_of_guests(category: str) -> str:
    """Return the category whose listings are guests in this one: the next one in the table."""
    names = [each.name for each in CATEGORIES]
    return names[(names.index(category) + 1) % len(names)]


def guest_path(listing: Listing, category: str) -> str:
    """Return the URL of a listing in a category that is not its own."""
    return f"/item/{category}/{listing.path.removeprefix('/item/')}"


def _by_title(listings: Sequence[Listing], now: float) -> list[Listing]:
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
    GuestHabit(
        "two_categories", "some listings of another category are shown here too, at a second URL", share=0.05
    ),
)
