"""A deadline for reading a page in the main thread: an alarm signal interrupts Python code and `re`.

Code in C is not interrupted before it returns; see `page_reader.py` for pages that are read in a process.
"""

from __future__ import annotations

import signal
import threading
import time

# The one of `signal` converts its result to an enumeration, which takes longer than everything else here.
from _signal import getsignal  # type: ignore[import-not-found]
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple, TypeVar

R = TypeVar("R")
# The deadline is processor time, so that ordinary pages do not fail on a busy machine. The time on the clock
# is limited to this many times as much.
CLOCK_FACTOR = 5
# The alarm repeats, because an exception that is raised inside a destructor is lost.
_REPEAT_SECONDS = 0.1


class ReadTimeout(BaseException):
    """A page could not be read within its bounds of time and memory.

    Not an `Exception`, so that no handler in an adapter catches it.
    """


class _Deadline(NamedTuple):
    seconds: float
    processor_end: float
    clock_end: float


# What is read now; the alarm does nothing if it is None.
_current: _Deadline | None = None
_other_handler: Any = None


def is_main_thread() -> bool:
    """Return whether this thread can have a deadline: signals interrupt only the main thread."""
    return threading.current_thread() is threading.main_thread()


def run_within(seconds: float, read: Callable[[], R]) -> R:
    """Call `read`, and raise `ReadTimeout` if it takes more processor time than this. Main thread only."""
    global _current, _other_handler
    if getsignal(signal.SIGALRM) is not _on_alarm:
        _other_handler = signal.signal(signal.SIGALRM, _on_alarm)
    outer, started = _current, time.monotonic()
    _current = _Deadline(seconds, time.thread_time() + seconds, started + CLOCK_FACTOR * seconds)
    other_timer = (0.0, 0.0)
    try:
        other_timer = signal.setitimer(signal.ITIMER_REAL, seconds, _REPEAT_SECONDS)
        return read()
    finally:
        # First, because Python handles signals after calls: a late alarm must find nothing to interrupt.
        _current = outer
        signal.setitimer(signal.ITIMER_REAL, 0)
        if other_timer[0]:
            left = other_timer[0] - (time.monotonic() - started)
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001), other_timer[1])


def _on_alarm(number: int, frame: FrameType | None) -> None:
    if _current is None:
        if callable(_other_handler):
            _other_handler(number, frame)
        return
    processor_left = _current.processor_end - time.thread_time()
    clock_left = _current.clock_end - time.monotonic()
    if processor_left > 0 and clock_left > 0:
        signal.setitimer(signal.ITIMER_REAL, min(processor_left, clock_left), _REPEAT_SECONDS)
        return
    raise ReadTimeout(f"not read within {_current.seconds:g} seconds")
