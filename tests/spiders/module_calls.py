"""Run one sweep and print how often each module was called for its first page, from response to commit."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from types import FrameType
from typing import Any

from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.utils.project import get_project_settings

PACKAGE = f"{Path(__file__).parents[2] / 'pricewatch'}/"
calls: Counter[str] = Counter()
is_counting = False


def count(frame: FrameType, event: str, _: Any) -> None:
    path = frame.f_code.co_filename
    if is_counting and event == "call" and path.startswith(PACKAGE):
        calls[path.removeprefix(PACKAGE)] += 1


def set_counting(*, on: bool) -> None:
    global is_counting
    is_counting = on


def main(market: str) -> None:
    from pricewatch.items import OverviewPage
    from pricewatch.spiders.overview import OverviewSpider

    threading.setprofile(count)
    sys.setprofile(count)
    parse = OverviewSpider.parse_overview

    async def traced(spider: OverviewSpider, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        set_counting(on=True)
        async for result in parse(spider, *args, **kwargs):
            yield result

    def stored(item: Any) -> None:
        if isinstance(item, OverviewPage):
            set_counting(on=False)

    OverviewSpider.parse_overview = traced  # type: ignore[method-assign,assignment]
    process = CrawlerProcess(get_project_settings())
    crawler = process.create_crawler("sweep")
    crawler.signals.connect(stored, signals.item_scraped)
    process.crawl(crawler, market=market, max_pages="1", max_details="0")
    process.start()
    print(json.dumps(calls))


if __name__ == "__main__":
    main(sys.argv[1])
