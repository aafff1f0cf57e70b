"""Load one page in the browser of a crawl, and describe the processes of the browser while it is open.

`python -m tests.fetching.browser_processes URL [USER_ID]` prints JSON; with a user id, it runs as that user.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import scrapy
from playwright.async_api import Page
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Request, Response
from scrapy.utils.project import get_project_settings
from scrapy_playwright.page import PageMethod
from twisted.python.failure import Failure

from pricewatch.fetching.browser import chromium_browser, playwright_handler  # noqa: F401 - before the user
from pricewatch.fetching.per_crawl import per_crawl

# Only the browser is tested: no database, no rate limit.
SETTINGS = {
    "ADDONS": {},
    "EXTENSIONS": {},
    "EXTENSIONS_BASE": {},
    "ITEM_PIPELINES": {},
    "DOWNLOADER_MIDDLEWARES": {},
    "DOWNLOADER_MIDDLEWARES_BASE": {},
    "RATE_LIMIT_ENABLED": False,
    "LOG_LEVEL": "DEBUG",
}
found: dict[str, Any] = {}


class OnePageSpider(scrapy.Spider):
    name = "one_page"

    async def start(self) -> AsyncIterator[Request]:
        if len(sys.argv) > 2:
            change_user(int(sys.argv[2]))
        meta = {"playwright": True, "playwright_page_methods": [PageMethod(describe)]}
        yield Request(sys.argv[1], meta=meta, callback=self.loaded, errback=self.failed)

    def loaded(self, response: Response) -> None:
        found["page"] = response.text
        found["meta"] = repr(response.meta)

    def failed(self, failure: Failure) -> None:
        found["reason"] = getattr(failure.value, "reason", None)
        found["message"] = str(failure.value)


def change_user(user: int) -> None:
    """Give up root after all imports: another user may not be able to read the interpreter's files."""
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)


async def describe(page: Page) -> None:
    found["processes"] = []
    for process in psutil.Process().children(recursive=True):
        # Processes may end meanwhile; the command line of one that has ended is empty.
        with suppress(psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
            described = {
                "command": process.cmdline(),
                "seccomp": _status(process.pid, "Seccomp"),
                "user": process.uids().effective,
                "environment": _environment(process),
            }
            if described["command"]:
                found["processes"].append(described)


def _status(pid: int, field: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def _environment(process: psutil.Process) -> dict[str, str] | None:
    """Return the environment; the kernel hides that of sandboxed processes from everyone but root."""
    with suppress(psutil.AccessDenied):
        environment: dict[str, str] = process.environ()
        return environment
    return None


def main() -> None:
    settings = get_project_settings()
    settings.setdict(SETTINGS, priority="cmdline")
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(OnePageSpider)
    process.crawl(crawler)
    process.start()
    found["missing"] = crawler.stats.get_value("pricewatch/browser/missing", 0) if crawler.stats else None
    browser = per_crawl(crawler, chromium_browser.Browser)
    found["password"] = browser._forward_proxy._password
    print(json.dumps(found))


if __name__ == "__main__":
    main()
