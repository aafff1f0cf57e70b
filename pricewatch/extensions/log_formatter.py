"""A log formatter that logs a line per dropped item, but pages and items only at the DEBUG level."""

from __future__ import annotations

import logging
from typing import Any

from scrapy import Spider
from scrapy.http import Request, Response
from scrapy.logformatter import LogFormatter, LogFormatterResult
from twisted.python.failure import Failure


class QuietLogFormatter(LogFormatter):
    def crawled(  # type: ignore[override]  # None: do not log
        self, request: Request, response: Response, spider: Spider
    ) -> LogFormatterResult | None:
        return super().crawled(request, response, spider) if _logs_debug("engine") else None

    def scraped(  # type: ignore[override]  # None: do not log
        self, item: Any, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult | None:
        return super().scraped(item, response, spider) if _logs_debug("scraper") else None

    def dropped(
        self, item: Any, exception: BaseException, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult:
        url = getattr(response, "url", "?")
        return {
            "level": logging.INFO,
            "msg": "Dropped %(url)s: %(why)s",
            "args": {"url": url, "why": exception},
        }


def _logs_debug(part: str) -> bool:
    """Return whether any handler writes DEBUG records; Scrapy's loggers themselves accept all levels."""
    logger: logging.Logger | None = logging.getLogger(f"scrapy.core.{part}")
    while logger is not None and logger.isEnabledFor(logging.DEBUG):
        if any(handler.level <= logging.DEBUG for handler in logger.handlers):
            return True
        logger = logger.parent if logger.propagate else None
    return False
