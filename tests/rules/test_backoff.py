"""How long to wait before the next attempt."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricewatch.rules.backoff import JITTER, LONGEST_DELAY, backoff, retry_after

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_delay_doubles_from_one_to_thirty_seconds() -> None:
    assert [backoff(failures, 0.5) for failures in range(1, 8)] == [1, 2, 4, 8, 16, 30, 30]


@given(st.integers(-5, 10_000), st.floats(0, 1))
def test_jittered_delay_never_exceeds_the_maximum(failures: int, chance: float) -> None:
    pause = backoff(failures, chance)
    assert (1 - JITTER) <= pause <= LONGEST_DELAY


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("Fri, 01 May 2026 12:00:30 GMT", 30),
        ("Friday, 01-May-26 12:00:30 GMT", 30),
        ("Fri, 01 May 2026 12:00:30", 30),
        ("Fri, 01 May 2026 11:00:00 GMT", 0),
        ("Fri May  1 12:00:30 2026", 30),
        ("99999999999999999999", 999_999_999),
        ("Fri, 01 May 99999999999999999999 12:00:30 GMT", None),
        ("Fri, 01 May 2026 12:00:30 +99999999999999999999", None),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        (None, None),
        ("１２", None),
    ],
)
def test_retry_after_is_parsed(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


@given(st.text())
def test_retry_after_accepts_any_text(value: str) -> None:
    wish = retry_after(value, NOW)
    assert wish is None or wish >= 0
