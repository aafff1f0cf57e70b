"""Crawls for tests: `python -m tests.middlewares.visit` takes orders in JSON, tells how each visit ended.

`visits` are requests, made once each; with `until` (seconds) each is made again and again as long as that.
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


class VisitSpider(scrapy.Spider):
    name = "visit"
    visits: list[dict[str, Any]]
    seconds: float
    ends_at: float
    told: list[dict[str, Any]]

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> VisitSpider:
        spider = super().from_crawler(crawler, *args)
        spider.visits = kwargs["visits"]
        spider.seconds = kwargs["until"]
        spider.told = []
        return spider

    async def start(self) -> AsyncIterator[Request]:
        if self.seconds:
            # Several crawls begin together, on a word.
            print("ready", flush=True)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        self.ends_at = time.time() + self.seconds
        for number, visit in enumerate(self.visits):
            yield self.request(number, visit)

    def request(self, number: int, visit: dict[str, Any]) -> Request:
        given = {name: visit[name] for name in ("method", "headers", "priority") if name in visit}
        meta = {**visit.get("meta", {}), "handle_httpstatus_all": visit.get("any_status", False)}
        return Request(
            visit["url"],
            callback=self.arrived,
            errback=self.failed,
            dont_filter=True,
            meta=meta,
            cb_kwargs={"number": number},
            **given,
        )

    def again(self, number: int) -> Iterator[Request]:
        if time.time() < self.ends_at:
            yield self.request(number, self.visits[number])

    def arrived(self, response: Response, number: int) -> Iterator[Request]:
        self.tell(
            number, response.request, status=response.status, body=response.text, final_url=response.url
        )
        yield from self.again(number)

    def failed(self, failure: Failure) -> Iterator[Request]:
        error, request = failure.value, failure.request  # type: ignore[attr-defined]
        self.tell(
            request.cb_kwargs["number"],
            request,
            error=type(error).__name__,
            reason=getattr(error, "reason", None),
            message=str(error),
            status=error.response.status if isinstance(error, HttpError) else None,
        )
        yield from self.again(request.cb_kwargs["number"])

    def tell(self, number: int, request: Request | None, **fields: Any) -> None:
        meta: dict[str, Any] = request.meta if request else {}
        kept: dict[str, Any] = {
            name: meta[name] for name in ("proxy_name", "proxies_tried", "redirect_urls") if name in meta
        }
        shown = repr((meta, dict(request.headers) if request else {}))
        self.told.append({"number": number, **fields, **kept, "shown": shown})


def prepare(order: dict[str, Any]) -> Settings:
    settings = get_project_settings()
    # Only fetching is under test here.
    changes = {"LOG_LEVEL": "INFO", "EXTENSIONS": {}, "EXTENSIONS_BASE": {}, **order.get("settings", {})}
    settings.setdict({**changes, "ITEM_PIPELINES": {}, "ADDONS": {}}, priority="cmdline")
    clock.move(timedelta(seconds=order.get("later", 0)))
    return settings


def result(crawler: Crawler, output: str = "") -> dict[str, Any]:
    told = crawler.spider.told if isinstance(crawler.spider, VisitSpider) else []
    kept = {
        name: value
        for name, value in crawler.stats.get_stats().items()
        if isinstance(value, (int, float, str))
    }
    return {"visits": told, "stats": kept, "output": output}


def once(order: dict[str, Any]) -> Crawler:
    """One crawl and no other, as `scrapy crawl` does it."""
    process = AsyncCrawlerProcess(prepare(order))
    crawler = process.create_crawler(VisitSpider)
    process.crawl(crawler, visits=order["visits"], until=order["until"])
    process.start()
    return crawler


async def one_more(order: dict[str, Any]) -> None:
    """One of many crawls in this process, each as if it were the first."""
    from twisted.internet import reactor

    os.environ["DATABASE_URL"] = order["database"]
    programs = os.environ["PATH"]
    os.environ["PATH"] = programs if order["path"] is None else order["path"]
    engine.cache_clear()
    resolver = reactor.nameResolver
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
    logging.getLogger().addHandler(handler)
    crawler = AsyncCrawlerRunner(prepare(order)).create_crawler(VisitSpider)
    try:
        await crawler.crawl_async(visits=order["visits"], until=0)
    finally:
        os.environ["PATH"] = programs
        logging.getLogger().removeHandler(handler)
        reactor.installNameResolver(resolver)
        engine().dispose()
    print(json.dumps(result(crawler, log.getvalue())), flush=True)


async def many() -> None:
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        await one_more(json.loads(line))


def serve() -> None:
    """Crawl after crawl, one per line of input: to start Python for each takes longer than to crawl."""
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor", "uvloop.Loop")
    logging.getLogger().setLevel(logging.DEBUG)
    for quiet in ("asyncio", "filelock", "hpack", "py.warnings"):
        logging.getLogger(quiet).setLevel(logging.INFO)
    from twisted.internet.task import react

    react(lambda _: deferred_from_coro(many()))


if __name__ == "__main__":
    serve()
