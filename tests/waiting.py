"""Wait for events in other processes."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(happened: Callable[[], object], seconds: float = 60, every: float = 0.05) -> None:
    """Wait until a condition is true; the timeout only prevents waiting forever."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, f"it did not happen within {seconds} seconds"
        time.sleep(every)
