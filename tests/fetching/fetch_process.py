"""Crawls for tests: `python -m tests.fetching.fetch_process` reads jobs in JSON and writes their results.

Each of a job's `requests` is sent once; with `until`, it is repeated for that many seconds.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import scrapy
from scrapy.crawler import AsyncCrawlerProcess, AsyncCrawlerRunner, Crawler
from scrapy.http import Request, Response
from scrapy.settings import Settings
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.project import get_project_settings
from scrapy.utils.reactor import install_reactor
from twisted.python.failure import Failure

from pricewatch import clock
from pricewatch.store.engine.database import engine


class FetchSpider(scrapy.Spider):
    name = "fetch"
    requests: list[dict[str, Any]]
    seconds: float
    ends_at: float
    results: list[dict[str, Any]]

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> FetchSpider:
        spider = super().from_crawler(crawler, *args)
        spider.requests = kwargs["requests"]
        spider.seconds = kwargs["until"]
        spider.results = []
        return spider

    async def start(self) -> AsyncIterator[Request]:
        if self.seconds:
            # Several crawls start together, when they read a line.
            print("ready", flush=True)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        self.ends_at = time.time() + self.seconds
        for number, fields in enumerate(self.requests):
            yield self.request(number, fields)

    def request(self, number: int, fields: dict[str, Any]) -> Request:
        optional = {name: fields[name] for name in ("method", "headers", "priority") if name in fields}
        meta = {**fields.get("meta", {}), "handle_httpstatus_all": fields.get("any_status", False)}
        return Request(
            fields["url"],
            callback=self.fetched,
            errback=self.failed,
            dont_filter=True,
            meta=meta,
            cb_kwargs={"number": number},
            **optional,
        )

    def repeat(self, number: int) -> Iterator[Request]:
        if time.time() < self.ends_at:
            yield self.request(number, self.requests[number])

    def fetched(self, response: Response, number: int) -> Iterator[Request]:
        self.record(
            number, response.request, status=response.status, body=response.text, final_url=response.url
        )
        yield from self.repeat(number)

    def failed(self, failure: Failure) -> Iterator[Request]:
        error, request = failure.value, failure.request  # type: ignore[attr-defined]
        self.record(
            request.cb_kwargs["number"],
            request,
            error=type(error).__name__,
            reason=getattr(error, "reason", None),
            message=str(error),
            status=error.response.status if isinstance(error, HttpError) else None,
        )
        yield from self.repeat(request.cb_kwargs["number"])

    def record(self, number: int, request: Request | None, **fields: Any) -> None:
        meta: dict[str, Any] = request.meta if request else {}
        recorded: dict[str, Any] = {
            name: meta[name] for name in ("proxy_name", "proxies_tried", "redirect_urls") if name in meta
        }
        sent = repr((meta, dict(request.headers) if request else {}))
        self.results.append({"number": number, **fields, **recorded, "sent": sent})


def prepare(job: dict[str, Any]) -> Settings:
    settings = get_project_settings()
    # Only fetching is tested here.
    changes = {"LOG_LEVEL": "INFO", "EXTENSIONS": {}, "EXTENSIONS_BASE": {}, **job.get("settings", {})}
    settings.setdict({**changes, "ITEM_PIPELINES": {}, "ADDONS": {}}, priority="cmdline")
    clock.move(timedelta(seconds=job.get("later", 0)))
    return settings


def result(crawler: Crawler, output: str = "") -> dict[str, Any]:
    results = crawler.spider.results if isinstance(crawler.spider, FetchSpider) else []
    stats = {
        name: value
        for name, value in crawler.stats.get_stats().items()
        if isinstance(value, (int, float, str))
    }
    return {"results": results, "stats": stats, "output": output}


def crawl(job: dict[str, Any]) -> Crawler:
    """Run one crawl, as `scrapy crawl` does."""
    process = AsyncCrawlerProcess(prepare(job))
    crawler = process.create_crawler(FetchSpider)
    process.crawl(crawler, requests=job["requests"], until=job["until"])
    process.start()
    return crawler


async def crawl_again(job: dict[str, Any]) -> None:
    """Run one of many crawls in this process, each in the initial state."""
    from twisted.internet import reactor

    os.environ["DATABASE_URL"] = job["database"]
    path = os.environ["PATH"]
    os.environ["PATH"] = path if job["path"] is None else job["path"]
    engine.cache_clear()
    resolver = reactor.nameResolver
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
    logging.getLogger().addHandler(handler)
    crawler = AsyncCrawlerRunner(prepare(job)).create_crawler(FetchSpider)
    try:
        await crawler.crawl_async(requests=job["requests"], until=0)
    finally:
        os.environ["PATH"] = path
        logging.getLogger().removeHandler(handler)
        reactor.installNameResolver(resolver)
        engine().dispose()
    print(json.dumps(result(crawler, log.getvalue())), flush=True)


async def run_jobs() -> None:
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        await crawl_again(json.loads(line))


def serve() -> None:
    """Run one crawl per line of input: starting Python for each would take longer than the crawl."""
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor", "uvloop.Loop")
    logging.getLogger().setLevel(logging.DEBUG)
    for quiet in ("asyncio", "filelock", "hpack", "py.warnings"):
        logging.getLogger(quiet).setLevel(logging.INFO)
    from twisted.internet.task import react

    react(lambda _: deferred_from_coro(run_jobs()))


if __name__ == "__main__":
    serve()
