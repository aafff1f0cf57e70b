"""What several components need of one crawl: made once, on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from scrapy.crawler import Crawler

T = TypeVar("T")
# On the crawler itself, so that both go together: kept beside it, what refers to it would keep it for ever.
ATTRIBUTE = "_pricewatch_shared"


def per_crawl(crawler: Crawler, make: Callable[[Crawler], T]) -> T:
    """The crawl's own instance of something."""
    instances: dict[Any, Any] = crawler.__dict__.setdefault(ATTRIBUTE, {})
    if make not in instances:
        instances[make] = make(crawler)
    instance: T = instances[make]
    return instance
