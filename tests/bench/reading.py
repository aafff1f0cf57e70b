"""Reading pages within limits, compared with calling the adapter without any.

python -m tests.bench.reading
"""

from __future__ import annotations

import time
from collections.abc import Callable

from scrapy.http import HtmlResponse, TextResponse
from scrapy.settings import Settings

from pricewatch import adapters
from pricewatch.adapters.base import Adapter
from pricewatch.reading.page_calls import EXTRACT
from pricewatch.reading.page_reader import PageReader
from pricewatch.reading.page_task import adapter_task
from tests.bench.metric import Metric, rounds
from tests.bench.saved_pages import own_pages

ROUNDS = 15
# Our own pages are small, so the share of the limits is larger than on the pages of real shops.
DEADLINE_LIMIT, PROCESS_LIMIT = 0.97, 0.25


def run() -> list[Metric]:
    reader = PageReader(Settings())
    return [
        _compare(
            "reading with a deadline",
            lambda adapter, response: reader.read(EXTRACT, adapter, response),
            DEADLINE_LIMIT,
            time.process_time,
        ),
        _compare(
            "reading in a reader process",
            lambda adapter, response: reader.pool.read(adapter_task(EXTRACT, adapter, response)),
            PROCESS_LIMIT,
            time.perf_counter,
        ),
    ]


def _compare(
    name: str,
    read: Callable[[Adapter, TextResponse], object],
    limit: float,
    clock: Callable[[], float],
) -> Metric:
    """Read each page by turns with and without limits; the best round of each counts."""
    adapter, limited, alone = adapters.get("generic"), 0.0, 0.0
    pages = [HtmlResponse(page.url, body=page.body) for page in own_pages()[::5]]
    for response in pages:
        read(adapter, response)
        best = {"limited": float("inf"), "alone": float("inf")}
        for _ in range(rounds(ROUNDS)):
            for kind, call in (("alone", _read_alone), ("limited", read)):
                started = clock()
                call(adapter, response)
                best[kind] = min(best[kind], clock() - started)
        limited += best["limited"]
        alone += best["alone"]
    count = len(pages)
    return Metric(name, count / limited, "pages/s", count / alone, alone / limited, limit)


def _read_alone(adapter: Adapter, response: TextResponse) -> object:
    try:
        return adapter.extract(response)
    finally:
        response._cached_selector = None


if __name__ == "__main__":
    for metric in run():
        print(f"{metric.name:<40} {metric.value:8.0f} {metric.baseline:8.0f} {metric.ratio:6.3f}")
