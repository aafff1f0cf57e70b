"""Says in the log what a person wants to read there: nothing per page and item, a line per drop."""

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
        if logging.getLogger("scrapy.core.engine").isEnabledFor(logging.DEBUG):
            return super().crawled(request, response, spider)
        return None

    def scraped(  # type: ignore[override]  # None: do not log
        self, item: Any, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult | None:
        return None

    def dropped(
        self, item: Any, exception: BaseException, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult:
        url = getattr(response, "url", "?")
        return {
            "level": logging.INFO,
            "msg": "Dropped %(url)s: %(why)s",
            "args": {"url": url, "why": exception},
        }
