"""The book's clock: what slow answers, drift and a clock that was set do to it."""

from __future__ import annotations

import pytest

from pricewatch.middlewares.book_clock import BookClock

AHEAD = 1_000_000.0


def told(clock: BookClock, at: float, there: float, back: float, ahead: float = AHEAD) -> None:
    """An exchange: asked at this moment, read by the book some time later, answered some time after that."""
    clock.learn(at, at + there + ahead, at + there + back)


def test_one_quick_answer_tells_it() -> None:
    clock = BookClock()
    told(clock, 10.0, 0.001, 0.001)
    assert clock.ours(AHEAD + 12.0) == pytest.approx(12.0, abs=0.0001)


def test_an_answer_that_took_long_to_arrive_moves_nothing() -> None:
    clock = BookClock()
    told(clock, 10.0, 0.001, 0.001)
    told(clock, 11.0, 0.001, 0.5)
    assert clock.ours(AHEAD + 12.0) == pytest.approx(12.0, abs=0.001)


def test_a_first_answer_that_took_long_is_corrected_by_a_quick_one() -> None:
    clock = BookClock()
    told(clock, 10.0, 0.001, 0.5)
    assert clock.ours(AHEAD + 12.0) == pytest.approx(12.25, abs=0.001)
    told(clock, 11.0, 0.002, 0.002)
    assert clock.ours(AHEAD + 12.0) == pytest.approx(12.0, abs=0.001)


def test_a_clock_that_was_set_is_believed_at_once() -> None:
    clock = BookClock()
    told(clock, 10.0, 0.001, 0.001)
    told(clock, 11.0, 0.001, 0.001, AHEAD + 3600)
    assert clock.ours(AHEAD + 3600 + 12.0) == pytest.approx(12.0, abs=0.001)


def test_slow_drift_is_followed() -> None:
    clock = BookClock()
    for second in range(0, 3600, 10):
        told(clock, second, 0.001, 0.001, AHEAD + second * 5e-5)
    assert clock.ours(AHEAD + 3600 * 1.00005) == pytest.approx(3600, abs=0.003)
