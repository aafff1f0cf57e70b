"""Habits that happen at once and to listings themselves: they vanish, move, or come in numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from zlib import crc32

from pricewatch.bazaar import catalogue
from pricewatch.bazaar.habits.habit import Habit, Period
from pricewatch.bazaar.listing import GONE, UNLISTED, Listing, Span, latest
from pricewatch.bazaar.names import CATEGORIES
from pricewatch.bazaar.world import World

Happen = Callable[[World, list[Listing], int], None]


@dataclass(frozen=True, slots=True)
class ChangeHabit(Habit):
    """Something that happens to listings at the instant it is ordered for; nothing undoes it."""

    happen: Happen = lambda _world, _listings, _at: None

    def chosen(self, world: World, period: Period) -> list[Listing]:
        """Return the listings it happens to: those named, or a share of what the lists show then."""
        if period.keys:
            return [listing for listing in world.listings if listing.key in period.keys]
        shown = [
            listing
            for listing in world.listings
            if period.covers(listing.category.name)
            and listing.listed_at <= period.begins
            and listing.at(period.begins).is_listed
        ]
        shown.sort(key=lambda listing: (period.draw(listing.key), listing.key))
        return shown[: max(1, round(period.share * len(shown)))]


def delete(state: str, mode: str | None = None) -> Happen:
    """Take listings away for good, in one of the ways in which shops do."""

    def happen(world: World, listings: list[Listing], at: int) -> None:
        for listing in listings:
            listing.forget_after(at)
            listing.spans.append(Span(at, state, mode))
            world.note(listing, at)

    return happen


def rename(world: World, listings: list[Listing], at: int) -> None:
    """Give pages a new slug that has nothing of the old one; ids and numbers on them stay."""
    for listing in listings:
        key = catalogue.in_base_36(crc32(f"{listing.key}/{at}".encode()), 7)
        world.move(listing, at, f"/item/{catalogue.slug(latest(listing.titles, at)[1])[:20]}-neu-{key}")


def double(world: World, listings: list[Listing], at: int) -> None:
    """List as many new ones, all at once."""
    for category in CATEGORIES:
        count = sum(listing.category is category for listing in listings)
        for listing in catalogue.newcomers(
            world.seed, category, count, at, world.horizon, [*world.sellers.values()], world.next_id()
        ):
            world.add(listing)


CHANGES = (
    ChangeHabit("deleted_404", "products are deleted: 404", share=0.03, happen=delete(GONE, "404")),
    ChangeHabit("deleted_410", "products are deleted: 410", share=0.03, happen=delete(GONE, "410")),
    ChangeHabit(
        "deleted_soft",
        "products are deleted: 200 and a page that says so",
        share=0.03,
        happen=delete(GONE, "soft"),
    ),
    ChangeHabit(
        "deleted_to_similar",
        "products are deleted: 301 to something similar",
        share=0.03,
        happen=delete(GONE, "to_similar"),
    ),
    ChangeHabit(
        "deleted_to_category",
        "products are deleted: 301 to their category",
        share=0.03,
        happen=delete(GONE, "to_category"),
    ),
    ChangeHabit(
        "deleted_unlisted",
        "products leave the lists, and their pages live on",
        share=0.03,
        happen=delete(UNLISTED),
    ),
    ChangeHabit("slug_renamed", "products move to another URL, by 301", share=0.05, happen=rename),
    ChangeHabit(
        "catalogue_halves", "half of what is listed is deleted at once", share=0.5, happen=delete(GONE, "404")
    ),
    ChangeHabit("catalogue_doubles", "as much again is listed at once", happen=double),
)
