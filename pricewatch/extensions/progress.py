"""Show progress: a progress bar on a terminal, else lines in the log."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import AsyncioLoopingCall

from pricewatch import clock
from pricewatch.runs.crawl_run import run_of

if TYPE_CHECKING:
    from rich.progress import Progress

BAR_SECONDS = 0.2
LOG_SECONDS = 30.0


@runtime_checkable
class Describes(Protocol):
    """A spider that can describe its run and report its progress."""

    def describe(self) -> str: ...

    def work_done(self) -> tuple[int, int | None]: ...


class ProgressExtension:
    """The crawl command sets `PROGRESS_BAR` when it runs on a terminal."""

    def __init__(self, crawler: Crawler):
        self.run = run_of(crawler)
        self.on_terminal = crawler.settings.getbool("PROGRESS_BAR")
        self._bar: Progress | None = None
        self._loop: AsyncioLoopingCall | None = None
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def spider_opened(self, spider: Spider) -> None:
        if self.on_terminal:
            self._bar = _bar()
            description = spider.describe() if isinstance(spider, Describes) else spider.name
            self._task = self._bar.add_task(description, total=None, counts="")
            self._bar.start()
        self._loop = AsyncioLoopingCall(self._update, spider)
        self._loop.start(BAR_SECONDS if self.on_terminal else LOG_SECONDS, now=False)

    def spider_closed(self, spider: Spider) -> None:
        if self._loop is not None and self._loop.running:
            self._loop.stop()
        if self._bar is not None:
            self._update(spider)
            self._bar.stop()

    def _update(self, spider: Spider) -> None:
        run = self.run
        done, total = (
            spider.work_done()
            if isinstance(spider, Describes)
            else (run.pages + run.counters["urls_attempted"], None)
        )
        seconds = max((clock.now() - run.started_at).total_seconds(), 0.001)
        counts = (
            f"{run.pages} pages, {run.cards} cards, {run.stored.new} new, {run.counters['details']} details, "
            f"{run.stored.price_rows} prices, {(run.pages + run.counters['urls_attempted']) / seconds:.1f}/s"
        )
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, counts=counts)
        else:
            remaining = f", {(total - done) * seconds / done:.0f} s to go" if total and done else ""
            spider.logger.info("%s%s", counts, remaining)


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[counts]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
    )
