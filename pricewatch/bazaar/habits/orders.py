"""The ordered habits, and the effects of those that are active."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pricewatch.bazaar.habits.change_habits import ChangeHabit
from pricewatch.bazaar.habits.habit import Habit, Period
from pricewatch.bazaar.habits.list_habits import (
    BeyondHabit,
    CrossListingHabit,
    OrderHabit,
    cross_listing_source,
)
from pricewatch.bazaar.habits.presentation_habits import PresentationHabit
from pricewatch.bazaar.habits.registry import HABITS
from pricewatch.bazaar.habits.request_habits import LayoutHabit, MaintenanceHabit
from pricewatch.bazaar.http_messages import Request
from pricewatch.bazaar.inventory import Inventory
from pricewatch.bazaar.json_fields import BadInput, JsonFields
from pricewatch.bazaar.presentation import DEFAULT, Presentation
from pricewatch.bazaar.sample_listing import ListingView, SampleListing

H = TypeVar("H", bound=Habit)


class Habits:
    """The habits of one marketplace. If two contradict each other, the later order wins."""

    def __init__(self, inventory: Inventory) -> None:
        self.periods: list[Period] = []
        self._inventory = inventory
        self._created = 0

    def order(self, fields: JsonFields) -> Period:
        """Add an order: `habit`; optional `category`, `share`, `ids`, `begins`, and `ends` or `hours`."""
        habit = HABITS[fields.choice("habit", tuple(HABITS))]
        category = fields.string("category") if fields.has("category") else None
        if category is not None and category not in self._inventory.categories:
            raise BadInput(f"Unknown category: {category}.")
        clock, now = self._inventory.clock, int(self._inventory.update() // 1)
        begins = clock.seconds(fields.date_time("begins")) if fields.has("begins") else now
        ends = None
        if fields.has("ends"):
            ends = clock.seconds(fields.date_time("ends"))
        elif fields.has("hours"):
            ends = begins + round(3600 * fields.number("hours", low=0))
        share = fields.number("share", habit.share, 0)
        keys = frozenset(self._key(each) for each in fields.strings("ids"))
        fields.refuse_unknown()
        if ends is not None and ends < begins:
            raise BadInput("ends must not be before begins.")
        return self.add(habit, category, begins=begins, ends=ends, share=share, keys=keys)

    def add(
        self,
        habit: Habit,
        category: str | None = None,
        *,
        begins: int = 0,
        ends: int | None = None,
        share: float | None = None,
        keys: frozenset[str] = frozenset(),
    ) -> Period:
        """Add a habit; a change habit is applied to its listings now."""
        self._created += 1
        share = habit.share if share is None else share
        period = Period(self._created, habit, self._inventory.seed, category, begins, ends, share, keys)
        if isinstance(habit, ChangeHabit):
            period.ends = begins
            chosen = habit.select(self._inventory, period)
            period.keys = frozenset(listing.key for listing in chosen)
            habit.apply(self._inventory, chosen, begins)
        self.periods.append(period)
        return period

    def drop(self, name: str | None = None) -> None:
        """End active orders and remove future ones, of one habit or all; changes to listings remain."""
        now = int(self._inventory.update() // 1)
        chosen = [period for period in self.periods if name in (None, period.habit.name)]
        for period in chosen:
            if period.begins > now:
                self.periods.remove(period)
            elif period.is_active(now):
                period.ends = now

    def summary(self, period: Period) -> dict[str, Any]:
        """Return an order as the control interface shows it."""
        iso = self._inventory.clock.iso
        return {
            "habit": period.habit.name,
            "category": period.category,
            "share": period.share,
            "begins": iso(period.begins),
            "ends": None if period.ends is None else iso(period.ends),
            "listings": len(period.keys) or None,
        }

    def cache_key(self) -> tuple[int, ...]:
        """Return the active orders, as part of the cache keys of rendered pages."""
        return tuple(period.number for period in self.periods if period.is_active(self._inventory.now))

    def presentation(self, listing: SampleListing, at: float) -> Presentation:
        """Return the presentation of a listing at this time."""
        presentation = DEFAULT
        for habit, period in self._active(PresentationHabit, at):
            if period.applies_to(listing):
                presentation = habit.apply(presentation)
        return presentation

    def view(self, listing: SampleListing) -> ListingView:
        """Return the current state and presentation of a listing."""
        view = listing.at(self._inventory.now)
        if not self.periods:
            return view
        return replace(view, presentation=self.presentation(listing, self._inventory.now))

    def beyond(self, category: str | None) -> str | None:
        """Return how a page beyond the last is answered; None if no habit defines it."""
        found = [habit for habit, period in self._active(BeyondHabit) if period.covers(category)]
        return found[-1].answer if found else None

    def category_list(self, category: str, listings: Sequence[SampleListing]) -> list[SampleListing]:
        """Return the listings that a category shows, with cross-listed ones, in the current order."""
        now = self._inventory.now
        shown = [*listings, *self._cross_listed(category)]
        if len(shown) > len(listings):
            shown.sort(key=lambda each: (-each.at(now).shown_since, each.key))
        for habit, period in self._active(OrderHabit):
            if period.covers(category):
                shown = habit.arrange(shown, now)
        return shown

    def is_cross_listed(self, listing: SampleListing, category: str, at: float) -> bool:
        """Return whether a listing is shown in a category that is not its own."""
        return any(
            self._cross_lists(period, listing, category) for _, period in self._active(CrossListingHabit, at)
        )

    def was_cross_listed(self, listing: SampleListing, category: str) -> bool:
        """Return whether it was ever cross-listed there up to now."""
        return any(
            isinstance(period.habit, CrossListingHabit)
            and period.begins <= self._inventory.now
            and self._cross_lists(period, listing, category)
            for period in self.periods
        )

    def is_under_maintenance(self, category: str | None, at: float) -> bool:
        """Return whether the site, or this category, is under maintenance."""
        return any(period.covers(category) for _, period in self._active(MaintenanceHabit, at))

    def has_alternative_layout(self, request: Request, category: str | None) -> bool:
        """Return whether this request gets the alternative layout."""
        now = self._inventory.now
        return any(
            period.covers(category) and habit.is_alternative(period, request, now)
            for habit, period in self._active(LayoutHabit)
        )

    def boundaries(self, until: float) -> set[int]:
        """Return all times up to `until` at which a habit began or ended."""
        edges = {period.begins for period in self.periods} | {period.ends for period in self.periods}
        return {edge for edge in edges if edge is not None and edge <= until}

    def _active(self, kind: type[H], at: float | None = None) -> Iterator[tuple[H, Period]]:
        now = self._inventory.now if at is None else at
        for period in self.periods:
            if isinstance(period.habit, kind) and period.is_active(now):
                yield period.habit, period

    def _cross_listed(self, category: str) -> Iterator[SampleListing]:
        if any(True for _ in self._active(CrossListingHabit)):
            for _, _, listing in self._inventory.categories[cross_listing_source(category)].offered:
                if self.is_cross_listed(listing, category, self._inventory.now):
                    yield listing

    def _cross_lists(self, period: Period, listing: SampleListing, category: str) -> bool:
        if not period.covers(category) or listing.category.name != cross_listing_source(category):
            return False
        return listing.key in period.keys if period.keys else period.random_value(listing.key) < period.share

    def _key(self, platform_id: str) -> str:
        listing = self._inventory.by_id.get(platform_id)
        if listing is None:
            raise BadInput(f"Unknown listing: {platform_id}.")
        return listing.key
