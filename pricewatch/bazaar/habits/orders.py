"""Which habits were ordered, and what follows from those in force."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pricewatch.bazaar.fields import BadInput, Fields
from pricewatch.bazaar.habits.changes import ChangeHabit
from pricewatch.bazaar.habits.habit import Habit, Period
from pricewatch.bazaar.habits.known import HABITS
from pricewatch.bazaar.habits.lists import BeyondHabit, GuestHabit, OrderHabit, home_of_guests
from pricewatch.bazaar.habits.looks import LookHabit
from pricewatch.bazaar.habits.visits import LayoutHabit, MaintenanceHabit
from pricewatch.bazaar.listing import Listing, View
from pricewatch.bazaar.look import USUAL, Look
from pricewatch.bazaar.messages import Request
from pricewatch.bazaar.world import World

H = TypeVar("H", bound=Habit)


class Habits:
    """The habits of one marketplace. Of two that contradict each other, the one ordered last wins."""

    def __init__(self, world: World) -> None:
        self.periods: list[Period] = []
        self._world = world
        self._made = 0

    def order(self, fields: Fields) -> Period:
        """Take an order: `habit`, and `category`, `share`, `ids`, `begins`, and `ends` or `hours`."""
        habit = HABITS[fields.choice("habit", tuple(HABITS))]
        category = fields.text("category") if fields.has("category") else None
        if category is not None and category not in self._world.shelves:
            raise BadInput(f"There is no category {category}.")
        clock, now = self._world.clock, int(self._world.settle() // 1)
        begins = clock.seconds(fields.moment("begins")) if fields.has("begins") else now
        ends = None
        if fields.has("ends"):
            ends = clock.seconds(fields.moment("ends"))
        elif fields.has("hours"):
            ends = begins + round(3600 * fields.number("hours", low=0))
        share = fields.number("share", habit.share, 0)
        keys = frozenset(self._key(each) for each in fields.texts("ids"))
        fields.done()
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
        """Put a habit in force; what only happens, happens then."""
        self._made += 1
        share = habit.share if share is None else share
        period = Period(self._made, habit, self._world.seed, category, begins, ends, share, keys)
        if isinstance(habit, ChangeHabit):
            period.ends = begins
            chosen = habit.chosen(self._world, period)
            period.keys = frozenset(listing.key for listing in chosen)
            habit.happen(self._world, chosen, begins)
        self.periods.append(period)
        return period

    def drop(self, name: str | None = None) -> None:
        """End what is in force and forget what is to come, of one habit or all; what happened stays so."""
        now = int(self._world.settle() // 1)
        chosen = [period for period in self.periods if name in (None, period.habit.name)]
        for period in chosen:
            if period.begins > now:
                self.periods.remove(period)
            elif period.holds(now):
                period.ends = now

    def summary(self, period: Period) -> dict[str, Any]:
        """Return what the control interface tells about an order."""
        iso = self._world.clock.iso
        return {
            "habit": period.habit.name,
            "category": period.category,
            "share": period.share,
            "begins": iso(period.begins),
            "ends": None if period.ends is None else iso(period.ends),
            "listings": len(period.keys) or None,
        }

    def stamp(self) -> tuple[int, ...]:
        """Return what rendered pages depend on: which orders are in force."""
        return tuple(period.number for period in self.periods if period.holds(self._world.now))

    def look(self, listing: Listing, at: float) -> Look:
        """Return how a listing is shown at that instant."""
        look = USUAL
        for habit, period in self._of(LookHabit, at):
            if period.concerns(listing):
                look = habit.apply(look)
        return look

    def view(self, listing: Listing) -> View:
        """Return a listing as it stands and is shown now."""
        view = listing.at(self._world.now)
        return replace(view, look=self.look(listing, self._world.now)) if self.periods else view

    def beyond(self, category: str | None) -> str | None:
        """Return what a page beyond the last one of a list answers, where a habit says so."""
        found = [habit for habit, period in self._of(BeyondHabit) if period.covers(category)]
        return found[-1].answer if found else None

    def arranged(self, category: str, listings: Sequence[Listing]) -> list[Listing]:
        """Return what a category shows, in the order of the day, with its guests."""
        now = self._world.now
        shown = [*listings, *(each for each in self._offered_by_others(category))]
        if len(shown) > len(listings):
            shown.sort(key=lambda each: (-each.at(now).shown_since, each.key))
        for habit, period in self._of(OrderHabit):
            if period.covers(category):
                shown = habit.arrange(shown, now)
        return shown

    def is_guest(self, listing: Listing, category: str, at: float) -> bool:
        """Tell whether a listing stands in a category that is not its own."""
        return any(self._has_guest(period, listing, category) for _, period in self._of(GuestHabit, at))

    def was_guest(self, listing: Listing, category: str) -> bool:
        """Tell whether it ever did, up to now."""
        return any(
            isinstance(period.habit, GuestHabit)
            and period.begins <= self._world.now
            and self._has_guest(period, listing, category)
            for period in self.periods
        )

    def is_away(self, category: str | None, at: float) -> bool:
        """Tell whether the site, or this category, is under maintenance."""
        return any(period.covers(category) for _, period in self._of(MaintenanceHabit, at))

    def has_other_layout(self, request: Request, category: str | None) -> bool:
        """Tell whether this visit gets the other layout."""
        now = self._world.now
        return any(
            period.covers(category) and habit.is_other(period, request, now)
            for habit, period in self._of(LayoutHabit)
        )

    def boundaries(self, until: float) -> set[int]:
        """Return every instant up to then at which a habit began or ended."""
        edges = {period.begins for period in self.periods} | {period.ends for period in self.periods}
        return {edge for edge in edges if edge is not None and edge <= until}

    def _of(self, kind: type[H], at: float | None = None) -> Iterator[tuple[H, Period]]:
        now = self._world.now if at is None else at
        for period in self.periods:
            if isinstance(period.habit, kind) and period.holds(now):
                yield period.habit, period

    def _offered_by_others(self, category: str) -> Iterator[Listing]:
        if any(True for _ in self._of(GuestHabit)):
            for _, _, listing in self._world.shelves[home_of_guests(category)].offered:
                if self.is_guest(listing, category, self._world.now):
                    yield listing

    def _has_guest(self, period: Period, listing: Listing, category: str) -> bool:
        if not period.covers(category) or listing.category.name != home_of_guests(category):
            return False
        return listing.key in period.keys if period.keys else period.draw(listing.key) < period.share

    def _key(self, platform_id: str) -> str:
        listing = self._world.by_id.get(platform_id)
        if listing is None:
            raise BadInput(f"There is no listing {platform_id}.")
        return listing.key
