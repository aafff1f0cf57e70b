"""Store the metrics of a run in the database, because its process ends before they are scraped."""

from __future__ import annotations

import time
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from sqlalchemy import Connection

from pricewatch.rules.metric_names import PREFIX, bucket, metric_key
from pricewatch.runs.crawl_run import run_of
from pricewatch.store.operations import metric_totals

# Storing them with every batch would write more than the crawl itself.
SECONDS_BETWEEN = 5.0


class MetricsExtension:
    def __init__(self, crawler: Crawler):
        run = run_of(crawler)
        self._crawler = crawler
        self._run = run
        self._stored_at = 0.0
        run.with_batch.append(self._store_if_due)
        run.with_end.append(self._store)
        crawler.signals.connect(self._response_received, signals.response_received)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _response_received(self, response: Response, request: Request) -> None:
        latency = request.meta.get("download_latency")
        if latency is None:
            return
        subject = request.cb_kwargs.get("subject")
        adapter = getattr(subject, "adapter", None)
        label = adapter.id if adapter is not None else self._run.adapter_id or ""
        name = "scrape_fetch_duration_ms"
        self._crawler.stats.inc_value(metric_key(name, label, "le", bucket(latency * 1000)))
        self._crawler.stats.inc_value(metric_key(name, label, "sum"), latency * 1000)

    def _store_if_due(self, connection: Connection) -> None:
        if time.monotonic() - self._stored_at > SECONDS_BETWEEN:
            self._store(connection)

    def _store(self, connection: Connection) -> None:
        stats = self._crawler.stats.get_stats()
        metrics = {
            str(name).removeprefix(PREFIX): float(value)
            for name, value in stats.copy().items()
            if str(name).startswith(PREFIX)
        }
        metric_totals.save_run_metrics(connection, self._run.id, metrics)
        self._stored_at = time.monotonic()
