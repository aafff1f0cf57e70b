"""What several components need of one crawl: made once, on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler

T = TypeVar("T")
_made: WeakKeyDictionary[Crawler, dict[Any, Any]] = WeakKeyDictionary()


def shared(crawler: Crawler, make: Callable[[Crawler], T]) -> T:
    """The crawl's own instance of something."""
    instances = _made.setdefault(crawler, {})
    if make not in instances:
        instances[make] = make(crawler)
    instance: T = instances[make]
    return instance
