"""Habits that change listings once: delete them, change their URLs, or add many."""

from collections.abc import Callable
from dataclasses import dataclass
from zlib import crc32

from pricewatch.bazaar import catalogue
from pricewatch.bazaar.habits.habit import Habit, Period
from pricewatch.bazaar.inventory import Inventory
from pricewatch.bazaar.sample_listing import GONE, UNLISTED, SampleListing, StateSpan, latest
from pricewatch.bazaar.word_tables import CATEGORIES

ApplyChange = Callable[[Inventory, list[SampleListing], int], None]


@dataclass(frozen=True, slots=True)
class ChangeHabit(Habit):
    """A permanent change to listings, made once at the ordered time."""

    apply: ApplyChange = lambda _inventory, _listings, _at: None

    def select(self, inventory: Inventory, period: Period) -> list[SampleListing]:
        """Return the listings to change: the named ones, or a share of those listed at the time."""
        if period.keys:
            return [listing for listing in inventory.listings if listing.key in period.keys]
        listed = [
            listing
            for listing in inventory.listings
            if period.covers(listing.category.name)
            and listing.listed_at <= period.begins
            and listing.at(period.begins).is_listed
        ]
        listed.sort(key=lambda listing: (period.random_value(listing.key), listing.key))
        return listed[: max(1, round(period.share * len(listed)))]


def delete(state: str, mode: str | None = None) -> ApplyChange:
    """Return a change that deletes listings, with this state and mode."""

    def apply(inventory: Inventory, listings: list[SampleListing], at: int) -> None:
        for listing in listings:
            listing.cancel_plans_after(at)
            listing.spans.append(StateSpan(at, state, mode))
            inventory.record_change(listing, at)

    return apply


def change_url(inventory: Inventory, listings: list[SampleListing], at: int) -> None:
    """Change the URLs of listings; their ids and trade numbers stay the same."""
    for listing in listings:
        key = catalogue.in_base_36(crc32(f"{listing.key}/{at}".encode()), 7)
        inventory.move(listing, at, f"/item/{catalogue.slug(latest(listing.titles, at)[1])[:20]}-neu-{key}")


def double_catalogue(inventory: Inventory, listings: list[SampleListing], at: int) -> None:
    """Add as many new listings, all at once."""
    for category in CATEGORIES:
        count = sum(listing.category is category for listing in listings)
        for listing in catalogue.build_new_listings(
            inventory.seed,
            category,
            count,
            at,
            inventory.horizon,
            [*inventory.sellers.values()],
            inventory.next_id(),
        ):
            inventory.add(listing)


CHANGES = (
    ChangeHabit("deleted_404", "products are deleted: 404", share=0.03, apply=delete(GONE, "404")),
    ChangeHabit("deleted_410", "products are deleted: 410", share=0.03, apply=delete(GONE, "410")),
    ChangeHabit(
        "deleted_soft",
        "products are deleted: 200 and a page that says so",
        share=0.03,
        apply=delete(GONE, "soft"),
    ),
    ChangeHabit(
        "deleted_to_similar",
        "products are deleted: 301 to something similar",
        share=0.03,
        apply=delete(GONE, "to_similar"),
    ),
    ChangeHabit(
        "deleted_to_category",
        "products are deleted: 301 to their category",
        share=0.03,
        apply=delete(GONE, "to_category"),
    ),
    ChangeHabit(
        "deleted_unlisted",
        "products disappear from the lists, their pages stay",
        share=0.03,
        apply=delete(UNLISTED),
    ),
    ChangeHabit("slug_renamed", "products move to another URL, by 301", share=0.05, apply=change_url),
    ChangeHabit(
        "catalogue_halves", "half of what is listed is deleted at once", share=0.5, apply=delete(GONE, "404")
    ),
    ChangeHabit("catalogue_doubles", "as much again is listed at once", apply=double_catalogue),
)
