"""Which product pages are read: pages never read first, then the longest overdue."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from pricewatch.rules.detail_pages import due_after_answer, due_after_trouble, in_order, is_due

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
due = st.none() | st.timedeltas(timedelta(days=-3), timedelta(days=3)).map(lambda d: NOW + d)


def test_a_page_is_due_again_after_a_day():
    assert not is_due(due_after_answer(NOW - timedelta(hours=23, minutes=59)), NOW)
    assert is_due(due_after_answer(NOW - timedelta(hours=24)), NOW)
    assert is_due(None, NOW)


def test_failed_page_is_retried_after_pages_never_tried():
    failed = (1, due_after_trouble(NOW - timedelta(hours=2)))
    assert in_order([failed, (2, None)], NOW) == [2, 1]


@given(st.lists(due, max_size=300), st.integers(0, 150))
def test_pages_never_read_come_first_up_to_the_limit(dues, most):
    listed = list(enumerate(dues))
    chosen = in_order(listed, NOW, most)
    assert len(chosen) == min(most, sum(is_due(each, NOW) for each in dues))
    keys = [(dues[i] is not None, dues[i] or NOW) for i in chosen]
    assert keys == sorted(keys)
    left = [dues[i] for i in range(len(dues)) if i not in chosen and is_due(dues[i], NOW)]
    if chosen and left:
        last = dues[chosen[-1]]
        assert all(last is None or (each is not None and each >= last) for each in left)
