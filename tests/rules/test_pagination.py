"""The stop rule: five familiar pages in a row end a start page, nothing else does."""

from hypothesis import given
from hypothesis import strategies as st

from pricewatch.rules.pagination import familiar_streak, goes_on


def pages_read(new_on: dict[int, int], last: int, **rule) -> int:
    """Read pages as a spider does that hears at once how many were new."""
    new_by_page: list[int] = []
    page = 1
    while True:
        new_by_page.append(new_on.get(page, 0))
        if not goes_on(new_by_page, has_next=page < last, pages_read=page, **{"first_run": False, **rule}):
            return page
        page += 1


def test_the_example_of_the_document():
    # 15, 10, 5 and 2 new ones on the first four pages, then nothing new: nine pages are read.
    assert pages_read({1: 15, 2: 10, 3: 5, 4: 2}, last=200) == 9


def test_a_new_listing_starts_the_count_again():
    assert pages_read({5: 1}, last=200) == 10


def test_the_first_run_reads_everything():
    assert pages_read({}, last=40, first_run=True) == 40


def test_the_page_cap_holds_in_the_first_run_too():
    assert pages_read({}, last=40, first_run=True, max_pages=7) == 7


def test_pages_that_are_not_compared_yet_count_as_familiar():
    assert goes_on([], has_next=True, pages_read=4, first_run=False)
    assert not goes_on([], has_next=True, pages_read=5, first_run=False)
    assert goes_on([0, 0, 3], has_next=True, pages_read=5, first_run=False)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 10))
def test_it_stops_only_after_enough_familiar_pages(new_by_page, stop_after):
    going = goes_on(
        new_by_page, has_next=True, pages_read=len(new_by_page), first_run=False, stop_after=stop_after
    )
    assert going == (familiar_streak(new_by_page) < stop_after)


@given(st.lists(st.integers(0, 5), max_size=60), st.integers(0, 10))
def test_knowing_less_never_asks_for_more(new_by_page, unknown):
    """Whatever is asked for before all answers are in would also be asked for with them."""
    pages = len(new_by_page)
    seen = new_by_page[: pages - min(unknown, pages)]
    early = goes_on(seen, has_next=True, pages_read=pages, first_run=False)
    late = goes_on(new_by_page, has_next=True, pages_read=pages, first_run=False)
    assert late or not early
