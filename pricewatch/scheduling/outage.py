"""Says once that the database is away, and once that it is back: not every second in between."""

from __future__ import annotations

from twisted.logger import Logger
from twisted.python.failure import Failure

log = Logger()


class Outage:
    def __init__(self, what: str) -> None:
        self.what = what
        self._complaint: str | None = None

    def note(self, failure: Failure) -> None:
        """Something failed; it is tried again, so this is no end of anything."""
        lines = str(failure.value).strip().splitlines()
        complaint = f"{type(failure.value).__name__}: {lines[0] if lines else ''}"
        if self._complaint != complaint:
            log.warn("{what} cannot go on for now, and is tried again: {why}", what=self.what, why=complaint)
        self._complaint = complaint

    def over(self) -> None:
        if self._complaint is not None:
            log.info("{what} goes on", what=self.what)
        self._complaint = None
