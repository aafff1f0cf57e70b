"""How the time of a regular expression grows with its input."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from typing import Any

from tests.patterns.adversarial_texts import Text, adversarial_texts, build

SHORT, LONG = 8 * 1024, 64 * 1024
# From SHORT to LONG; linear is 8, quadratic 64.
MAX_GROWTH = 16.0
# Of all texts, those that may be slow are found with shorter ones.
FIRST_SHORT, FIRST_LONG = 1024, 8 * 1024
SUSPECTS = 4
# Less for a LONG text is noise; a quadratic expression takes ten times as long.
LEAST_SECONDS = 0.01
# The clock of a busy machine moves in steps.
MEASURED_SECONDS = 0.05
MAX_SECONDS = 1.0
Run = Callable[[str], None]


class TooSlow(Exception):
    """A text takes longer than MAX_SECONDS."""


def slow_text(pattern: re.Pattern[Any], methods: frozenset[str] = frozenset()) -> str | None:
    """Describe a text on which the time grows faster than MAX_GROWTH; None if there is none."""
    texts = adversarial_texts(pattern)
    for method in sorted(methods or {"finditer"}):
        run = _run(pattern, method)
        for text in _suspects(run, texts):
            if _is_slow(run, text):
                start, part, end = text
                described = f"{start!r} + {part!r} * n + {end!r}"
                return f"more than {MAX_GROWTH:.0f} times the time for 8 times {described}"
    return None


def _suspects(run: Run, texts: list[Text]) -> list[Text]:
    """Return the texts with the longest times and with the highest growth."""
    times: list[tuple[float, float, Text]] = []
    for text in texts:
        try:
            short, long = (_seconds(run, build(text, length)) for length in (FIRST_SHORT, FIRST_LONG))
        except TooSlow:
            return [text]
        times.append((long, long / max(short, LEAST_SECONDS / 100), text))
    longest = sorted(times, key=lambda each: each[0], reverse=True)[:SUSPECTS]
    growing = sorted(times, key=lambda each: each[1], reverse=True)[:SUSPECTS]
    return list(dict.fromkeys(text for *_, text in (*longest, *growing)))


def _is_slow(run: Run, text: Text) -> bool:
    try:
        # Other processes disturb a measurement; the best of three counts.
        return all(_growth(run, text) > MAX_GROWTH for _ in range(3))
    except TooSlow:
        return True


def _growth(run: Run, text: Text) -> float:
    """Return the time for a LONG text in relation to a SHORT one, or 0 if it is too short to be measured."""
    short_text, long_text = build(text, SHORT), build(text, LONG)
    once = _seconds(run, long_text)
    if once < LEAST_SECONDS:
        return 0.0
    times = ceil(MEASURED_SECONDS / once)
    long = _seconds(run, long_text, times) / times
    # As many characters in all, so that both measurements take as long if the time is linear.
    times *= LONG // SHORT
    return long / (_seconds(run, short_text, times) / times)


def _run(pattern: re.Pattern[Any], method: str) -> Run:
    call = getattr(pattern, method) if method in ("search", "match", "fullmatch") else None

    def run(text: str) -> None:
        whole = text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text
        if call is not None:
            call(whole)
            return
        for _ in pattern.finditer(whole):
            pass

    return run


def _seconds(run: Run, text: str, times: int = 1) -> float:
    """Return the CPU time of several runs."""
    with _time_limit(MAX_SECONDS * times):
        started = time.process_time()
        for _ in range(times):
            run(text)
        return max(time.process_time() - started, 1e-9)


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Interrupt the block after some CPU time; regular expressions check for signals."""

    def interrupt(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
