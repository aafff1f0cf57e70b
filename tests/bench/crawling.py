"""One crawl of a benchmark, in its own process, which reads its options from standard input."""

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
# Plain Scrapy with the same concurrency and the same event loop, so that both are comparable.
BARE: dict[str, Any] = {
    "CONCURRENT_REQUESTS": project_settings.CONCURRENT_REQUESTS,
    "CONCURRENT_REQUESTS_PER_DOMAIN": project_settings.CONCURRENT_REQUESTS_PER_DOMAIN,
    "ASYNCIO_EVENT_LOOP": getattr(project_settings, "ASYNCIO_EVENT_LOOP", None),
    # Both open a port.
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
}


class PageCounter:
    """Measure pages per second and CPU time from the first page on, and memory after some pages."""

    def __init__(self, memory_at: list[int]) -> None:
        self.memory_at = set(memory_at)
        self.pages = 0
        self.began = self.cpu_began = 0.0
        self.memory: dict[int, int] = {}
        self._process = psutil.Process()

    def page(self) -> None:
        self.pages += 1
        if self.pages == 1:
            self.began, self.cpu_began = time.perf_counter(), time.process_time()
        if self.pages in self.memory_at:
            self.memory[self.pages] = self._process.memory_info().rss

    def result(self, ended: float, cpu_ended: float) -> dict[str, Any]:
        return {
            "pages": self.pages,
            "rate": (self.pages - 1) / (ended - self.began),
            # CPU time of all threads, which hardly depends on the load of the machine.
            "cpu_ms": 1000 * (cpu_ended - self.cpu_began) / (self.pages - 1),
            "memory": [self.memory.get(page) for page in sorted(self.memory_at)],
        }


class BareSpider(scrapy.Spider):
    """Download the pages only."""

    name = "bare"
    urls: list[str] = []  # noqa: RUF012 - set once, before the only crawl of this process

    async def start(self) -> AsyncIterator[Request]:
        for url in self.urls:
            yield Request(url, dont_filter=True)

    def parse(self, response: Response, **_: Any) -> None:
        pass


class ReadingSpider(BareSpider):
    """Download the pages and read the offer of each, as any spider for this site would."""

    def parse(self, response: Response, **_: Any) -> Any:
        if isinstance(response, TextResponse) and isinstance(
            read := adapters.get("bazaar").extract(response), Extracted
        ):
            yield asdict(read.offer)


class DetailSpider(OverviewSpider):
    """Read product pages as discovery and sweep do."""

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


def crawl(options: dict[str, Any]) -> dict[str, Any]:
    kind: str = options["kind"]
    settings = Settings(BARE) if kind in ("bare", "reading") else get_project_settings()
    settings.setdict({"LOG_LEVEL": "ERROR", **options.get("settings", {})}, "cmdline")
    spider: type[scrapy.Spider] = SPIDERS[kind]
    spider.urls = options.get("urls", [])  # type: ignore[attr-defined]
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(spider)
    counter = PageCounter(options.get("memory_at", []))
    ended: list[tuple[float, float]] = []

    def end() -> None:
        ended.append((time.perf_counter(), time.process_time()))

    crawler.signals.connect(counter.page, signals.response_received, weak=False)
    # Called after the last batch: the extension that closes the run is connected before.
    crawler.signals.connect(end, signals.engine_stopped, weak=False)
    process.crawl(crawler, **options.get("arguments", {}))
    process.start()
    return counter.result(*ended[0])


def measure(kind: str, url: str | None = None, **options: Any) -> dict[str, Any]:
    """Run a crawl in a new process and return its measurements."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if url:
        environment["DATABASE_URL"] = url
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.crawling"],
        input=json.dumps({"kind": kind, **options}),
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
