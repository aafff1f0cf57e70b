"""Which pages a sweep reads, and whether its cycle counts as complete."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pricewatch.rules.sweep_cycle import Cycle, covers, judge_cycle, should_have_price, shows_prices, window


def test_window_follows_the_example_of_the_specification():
    assert window(None) == (1, 50)
    assert window(50) == (45, 95)
    assert window(95) == (90, 140)
    assert window(140) == (135, 185)


@given(st.integers(1, 10_000), st.integers(2, 200), st.data())
def test_windows_overlap_and_advance(last, pages, data):
    overlap = data.draw(st.integers(0, pages - 1))
    first, end = window(last, pages=pages, overlap=overlap)
    assert first <= last + 1
    assert end > last
    assert first == max(1, last - overlap)


@given(st.integers(1, 400), st.integers(2, 60), st.data())
def test_every_page_of_a_site_is_read(site, pages, data):
    overlap = data.draw(st.integers(0, pages - 1))
    read: set[int] = set()
    last = None
    for _ in range(1000):
        first, end = window(last, pages=pages, overlap=overlap)
        read.update(range(first, min(end, site) + 1))
        if end >= site:
            break
        last = end
    assert read == set(range(1, site + 1))


def test_cycle_that_saw_a_quarter_is_not_complete():
    assert not covers(20_000, 83_000)
    assert covers(60_000, 83_000)


def test_first_cycle_is_complete_if_it_saw_anything():
    assert covers(1, None)
    assert not covers(0, None)
    assert not covers(0, 0)


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_more_cards_never_make_a_cycle_partial(seen, before):
    assert not covers(seen, before) or covers(seen + 1, before)


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_smaller_market_is_accepted_when_two_cycles_agree(before, seen):
    small = int(0.69 * before * (seen / 10**6))
    assume(small > 0)
    assert judge_cycle(small, before, None) is Cycle.PARTIAL
    assert judge_cycle(small, before, small) is Cycle.SHRUNK


def test_two_cycles_may_differ_by_ten_percent():
    assert judge_cycle(60, 150, 66) is Cycle.SHRUNK
    assert judge_cycle(66, 150, 60) is Cycle.SHRUNK
    assert judge_cycle(60, 150, 67) is Cycle.PARTIAL
    assert judge_cycle(60, 150, 67, agreement=0.2) is Cycle.SHRUNK
    assert judge_cycle(140, 150, 60) is Cycle.COMPLETE
    # An empty cycle is never accepted.
    assert judge_cycle(0, 150, 0) is Cycle.PARTIAL


@pytest.mark.parametrize(
    ("share", "last", "doubted", "fine"),
    [
        (0.0, None, None, True),
        (None, 1.0, None, True),
        (1.0, 0.0, None, True),
        (0.75, 1.0, None, True),
        (0.65, 1.0, None, False),
        # A second cycle that agrees is accepted; one that does not is doubtful too.
        (0.65, 1.0, 0.6, True),
        (0.65, 1.0, 0.0, False),
    ],
)
def test_lower_price_share_is_doubtful_until_a_second_cycle_agrees(share, last, doubted, fine):
    assert shows_prices(share, last, doubted) is fine


def test_sold_out_cards_need_no_price():
    assert [should_have_price(word) for word in (None, "IN_STOCK", "LISTED", "OUT_OF_STOCK", "SOLD")] == [
        *(True, True, True, False, False)
    ]
