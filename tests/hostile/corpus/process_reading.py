"""Read a page in a reader process, as a crawl does with pages that a signal cannot interrupt."""

from __future__ import annotations

import resource
from contextlib import suppress
from typing import Any

import psutil  # type: ignore[import-untyped]
from scrapy.http import Request

from pricewatch.reading.deadline import ReadTimeout
from pricewatch.reading.page_calls import EXPLAIN, EXTRACT, PRESENCE, READ_OVERVIEW
from pricewatch.reading.page_task import PageTask, adapter_task, display_task
from pricewatch.reading.read_limits import ReadLimits
from pricewatch.reading.reader_process import ReaderProcess
from tests.hostile.corpus import crawl_reading
from tests.hostile.corpus.hostile_page import HostilePage

CALLS: dict[str, Any] = {
    "extract": EXTRACT,
    "presence": PRESENCE,
    "overview": READ_OVERVIEW,
    "explain": EXPLAIN,
}


def cpu_seconds(page: HostilePage, step: str) -> float:
    """Repeat a step of reading a page in a reader process; it may end at the deadline, and nothing else."""
    task = _task(page, step)
    before = _children_seconds()
    reader = ReaderProcess(ReadLimits())
    started = psutil.Process(reader._process.pid).cpu_times()
    try:
        with suppress(ReadTimeout):
            reader.read(task)
    finally:
        reader.end()
    return _children_seconds() - before - float(started.user + started.system)


def _task(page: HostilePage, step: str) -> PageTask[Any]:
    response = crawl_reading.received(page, page.body(), Request(page.url), crawl_reading.PageResult())
    assert response is not None
    if step == "display":
        return display_task(response.body, response.encoding, "/page.css")
    name, call = step.split(": ")
    task = adapter_task(CALLS[call], crawl_reading.reader(name), response)
    if name == crawl_reading.DECLARED:
        task.parameters["registered"] = f"{crawl_reading.__name__}:ExampleShop"
    return task


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
