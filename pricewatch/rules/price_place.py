"""Where the price stands on the product pages of a shop: what pages teach, and when the place is lost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

# In place of the name of a person who chose a place.
BY_PAGES = "pages"
# Pages in a row on which the price stood elsewhere, after which the other place is the stored one.
PAGES_TO_REPLACE = 3
# A place is established after this many pages; only an established place can be lost.
PAGES_TO_ESTABLISH = 5
LEAST_PAGES = 20
MOST_MISSING = 0.5
NOT_FOUND_EVIDENCE = "price place: not found"


@dataclass(frozen=True, slots=True)
class PlaceMemory:
    """The stored place and its confirmations, and another place that pages in a row showed since."""

    selector: str | None = None
    seen: int = 0
    by: str | None = None
    other: str | None = None
    other_seen: int = 0

    @property
    def is_chosen_by_person(self) -> bool:
        return self.selector is not None and self.by != BY_PAGES


def after_pages(memory: PlaceMemory, places: Iterable[str]) -> PlaceMemory:
    """Return the memory after pages that showed the price at these places, in this order."""
    for place in places:
        memory = _after_page(memory, place)
    return memory


def _after_page(memory: PlaceMemory, place: str) -> PlaceMemory:
    if memory.selector is None:
        return PlaceMemory(place, 1, BY_PAGES)
    if place == memory.selector:
        return replace(memory, seen=memory.seen + 1, other=None, other_seen=0)
    if memory.is_chosen_by_person:
        return memory
    seen = memory.other_seen + 1 if place == memory.other else 1
    if seen >= PAGES_TO_REPLACE:
        return PlaceMemory(place, seen, BY_PAGES)
    return replace(memory, other=place, other_seen=seen)


def is_missing(evidence: Iterable[str]) -> bool:
    """Return whether the reader did not find the place that it was given."""
    return any(str(line).startswith(NOT_FOUND_EVIDENCE) for line in evidence)


def is_lost(missing: int, pages: int) -> bool | None:
    """Return whether the place vanished from most pages of a run; None if these are too few to tell."""
    return None if pages < LEAST_PAGES else missing > pages * MOST_MISSING
