"""Scrapy's `handle_httpstatus_list` and `handle_httpstatus_all`, of a request or its spider."""

from __future__ import annotations

from collections.abc import Container

from scrapy.crawler import Crawler
from scrapy.http import Request


def handles_status(crawler: Crawler, request: Request, status: int) -> bool:
    """Return whether the spider handles this status; `scrapy fetch` and `scrapy shell` set no real list."""
    by_request: Container[int] = request.meta.get("handle_httpstatus_list", ())
    by_spider: Container[int] = getattr(crawler.spider, "handle_httpstatus_list", ())
    return bool(request.meta.get("handle_httpstatus_all")) or status in by_request or status in by_spider
