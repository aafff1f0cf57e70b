"""Logs an outage of the database once when it begins and once when it ends, not at every attempt."""

from __future__ import annotations

from twisted.logger import Logger
from twisted.python.failure import Failure

log = Logger()


class Outage:
    """`activity` is what is repeated until it succeeds, as the log names it."""

    def __init__(self, activity: str) -> None:
        self.activity = activity
        self._last_error: str | None = None

    def record_failure(self, failure: Failure) -> None:
        """Handle a failure as an errback; the caller tries again."""
        lines = str(failure.value).strip().splitlines()
        error = f"{type(failure.value).__name__}: {lines[0] if lines else ''}"
        if self._last_error != error:
            log.warn("{activity} failed, retrying: {error}", activity=self.activity, error=error)
        self._last_error = error

    def record_success(self) -> None:
        if self._last_error is not None:
            log.info("{activity} works again", activity=self.activity)
        self._last_error = None
