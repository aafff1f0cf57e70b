"""One crawl of a benchmark, in a process of its own that takes its order on stdin."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import scrapy
from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Request, Response, TextResponse
from scrapy.settings import Settings
from scrapy.utils.project import get_project_settings

from pricewatch import adapters
from pricewatch import settings as project_settings
from pricewatch.items import Extracted
from pricewatch.spiders.discovery import DiscoverySpider
from pricewatch.spiders.overview import OverviewSpider
from pricewatch.spiders.sweep import SweepSpider

ROOT = Path(__file__).parents[2]
# Scrapy as it comes, but for what makes the two comparable: as many requests at once, the same event loop.
BARE: dict[str, Any] = {
    "CONCURRENT_REQUESTS": project_settings.CONCURRENT_REQUESTS,
    "CONCURRENT_REQUESTS_PER_DOMAIN": project_settings.CONCURRENT_REQUESTS_PER_DOMAIN,
    "ASYNCIO_EVENT_LOOP": getattr(project_settings, "ASYNCIO_EVENT_LOOP", None),
    # Both would open a port.
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
}


class Watch:
    """Pages per second from the first one on, and how much memory the process holds at some of them."""

    def __init__(self, marks: list[int]) -> None:
        self.marks = set(marks)
        self.pages = 0
        self.began = self.cpu_began = 0.0
        self.memory: dict[int, int] = {}
        self._process = psutil.Process()

    def page(self) -> None:
        self.pages += 1
        if self.pages == 1:
            self.began, self.cpu_began = time.perf_counter(), time.process_time()
        if self.pages in self.marks:
            self.memory[self.pages] = self._process.memory_info().rss

    def result(self, ended: float, cpu_ended: float) -> dict[str, Any]:
        return {
            "pages": self.pages,
            "rate": (self.pages - 1) / (ended - self.began),
            # Of all threads of the process: what else the machine does hardly changes it.
            "cpu_ms": 1000 * (cpu_ended - self.cpu_began) / (self.pages - 1),
            "memory": [self.memory.get(mark) for mark in sorted(self.marks)],
        }


class BareSpider(scrapy.Spider):
    """Downloads the pages and does nothing with them."""

    name = "bare"
    urls: list[str] = []  # noqa: RUF012 - set once, before the only crawl of this process

    async def start(self) -> AsyncIterator[Request]:
        for url in self.urls:
            yield Request(url, dont_filter=True)

    def parse(self, response: Response, **_: Any) -> None:
        pass


class ReadingSpider(BareSpider):
    """Downloads the pages and reads the offer on each, as any spider for this site would."""

    def parse(self, response: Response, **_: Any) -> Any:
        if isinstance(response, TextResponse) and isinstance(
            read := adapters.get("bazaar").extract(response), Extracted
        ):
            yield asdict(read.offer)


class DetailSpider(OverviewSpider):
    """Reads product pages as discovery and sweep do, and nothing else."""

    name = "sweep"
    urls: list[str] = []  # noqa: RUF012 - set once, before the only crawl of this process

    async def start(self) -> AsyncIterator[Request]:
        for url in self.urls:
            yield self.product_request(url)


SPIDERS = {
    "bare": BareSpider,
    "reading": ReadingSpider,
    "details": DetailSpider,
    "discovery": DiscoverySpider,
    "sweep": SweepSpider,
}


def crawl(order: dict[str, Any]) -> dict[str, Any]:
    kind: str = order["kind"]
    settings = Settings(BARE) if kind in ("bare", "reading") else get_project_settings()
    settings.setdict({"LOG_LEVEL": "ERROR", **order.get("settings", {})}, "cmdline")
    spider: type[scrapy.Spider] = SPIDERS[kind]
    spider.urls = order.get("urls", [])  # type: ignore[attr-defined]
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(spider)
    watch = Watch(order.get("marks", []))
    ended: list[tuple[float, float]] = []

    def end() -> None:
        ended.append((time.perf_counter(), time.process_time()))

    crawler.signals.connect(watch.page, signals.response_received, weak=False)
    # Behind the last batch: the extension that closes the run was connected before.
    crawler.signals.connect(end, signals.engine_stopped, weak=False)
    process.crawl(crawler, **order.get("arguments", {}))
    process.start()
    return watch.result(*ended[0])


def measure(kind: str, url: str | None = None, **order: Any) -> dict[str, Any]:
    """Run one in a new process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if url:
        environment["DATABASE_URL"] = url
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.crawling"],
        input=json.dumps({"kind": kind, **order}),
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


if __name__ == "__main__":
    print(json.dumps(crawl(json.load(sys.stdin))))
