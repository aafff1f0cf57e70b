"""The end of a list: how responses indicate it, and the search for the last page."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricewatch.rules.list_end import Answer, EndSearch, is_redirected_away, judge_answer, stays_in_list
from pricewatch.vocabulary import PageOutcome

SHOP = "https://shop.example"
BOOKS = f"{SHOP}/c/books"


@pytest.mark.parametrize(
    ("outcome", "status", "answer"),
    [
        (PageOutcome.OK, 200, Answer.PAGE),
        (PageOutcome.EMPTY, 200, Answer.END),
        (PageOutcome.REPEATED, 200, Answer.END),
        (PageOutcome.HTTP_ERROR, 404, Answer.END),
        (PageOutcome.HTTP_ERROR, 410, Answer.END),
        (PageOutcome.HTTP_ERROR, 400, Answer.TROUBLE),
        (PageOutcome.HTTP_ERROR, 500, Answer.TROUBLE),
        (PageOutcome.HTTP_ERROR, 503, Answer.TROUBLE),
        (PageOutcome.HTTP_ERROR, None, Answer.TROUBLE),
        (PageOutcome.BLOCKED, 403, Answer.TROUBLE),
        (PageOutcome.BLOCKED, 429, Answer.TROUBLE),
        (PageOutcome.BLOCKED, 404, Answer.TROUBLE),
        (PageOutcome.NETWORK_ERROR, None, Answer.TROUBLE),
        (PageOutcome.UNREADABLE, 200, Answer.TROUBLE),
        (PageOutcome.ROBOTS, None, Answer.TROUBLE),
    ],
)
def test_response_is_a_page_the_end_or_trouble(
    outcome: PageOutcome, status: int | None, answer: Answer
) -> None:
    assert judge_answer(7, outcome, status) is answer
    # Page 1 is never past the end.
    assert judge_answer(1, outcome, status) is (Answer.PAGE if answer is Answer.PAGE else Answer.TROUBLE)


@pytest.mark.parametrize(
    ("requested", "landed", "away", "back"),
    [
        (f"{BOOKS}?page=27", BOOKS, True, True),
        (f"{BOOKS}?page=27", f"{BOOKS}/?page=1", True, True),
        (f"{BOOKS}?page=27", f"{BOOKS}?page=12", True, True),
        (f"{BOOKS}?page=27&rows=90", f"{BOOKS}?rows=90", True, True),
        (f"{BOOKS}/page/27/", f"{BOOKS}/", True, True),
        (f"{BOOKS}/page/27/", f"{SHOP}/c/", True, True),
        (f"{BOOKS}/page/27/", f"{SHOP}/", True, True),
        (f"{BOOKS}?page=27", f"{SHOP}/login?next=books", True, False),
        (f"{BOOKS}?page=27", f"{SHOP}/c/toys", True, False),
        (f"{BOOKS}?page=27", f"{SHOP}/maintenance.html", True, False),
        # The same page, in another spelling.
        (f"{BOOKS}?page=27", "https://www.shop.example/c/books/?page=27", False, True),
        ("http://shop.example/c/books?page=27", f"{BOOKS}?page=27", False, True),
        (f"{BOOKS}?page=27", f"{SHOP}/en/books/page/27/", False, False),
        (f"{BOOKS}?page=27&rows=90", f"{BOOKS}?rows=90&page=27", False, True),
    ],
)
def test_redirects_within_and_out_of_a_list(requested: str, landed: str, away: bool, back: bool) -> None:
    rows = "?rows=90" if "rows" in requested else ""
    assert is_redirected_away(requested, landed, f"{BOOKS}{rows}") is away
    assert stays_in_list(requested, landed, [BOOKS]) is back


def test_site_with_one_path_for_all_pages() -> None:
    home = f"{SHOP}/index.php?route=product/category&path=20"
    requested = f"{home}&page=9"
    assert is_redirected_away(requested, home, home)
    assert stays_in_list(requested, home, [home])
    assert not stays_in_list(requested, f"{SHOP}/index.php?route=account/login", [home])


def content_of(habit: str, last: int, number: int) -> int | None:
    """Return the content of a page on a site with `last` pages; None if it is empty."""
    if number <= last:
        return number
    return {"nothing": None, "first again": 1, "last again": last}[habit]


@given(
    st.sampled_from(["nothing", "first again", "last again"]),
    st.integers(1, 300),
    st.integers(1, 300),
    st.one_of(st.none(), st.integers(1, 400)),
    st.booleans(),
)
def test_last_page_is_found_wherever_a_sweep_begins(
    habit: str, last: int, first: int, guess: int | None, has_next_link: bool
) -> None:
    """A sweep reads until a page is empty or repeats another page."""
    fingerprints: dict[int, int] = {}
    number = first
    while (content := content_of(habit, last, number)) is not None and content not in fingerprints.values():
        fingerprints[number] = content
        number += 1
    if content is not None:
        fingerprints[number] = content
    fingerprints.setdefault(1, 1)
    if number == 1:
        return
    search = EndSearch.begin(fingerprints, number, guess)
    requests = 0
    while (probe := search.probe) is not None:
        content = content_of(habit, last, probe)
        new = search.note(probe, content, has_next=probe != last if has_next_link else content is not None)
        assert not new or probe <= last
        requests += 1
    assert search.last == last
    assert requests <= math.ceil(math.log2(300)) + 1


def test_page_that_repeats_an_earlier_page_is_the_end() -> None:
    fingerprints = {number: number for number in range(1, 13)} | {13: 5}
    assert EndSearch.begin(fingerprints, 13).last == 12
