"""Which statuses a request or its spider wants to see, by the words that Scrapy has for it."""

from __future__ import annotations

from collections.abc import Container

from scrapy.crawler import Crawler
from scrapy.http import Request


def wants_status(crawler: Crawler, request: Request, status: int) -> bool:
    """Only asked whether they contain the status: `scrapy fetch` and `scrapy shell` give no real list."""
    by_request: Container[int] = request.meta.get("handle_httpstatus_list", ())
    by_spider: Container[int] = getattr(crawler.spider, "handle_httpstatus_list", ())
    return bool(request.meta.get("handle_httpstatus_all")) or status in by_request or status in by_spider
