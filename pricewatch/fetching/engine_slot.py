"""Access to the slot of Scrapy's engine, which no public name gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.core.engine import _Slot
    from scrapy.crawler import Crawler


def engine_slot(crawler: Crawler) -> _Slot | None:
    """The slot of a running crawl: `closing` tells whether it ends, `nextcall` looks for requests to send."""
    # Private: nothing public says that the crawl is closing, or makes the engine look at the scheduler now.
    return crawler.engine._slot if crawler.engine else None  # noqa: SLF001
