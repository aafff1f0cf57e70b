"""The stop rule: only five familiar pages in a row end a start page."""

from hypothesis import given
from hypothesis import strategies as st

from pricewatch.rules.pagination import familiar_streak, should_continue


def pages_read(new_on: dict[int, int], last: int, **rule) -> int:
    """Return how many pages a spider reads that knows the new listings of each page immediately."""
    new_by_page: list[int] = []
    page = 1
    while True:
        new_by_page.append(new_on.get(page, 0))
        if not should_continue(
            new_by_page, has_next=page < last, pages_read=page, **{"first_run": False, **rule}
        ):
            return page
        page += 1


def test_example_of_the_specification_reads_nine_pages():
    # 15, 10, 5 and 2 new listings on the first four pages, then none: nine pages are read.
    assert pages_read({1: 15, 2: 10, 3: 5, 4: 2}, last=200) == 9


def test_new_listing_resets_the_count():
    assert pages_read({5: 1}, last=200) == 10


def test_the_first_run_reads_everything():
    assert pages_read({}, last=40, first_run=True) == 40


def test_page_limit_applies_to_the_first_run():
    assert pages_read({}, last=40, first_run=True, max_pages=7) == 7


def test_pages_that_are_not_compared_yet_count_as_familiar():
    assert should_continue([], has_next=True, pages_read=4, first_run=False)
    assert not should_continue([], has_next=True, pages_read=5, first_run=False)
    assert should_continue([0, 0, 3], has_next=True, pages_read=5, first_run=False)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 10))
def test_stops_only_after_enough_familiar_pages(new_by_page, stop_after):
    going = should_continue(
        new_by_page, has_next=True, pages_read=len(new_by_page), first_run=False, stop_after=stop_after
    )
    assert going == (familiar_streak(new_by_page) < stop_after)


@given(st.lists(st.integers(0, 5), max_size=60), st.integers(0, 10))
def test_incomplete_results_never_request_more_pages(new_by_page, unknown):
    """A page requested before all results are in would also be requested with them."""
    pages = len(new_by_page)
    seen = new_by_page[: pages - min(unknown, pages)]
    early = should_continue(seen, has_next=True, pages_read=pages, first_run=False)
    late = should_continue(new_by_page, has_next=True, pages_read=pages, first_run=False)
    assert late or not early
