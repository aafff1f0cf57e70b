"""Objects that the components of a crawl share: created on first use, one per crawl."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from scrapy.crawler import Crawler

T = TypeVar("T")
# Stored on the crawler: a global mapping would keep crawlers alive, because the objects refer to them.
ATTRIBUTE = "_pricewatch_per_crawl"


def per_crawl(crawler: Crawler, make: Callable[[Crawler], T]) -> T:
    """Return the object of this crawl that `make` creates."""
    instances: dict[Any, Any] = crawler.__dict__.setdefault(ATTRIBUTE, {})
    if make not in instances:
        instances[make] = make(crawler)
    instance: T = instances[make]
    return instance
