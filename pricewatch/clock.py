"""The one place that asks what time it is, so that a simulation can move the clock."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

_offset = timedelta(seconds=float(os.environ.get("PRICEWATCH_CLOCK_OFFSET", "0")))


def now() -> datetime:
    return datetime.now(UTC) + _offset


def move(offset: timedelta) -> None:
    """Set how far this process is ahead of the real time."""
    global _offset
    _offset = offset
