"""The marketplace's own clock: it stands still until told, or runs at a multiple of real time."""

import time
from datetime import UTC, datetime, timedelta

# Far enough for any test, near enough for any calendar.
LIMIT = 20 * 365 * 86_400


class Clock:
    """Seconds since the start instant, and the dates that they stand for."""

    def __init__(self, start: datetime, rate: float = 0.0) -> None:
        self.start = start.astimezone(UTC).replace(microsecond=0)
        self.rate = rate
        self._offset = 0.0
        self._since = time.monotonic()

    def now(self) -> float:
        """Return the seconds since the start instant."""
        if not self.rate:
            return self._offset
        return self._offset + (time.monotonic() - self._since) * self.rate

    def set(self, seconds: float) -> None:
        """Move the hands; a running clock runs on from there."""
        if not -LIMIT <= seconds <= LIMIT:
            raise ValueError("the clock cannot be moved by more than twenty years")
        self._offset = seconds
        self._since = time.monotonic()

    def set_date(self, moment: datetime) -> None:
        """Move the hands to a date."""
        self.set((moment - self.start).total_seconds())

    def seconds(self, moment: datetime) -> int:
        """Return how many seconds after the start instant a date is."""
        return round((moment - self.start).total_seconds())

    def date(self, seconds: float) -> datetime:
        """Return the date that many seconds after the start instant."""
        return self.start + timedelta(seconds=seconds)

    def iso(self, seconds: float) -> str:
        """Return that date in ISO 8601, UTC."""
        return self.date(seconds).isoformat().replace("+00:00", "Z")
