"""The clock of the marketplace: set by its control interface, or running at a multiple of real time."""

import time
from datetime import UTC, datetime, timedelta

# The largest distance from the start, so that every date stays within the calendar.
LIMIT = 20 * 365 * 86_400


class MarketplaceClock:
    """Seconds since the start time, and the dates that they correspond to."""

    def __init__(self, start: datetime, rate: float = 0.0) -> None:
        self.start = start.astimezone(UTC).replace(microsecond=0)
        self.rate = rate
        self._offset = 0.0
        self._since = time.monotonic()

    def now(self) -> float:
        """Return the seconds since the start time."""
        if not self.rate:
            return self._offset
        return self._offset + (time.monotonic() - self._since) * self.rate

    def set(self, seconds: float) -> None:
        """Set the clock; a running clock continues from there."""
        if not -LIMIT <= seconds <= LIMIT:
            raise ValueError("the clock cannot be moved by more than twenty years")
        self._offset = seconds
        self._since = time.monotonic()

    def set_date(self, moment: datetime) -> None:
        """Set the clock to a date."""
        self.set((moment - self.start).total_seconds())

    def seconds(self, moment: datetime) -> int:
        """Return the seconds from the start time to a date."""
        return round((moment - self.start).total_seconds())

    def date(self, seconds: float) -> datetime:
        """Return the date this many seconds after the start time."""
        return self.start + timedelta(seconds=seconds)

    def iso(self, seconds: float) -> str:
        """Return the date in ISO 8601, UTC."""
        return self.date(seconds).isoformat().replace("+00:00", "Z")
