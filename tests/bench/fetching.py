"""How much the middlewares cost: the same crawl with all of them on and off.

The bar is a ratio within one run: with everything on and limits lifted, at least 0.9 of the speed without.
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

from pricewatch import settings as ours
from pricewatch.bazaar.client import Bazaar
from pricewatch.spiders.base import OUR_COMPONENTS, OUR_SETTINGS
from tests.bench.figure import Figure, rounds

PAGES = 1000
ROUNDS = 5
BAR = 0.9
ROOT = Path(__file__).parents[2]
# Both as our own spiders have them, for what has nothing to do with fetching.
BOTH: dict[str, Any] = {
    "ADDONS": {},
    "RUN_ENABLED": False,
    "ITEM_PIPELINES": {},
    "LOG_LEVEL": "ERROR",
    "SPIDER_MIDDLEWARES": OUR_COMPONENTS["SPIDER_MIDDLEWARES"],
    **OUR_SETTINGS,
}
ON: dict[str, Any] = {
    "DOWNLOADER_MIDDLEWARES": {
        **ours.DOWNLOADER_MIDDLEWARES,
        **OUR_COMPONENTS["DOWNLOADER_MIDDLEWARES"],
    },
}
# Fetching as Scrapy comes with it.
OFF: dict[str, Any] = {
    "DOWNLOADER_MIDDLEWARES": {},
    "DOWNLOAD_HANDLERS": {},
    "DOWNLOADER": "scrapy.core.downloader.Downloader",
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
    "TWISTED_DNS_RESOLVER": "scrapy.resolver.CachingThreadedResolver",
    "ROBOTSTXT_OBEY": False,
}


class ReadAll(scrapy.Spider):
    """Asks for every page once and looks at it a little, as any spider does."""

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


def crawl(order: dict[str, Any]) -> None:
    from scrapy.utils.project import get_project_settings

    settings = get_project_settings()
    settings.setdict({**BOTH, **order["settings"]}, priority="cmdline")
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(ReadAll)
    process.crawl(crawler, urls=order["urls"])
    process.start()
    spider = crawler.spider
    if not isinstance(spider, ReadAll) or spider.read != len(order["urls"]):
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
    """Pages a second with and without, and their ratio: of neighbours in time, so that noise hits both."""
    pairs = []
    for number in range(rounds(ROUNDS)):
        both = {"on": ON, "off": OFF} if number % 2 else {"off": OFF, "on": ON}
        pairs.append({name: measure(urls, settings, environment) for name, settings in both.items()})
    ratio = median(pair["on"] / pair["off"] for pair in pairs)
    return median(pair["on"] for pair in pairs), median(pair["off"] for pair in pairs), ratio


def run() -> list[Figure]:
    with (
        tempfile.TemporaryDirectory(prefix="pw", ignore_cleanup_errors=True) as var,
        Bazaar.start(seed=5, listings=2000) as bazaar,
    ):
        environment = {"PRICEWATCH_VAR": var, "PYTHONPATH": str(ROOT)}
        # In a process of its own: this one may have another database.
        subprocess.run(
            [sys.executable, "-m", "tests.bench.fetching", "prepare", bazaar.url],
            cwd=ROOT,
            env={**os.environ, **environment},
            check=True,
        )
        offered = [listing.url for listing in bazaar.truth() if listing.state == "on_sale"]
        urls = [bazaar.url + offered[n % len(offered)] for n in range(PAGES)]
        on, off, ratio = compare(urls, environment)
    pairs = f"median of {rounds(ROUNDS)} pairs"
    note = f"{PAGES} product pages, limits lifted; baseline: all middlewares off; {pairs}"
    return [Figure("fetching, all middlewares on", on, "pages/s", off, ratio, BAR, note=note)]


def prepare(url: str) -> None:
    """Make a database, with the sample source at this marketplace: its limits are lifted."""
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
