"""/metrics: the metrics of all processes and nodes, read from the database, in Prometheus format."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from pricewatch import adapters
from pricewatch.rules.custom_spiders import BUILT_IN_SPIDERS, is_custom_spider
from pricewatch.rules.metric_names import BUCKETS, COUNTERS, HISTOGRAMS
from pricewatch.store.operations import metric_totals
from pricewatch.store.views import gauges
from pricewatch.web.request_context import Context

router = APIRouter()
HELP = {
    "scrape_urls_attempted_total": "Product pages requested, by outcome",
    "scrape_urls_succeeded_total": "Product pages read",
    "scrape_urls_failed_total": "Product pages without an offer, by reason",
    "scrape_offers_extracted_total": "Offers extracted by adapters",
    "scrape_offers_valid_total": "Offers stored",
    "scrape_offers_dropped_total": "Offers and cards dropped, by reason",
    "scrape_offers_quarantined_total": "Offers quarantined for review, by reason",
    "scrape_oos_no_price_total": "Pages of out-of-stock products without a price",
    "scrape_adapter_disabled_total": "Times that an adapter was disabled",
    "scrape_queue_rejected_total": "Targets rejected by the queue, by reason",
    "scrape_fetch_duration_ms": "Milliseconds from a request to its response",
    "scrape_extract_duration_ms": "Milliseconds that an adapter took to extract a page",
    "scrape_rate_limit_wait_ms": "Milliseconds that a request waited for the rate limiter",
}
DISABLED = "scrape_adapter_disabled_total"
ALL_COUNTERS = {**COUNTERS, DISABLED: ("adapter_id", "reason")}


class StaticCollector:
    """A collector of metrics that were computed beforehand."""

    def __init__(self, families: list[Metric]):
        self._families = families

    def collect(self) -> Iterator[Metric]:
        yield from self._families


@router.get("/metrics")
def metrics(context: Context) -> Response:
    with context.read() as connection:
        metric_totals.add_finished_runs(connection, context.now)
        connection.commit()
        totals = metric_totals.totals(connection)
        current = gauges.read(connection, context.now)
    families = [
        *_counters(totals),
        *_histograms(totals),
        *_gauges(current),
        *_pricewatch_gauges(current, context.now),
    ]
    registry = CollectorRegistry()
    registry.register(StaticCollector(families))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)


def _counters(totals: dict[str, float]) -> Iterator[Metric]:
    by_name: defaultdict[str, list[tuple[list[str], float]]] = defaultdict(list)
    for key, value in totals.items():
        name, *label_values = key.split("|")
        if len(label_values) == len(ALL_COUNTERS.get(name, ())) > 0:
            by_name[name].append((label_values, value))
    for name, labels in ALL_COUNTERS.items():
        family = CounterMetricFamily(name, HELP[name], labels=labels)
        for values, value in by_name[name] or [([""] * len(labels), 0.0)]:
            family.add_metric(values, value)
        yield family


def _histograms(totals: dict[str, float]) -> Iterator[Metric]:
    for name, labels in HISTOGRAMS.items():
        family = HistogramMetricFamily(name, HELP[name], labels=labels)
        counts: defaultdict[str, dict[str, float]] = defaultdict(dict)
        sums: dict[str, float] = {}
        for key, value in totals.items():
            metric, *rest = key.split("|")
            if metric == name and len(rest) == 3:
                counts[rest[0]][rest[2]] = value
            elif metric == name and len(rest) == 2:
                sums[rest[0]] = value
        for label in sorted(counts) or [""]:
            cumulative, buckets = 0.0, []
            for bound in (*map(str, BUCKETS), "+Inf"):
                cumulative += counts[label].get(bound, 0.0)
                buckets.append((bound if bound == "+Inf" else f"{float(bound)}", cumulative))
            family.add_metric([label], buckets, sums.get(label, 0.0))
        yield family


def _gauges(current: dict[str, Any]) -> Iterator[Metric]:
    """The gauges and the counter of the queue that are computed from the current state."""
    adapter_ids = sorted({*adapters.known(), *(row.adapter_id for row in current["adapters"])})
    pending = {row.adapter_id: row.count for row in current["pending"]}
    disabled = {row.adapter_id for row in current["adapters"] if not row.enabled}
    queue = GaugeMetricFamily("scrape_queue_pending", "Targets pending in the queue", labels=["adapter_id"])
    enabled = GaugeMetricFamily(
        "scrape_adapter_enabled", "1 if the adapter is enabled for every source", labels=["adapter_id"]
    )
    for adapter_id in adapter_ids:
        if not is_custom_spider(adapter_id):
            # Targets are read by adapters only.
            queue.add_metric([adapter_id], pending.get(adapter_id, 0))
        enabled.add_metric([adapter_id], 0 if adapter_id in disabled else 1)
    yield queue
    yield enabled
    by_source = GaugeMetricFamily(
        "pricewatch_adapter_source_enabled",
        "1 if the adapter is enabled for the source; `*` is its switch for all sources",
        labels=["adapter_id", "source_id"],
    )
    for row in current["adapters"]:
        by_source.add_metric([row.adapter_id, row.source_id], int(row.enabled))
    yield by_source
    pairs = sorted({(row.adapter_id, row.source_id) for row in current["targets"]}) or [("", "")]
    counts = {(row.adapter_id, row.source_id, row.status): row.count for row in current["targets"]}
    for status in ("ACTIVE", "BROKEN", "STALE", "PAUSED"):
        name = f"scrape_targets_{status.lower()}"
        family = GaugeMetricFamily(
            name, f"Targets that are {status.lower()}", labels=["adapter_id", "source_id"]
        )
        for pair in pairs:
            family.add_metric(list(pair), counts.get((*pair, status), 0))
        yield family
    rejected = CounterMetricFamily(
        "scrape_queue_rejected_total", HELP["scrape_queue_rejected_total"], labels=["reason"]
    )
    for reason in ("queue_full", "adapter_disabled", "rate_limited"):
        rejected.add_metric([reason], float(current["rejected"].get(reason, 0)))
    yield rejected


def _pricewatch_gauges(current: dict[str, Any], now: datetime) -> Iterator[Metric]:
    """The gauges with the prefix pricewatch_, for operators."""
    running = GaugeMetricFamily("pricewatch_runs_running", "Runs in progress", labels=["spider"])
    counts = {row.spider: row.count for row in current["running"]}
    for spider in (*BUILT_IN_SPIDERS, *sorted(counts.keys() - set(BUILT_IN_SPIDERS))):
        running.add_metric([spider], counts.get(spider, 0))
    yield running
    alerts = GaugeMetricFamily("pricewatch_alerts_open", "Open alerts", labels=["kind", "severity"])
    for row in current["alerts"]:
        alerts.add_metric([row.kind, row.severity], row.count)
    yield alerts
    fresh = GaugeMetricFamily(
        "pricewatch_market_seconds_since_crawl",
        "Seconds since the last successful crawl of a market",
        labels=["market_id"],
    )
    for row in current["fresh"]:
        fresh.add_metric([row.id], float(row.seconds))
    yield fresh
    oldest = current["oldest_job"]
    waited = (now - oldest).total_seconds() if oldest is not None else 0.0
    yield GaugeMetricFamily(
        "pricewatch_oldest_pending_job_seconds",
        "Seconds that the oldest pending job has waited",
        value=waited,
    )
