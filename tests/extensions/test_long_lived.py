"""What lives as long as the process is left alone by the garbage collector, and nothing else is."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from weakref import ref

import pytest
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.spiders import Spider

from pricewatch.extensions.gc_freeze import GcFreezeExtension


@pytest.fixture(autouse=True)
def first_crawl(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(GcFreezeExtension, "_is_set_aside", False)
    yield
    gc.unfreeze()


def start_a_crawl() -> None:
    crawler = Crawler(Spider)
    extension = GcFreezeExtension.from_crawler(crawler)
    asyncio.run(crawler.signals.send_catch_log_async(signals.engine_started))
    assert extension is not None


class Part:
    """Of a crawl that is over; it holds itself, so only the collector can end it."""

    def __init__(self) -> None:
        self.me = self


def test_set_aside_when_a_crawl_starts() -> None:
    assert gc.get_freeze_count() == 0
    start_a_crawl()
    assert gc.get_freeze_count() > 0


def test_what_an_earlier_crawl_left_is_not_kept() -> None:
    start_a_crawl()
    left = ref(Part())
    start_a_crawl()
    gc.collect()
    assert left() is None
