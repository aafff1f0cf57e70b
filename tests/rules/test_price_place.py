"""The place of the price: learned from pages, replaced after three in a row, and lost."""

from __future__ import annotations

import pytest

from pricewatch.rules.price_place import PlaceMemory, after_pages, is_lost, is_missing

BY_ADA = PlaceMemory(".chosen", 0, "Ada")


@pytest.mark.parametrize(
    ("before", "places", "after"),
    [
        (PlaceMemory(), [".a"], PlaceMemory(".a", 1, "pages")),
        (PlaceMemory(), [".a", ".a"], PlaceMemory(".a", 2, "pages")),
        (PlaceMemory(".a", 9, "pages"), [".b", ".b"], PlaceMemory(".a", 9, "pages", ".b", 2)),
        (PlaceMemory(".a", 9, "pages"), [".b", ".b", ".a"], PlaceMemory(".a", 10, "pages")),
        (PlaceMemory(".a", 9, "pages"), [".b", ".c", ".b"], PlaceMemory(".a", 9, "pages", ".b", 1)),
        (PlaceMemory(".a", 9, "pages"), [".b", ".b", ".b"], PlaceMemory(".b", 3, "pages")),
        (PlaceMemory(".a", 9, "pages", ".b", 2), [".b"], PlaceMemory(".b", 3, "pages")),
        (BY_ADA, [".b"] * 9, BY_ADA),
        (BY_ADA, [".chosen"], PlaceMemory(".chosen", 1, "Ada")),
        (PlaceMemory(".a", 1, "pages"), [], PlaceMemory(".a", 1, "pages")),
    ],
)
def test_pages_teach_the_place(before: PlaceMemory, places: list[str], after: PlaceMemory) -> None:
    assert after_pages(before, places) == after


@pytest.mark.parametrize(
    ("missing", "pages", "expected"),
    [(19, 19, None), (0, 0, None), (10, 20, False), (11, 20, True), (0, 500, False), (251, 500, True)],
)
def test_place_is_lost_if_it_is_missing_on_most_of_at_least_twenty_pages(
    missing: int, pages: int, expected: bool | None
) -> None:
    assert is_lost(missing, pages) is expected


def test_missing_place_is_read_from_the_evidence() -> None:
    assert is_missing(["price: 5", "price place: not found (.a)"])
    assert not is_missing(["price place: .a", "the price place: not found"])
    assert not is_missing([])
