"""The current time. Everything gets it from here, so that a simulation can move the clock."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

_offset = timedelta(seconds=float(os.environ.get("PRICEWATCH_CLOCK_OFFSET", "0")))


def now() -> datetime:
    return datetime.now(UTC) + _offset


def move(offset: timedelta) -> None:
    """Set the offset of this process from the real time."""
    global _offset
    _offset = offset
