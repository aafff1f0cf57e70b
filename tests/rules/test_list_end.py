"""Where a list ends: what an answer says about it, and the search for its last page."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricewatch.rules.list_end import Answer, EndSearch, is_led_away, judge_answer, leads_back
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
def test_what_an_answer_says(outcome: PageOutcome, status: int | None, answer: Answer) -> None:
    assert judge_answer(7, outcome, status) is answer
    # Whatever it answers, page 1 is not beyond the end.
    assert judge_answer(1, outcome, status) is (Answer.PAGE if answer is Answer.PAGE else Answer.TROUBLE)


@pytest.mark.parametrize(
    ("asked", "landed", "away", "back"),
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
def test_where_a_redirect_led(asked: str, landed: str, away: bool, back: bool) -> None:
    rows = "?rows=90" if "rows" in asked else ""
    assert is_led_away(asked, landed, f"{BOOKS}{rows}") is away
    assert leads_back(asked, landed, [BOOKS]) is back


def test_one_path_for_all_pages_of_a_shop() -> None:
    home = f"{SHOP}/index.php?route=product/category&path=20"
    asked = f"{home}&page=9"
    assert is_led_away(asked, home, home)
    assert leads_back(asked, home, [home])
    assert not leads_back(asked, f"{SHOP}/index.php?route=account/login", [home])


def answered(habit: str, last: int, number: int) -> int | None:
    """What a page shows on a site of so many pages; None where it shows nothing."""
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
def test_the_last_page_is_found_wherever_a_sweep_begins(
    habit: str, last: int, first: int, guess: int | None, tells_next: bool
) -> None:
    """A sweep reads on from where it begins, until a page shows nothing or what another one did."""
    prints: dict[int, int] = {}
    number = first
    while (shown := answered(habit, last, number)) is not None and shown not in prints.values():
        prints[number] = shown
        number += 1
    if shown is not None:
        prints[number] = shown
    prints.setdefault(1, 1)
    if number == 1:
        return
    search = EndSearch.begin(prints, number, guess)
    asked = 0
    while (probe := search.probe) is not None:
        shown = answered(habit, last, probe)
        new = search.note(probe, shown, has_next=probe != last if tells_next else shown is not None)
        assert not new or probe <= last
        asked += 1
    assert search.last == last
    assert asked <= math.ceil(math.log2(300)) + 1


def test_a_page_that_shows_an_earlier_one_is_the_end_as_well() -> None:
    prints = {number: number for number in range(1, 13)} | {13: 5}
    assert EndSearch.begin(prints, 13).last == 12
