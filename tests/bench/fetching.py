"""The cost of the middlewares: the same crawl with all of them and with none.

With all middlewares, and without rate limits, the speed must be at least 0.9 of the speed with none.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import median
from typing import Any

import scrapy
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Request, Response

from pricewatch import settings as project_settings
from pricewatch.bazaar.client import Bazaar
from pricewatch.spiders.base import SPIDER_SETTINGS, UNUSED_COMPONENTS
from tests.bench.metric import Metric, rounds

PAGES = 1000
ROUNDS = 5
LIMIT = 0.9
ROOT = Path(__file__).parents[2]
# Settings of both crawls: those of pricewatch's spiders that do not concern fetching.
BOTH: dict[str, Any] = {
    "ADDONS": {},
    "RUN_ENABLED": False,
    "ITEM_PIPELINES": {},
    "LOG_LEVEL": "ERROR",
    "SPIDER_MIDDLEWARES": UNUSED_COMPONENTS["SPIDER_MIDDLEWARES"],
    **SPIDER_SETTINGS,
}
ON: dict[str, Any] = {
    "DOWNLOADER_MIDDLEWARES": {
        **project_settings.DOWNLOADER_MIDDLEWARES,
        **UNUSED_COMPONENTS["DOWNLOADER_MIDDLEWARES"],
    },
}
# Scrapy's defaults for fetching.
OFF: dict[str, Any] = {
    "DOWNLOADER_MIDDLEWARES": {},
    "DOWNLOAD_HANDLERS": {},
    "DOWNLOADER": "scrapy.core.downloader.Downloader",
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
    "TWISTED_DNS_RESOLVER": "scrapy.resolver.CachingThreadedResolver",
    "ROBOTSTXT_OBEY": False,
}


class ReadAll(scrapy.Spider):
    """Request every page once and select one element, as any spider does."""

    name = "read_all"
    urls: list[str]
    read = 0
    began = 0.0

    async def start(self) -> AsyncIterator[Request]:
        for url in self.urls:
            yield Request(url, dont_filter=True)

    def parse(self, response: Response, **_: Any) -> None:
        self.read += 1
        self.began = self.began or time.perf_counter()
        response.css("h1::text").get()


def crawl(options: dict[str, Any]) -> None:
    from scrapy.utils.project import get_project_settings

    settings = get_project_settings()
    settings.setdict({**BOTH, **options["settings"]}, priority="cmdline")
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(ReadAll)
    process.crawl(crawler, urls=options["urls"])
    process.start()
    spider = crawler.spider
    if not isinstance(spider, ReadAll) or spider.read != len(options["urls"]):
        raise SystemExit(f"the crawl is not complete: {crawler.stats.get_stats()}")
    print((spider.read - 1) / (time.perf_counter() - spider.began))


def measure(urls: list[str], settings: dict[str, Any], environment: dict[str, str]) -> float:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.fetching", "crawl"],
        input=json.dumps({"urls": urls, "settings": settings}),
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        check=True,
    )
    return float(done.stdout)


def compare(urls: list[str], environment: dict[str, str]) -> tuple[float, float, float]:
    """Return pages per second with and without, and the median ratio of consecutive crawls."""
    pairs = []
    for number in range(rounds(ROUNDS)):
        both = {"on": ON, "off": OFF} if number % 2 else {"off": OFF, "on": ON}
        pairs.append({name: measure(urls, settings, environment) for name, settings in both.items()})
    ratio = median(pair["on"] / pair["off"] for pair in pairs)
    return median(pair["on"] for pair in pairs), median(pair["off"] for pair in pairs), ratio


def run() -> list[Metric]:
    with (
        tempfile.TemporaryDirectory(prefix="pw", ignore_cleanup_errors=True) as var,
        Bazaar.start(seed=5, listings=2000) as bazaar,
    ):
        environment = {"PRICEWATCH_VAR": var, "PYTHONPATH": str(ROOT)}
        # In a new process: this one may use another database.
        subprocess.run(
            [sys.executable, "-m", "tests.bench.fetching", "prepare", bazaar.url],
            cwd=ROOT,
            env={**os.environ, **environment},
            check=True,
        )
        paths = [listing.url for listing in bazaar.truth() if listing.state == "on_sale"]
        urls = [bazaar.url + paths[n % len(paths)] for n in range(PAGES)]
        on, off, ratio = compare(urls, environment)
    pairs = f"median of {rounds(ROUNDS)} pairs"
    note = f"{PAGES} product pages, no rate limit; baseline: no middlewares; {pairs}"
    return [Metric("fetching with all middlewares", on, "pages/s", off, ratio, LIMIT, note=note)]


def prepare(url: str) -> None:
    """Create the database and point the sample source at this marketplace, which lifts its rate limit."""
    from sqlalchemy import text

    from pricewatch.store.engine.database import engine

    with engine().begin() as connection:
        connection.execute(text("UPDATE sources SET base_url = :url WHERE id = 'bazaar'"), {"url": url})


def main(words: list[str]) -> int:
    if words[:1] == ["prepare"]:
        prepare(words[1])
        return 0
    if words == ["crawl"]:
        crawl(json.load(sys.stdin))
        return 0
    raise SystemExit("python -m tests.bench fetching")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
