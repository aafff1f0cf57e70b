"""The log of one job: a hostile page must not fill the disk with log lines.

Only the standard library: jobs load this file by its path, before anything of the project is imported.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import Any

MAX_MESSAGE = 10_000


def cut(text: str) -> str:
    """Return the text without what is beyond the longest message that is logged."""
    if len(text) <= MAX_MESSAGE:
        return text
    return f"{text[:MAX_MESSAGE]}… ({len(text) - MAX_MESSAGE} more characters)"


class JobLog(logging.FileHandler):
    """A log file that stops growing at a limit; the number of messages left out is its last line."""

    max_bytes = 10 * 2**20
    redact: Callable[[str], str] = staticmethod(str)

    def __init__(self, filename: Any, *args: Any, **options: Any) -> None:
        # Text of a page may have characters that no encoding allows.
        super().__init__(filename, *args, **{**options, "errors": "backslashreplace"})
        self._left_out = 0
        # A job that is started again continues its file.
        self._bytes = os.path.getsize(filename) if os.path.exists(filename) else 0

    def format(self, record: logging.LogRecord) -> str:
        text = cut(self.redact(super().format(record)))
        self._bytes += len(text.encode(errors="backslashreplace")) + 1
        return text

    def emit(self, record: logging.LogRecord) -> None:
        if self._bytes < self.max_bytes:
            super().emit(record)
            return
        if not self._left_out:
            self._write(f"The log has reached its limit of {self.max_bytes} bytes; the rest is left out.")
        self._left_out += 1

    def close(self) -> None:
        if self._left_out and self.stream is not None:
            self._write(f"{self._left_out} messages were left out.")
            self._left_out = 0
        super().close()

    def _write(self, line: str) -> None:
        super().emit(logging.LogRecord("pricewatch", logging.WARNING, "", 0, line, (), None))


def limit_log_files(max_bytes: int, redact: Callable[[str], str]) -> None:
    """Make every log file of this process a `JobLog`: Scrapy has no setting for the class."""
    JobLog.max_bytes = max_bytes
    JobLog.redact = staticmethod(redact)
    logging.FileHandler = JobLog  # type: ignore[misc]
