"""A crawl for tests: `python -m tests.middlewares.visit` takes an order in JSON, tells how each visit ended.

`visits` are requests, made once each; with `until` (seconds) each is made again and again as long as that.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.http import Request, Response
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.project import get_project_settings
from twisted.python.failure import Failure


class VisitSpider(scrapy.Spider):
    name = "visit"
    visits: list[dict[str, Any]]
    seconds: float
    told: list[dict[str, Any]]

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> VisitSpider:
        spider = super().from_crawler(crawler, *args)
        spider.visits = kwargs["visits"]
        spider.seconds = kwargs["until"]
        spider.ends_at = time.time() + spider.seconds
        spider.told = []
        return spider

    async def start(self) -> AsyncIterator[Request]:
        self.ends_at = time.time() + self.seconds
        print("started", flush=True)
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
        kept = {name: meta[name] for name in ("proxy_name", "proxies_tried", "redirect_urls") if name in meta}
        dump = repr((meta, dict(request.headers) if request else {}))
        self.told.append({"number": number, "at": time.time(), **fields, **kept, "dump": dump})


def main() -> None:
    order = json.load(sys.stdin)
    settings = get_project_settings()
    for name, value in {"LOG_LEVEL": "INFO", **order.get("settings", {})}.items():
        settings.set(name, value, priority="cmdline")
    # Only fetching is under test here.
    settings.set("ITEM_PIPELINES", {}, priority="cmdline")
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(VisitSpider)
    process.crawl(crawler, visits=order["visits"], until=order.get("until", 0))
    process.start()
    told = crawler.spider.told if isinstance(crawler.spider, VisitSpider) else []
    stats = {
        name: value
        for name, value in crawler.stats.get_stats().items()
        if isinstance(value, (int, float, str))
    }
    print(json.dumps({"visits": told, "stats": stats}), flush=True)


if __name__ == "__main__":
    main()
