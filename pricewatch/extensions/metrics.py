"""Keeps a run's figures in the database, because its process is gone before anybody asks for them."""

from __future__ import annotations

import time
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from sqlalchemy import Connection

from pricewatch.rules.metric_names import PREFIX, bucket, key
from pricewatch.runs.crawl_run import run_of
from pricewatch.store.writing import metric_totals

# With every batch would be more writing than the crawl itself.
SECONDS_BETWEEN = 5.0


class MetricsExtension:
    def __init__(self, crawler: Crawler):
        run = run_of(crawler)
        self._crawler = crawler
        self._run = run
        self._kept = 0.0
        run.with_batch.append(self._keep_sometimes)
        run.with_end.append(self._keep)
        crawler.signals.connect(self._fetched, signals.response_received)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _fetched(self, response: Response, request: Request) -> None:
        latency = request.meta.get("download_latency")
        if latency is None:
            return
        subject = request.cb_kwargs.get("subject")
        adapter = getattr(subject, "adapter", None)
        label = adapter.id if adapter is not None else self._run.adapter_id or ""
        name = "scrape_fetch_duration_ms"
        self._crawler.stats.inc_value(key(name, label, "le", bucket(latency * 1000)))
        self._crawler.stats.inc_value(key(name, label, "sum"), latency * 1000)

    def _keep_sometimes(self, connection: Connection) -> None:
        if time.monotonic() - self._kept > SECONDS_BETWEEN:
            self._keep(connection)

    def _keep(self, connection: Connection) -> None:
        stats = self._crawler.stats.get_stats()
        found = {
            str(name).removeprefix(PREFIX): float(value)
            for name, value in stats.copy().items()
            if str(name).startswith(PREFIX)
        }
        metric_totals.keep(connection, self._run.id, found)
        self._kept = time.monotonic()
