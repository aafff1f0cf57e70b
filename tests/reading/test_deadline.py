"""The deadline of reading in the main thread: what it interrupts, and what it leaves alone."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pricewatch.reading.deadline import ReadTimeout, run_within
from tests.reading.slow_adapters import backtrack


@pytest.fixture(autouse=True)
def other_alarms() -> Iterator[list[int]]:
    """Alarms that are not about reading go to the handler that was there before."""
    alarms: list[int] = []
    timer = signal.setitimer(signal.ITIMER_REAL, 0)
    handler = signal.signal(signal.SIGALRM, lambda number, _: alarms.append(number))
    yield alarms
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, *timer)


class SlowDestructor:
    def __del__(self) -> None:
        loop()


def loop() -> None:
    while True:
        pass


def destroy_and_loop() -> None:
    SlowDestructor()
    loop()


@pytest.mark.parametrize("read", [backtrack, loop, lambda: time.sleep(60), destroy_and_loop])
def test_reading_is_interrupted(read: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Python only reports an exception in a destructor.
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    with pytest.raises(ReadTimeout, match=r"not read within 0\.1 seconds"):
        run_within(0.1, read)


def test_time_that_other_processes_use_does_not_count() -> None:
    assert run_within(1, lambda: time.sleep(1.2)) is None


def test_result_and_exceptions_are_those_of_the_call() -> None:
    assert run_within(5, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        run_within(5, lambda: 1 // 0)


def test_alarm_after_the_reading_does_nothing(other_alarms: list[int]) -> None:
    run_within(5, int)
    os.kill(os.getpid(), signal.SIGALRM)
    assert other_alarms == [signal.SIGALRM]
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_timer_of_other_code_is_kept() -> None:
    signal.setitimer(signal.ITIMER_REAL, 60, 30)
    run_within(5, int)
    left, interval = signal.getitimer(signal.ITIMER_REAL)
    assert 50 < left <= 60
    assert interval == 30
