"""Waiting for what happens in another process and tells nobody."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(happened: Callable[[], object], seconds: float = 60, every: float = 0.05) -> None:
    """How long is only a guard against waiting for ever."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(every)
