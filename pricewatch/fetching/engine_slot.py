"""Access to the slot of Scrapy's engine, for which Scrapy has no public name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.core.engine import _Slot
    from scrapy.crawler import Crawler


def engine_slot(crawler: Crawler) -> _Slot | None:
    """Return the slot of a running crawl: `closing` is set while it ends, `nextcall` checks the scheduler."""
    # Private: no public name shows that the crawl is closing, or makes the engine check the scheduler now.
    return crawler.engine._slot if crawler.engine else None  # noqa: SLF001
