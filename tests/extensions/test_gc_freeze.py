"""Long-lived objects are frozen once; garbage of an earlier crawl is not."""

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
    monkeypatch.setattr(GcFreezeExtension, "_is_frozen", False)
    yield
    gc.unfreeze()


def start_a_crawl() -> None:
    crawler = Crawler(Spider)
    extension = GcFreezeExtension.from_crawler(crawler)
    asyncio.run(crawler.signals.send_catch_log_async(signals.engine_started))
    assert extension is not None


class Part:
    """A reference cycle, which only the garbage collector can free."""

    def __init__(self) -> None:
        self.me = self


def test_objects_are_frozen_when_a_crawl_starts() -> None:
    assert gc.get_freeze_count() == 0
    start_a_crawl()
    assert gc.get_freeze_count() > 0


def test_garbage_of_an_earlier_crawl_is_not_frozen() -> None:
    start_a_crawl()
    left = ref(Part())
    start_a_crawl()
    gc.collect()
    assert left() is None
