"""/metrics: the figures of all processes and nodes, out of the database, as Prometheus reads them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from pricewatch import adapters
from pricewatch.rules.custom_spiders import OURS, is_spider
from pricewatch.rules.metric_names import BUCKETS, COUNTERS, HISTOGRAMS
from pricewatch.store.views import gauges
from pricewatch.store.writing import metric_totals
from pricewatch.web.request_context import AVisit

router = APIRouter()
HELP = {
    "scrape_urls_attempted_total": "Product pages asked for, by how that ended",
    "scrape_urls_succeeded_total": "Product pages that were read",
    "scrape_urls_failed_total": "Product pages that gave no offer, by reason",
    "scrape_offers_extracted_total": "Offers that adapters read",
    "scrape_offers_valid_total": "Offers that were stored",
    "scrape_offers_dropped_total": "Offers and cards that were not stored, by reason",
    "scrape_offers_quarantined_total": "Offers held for review, by reason",
    "scrape_oos_no_price_total": "Pages out of stock that show no price",
    "scrape_adapter_disabled_total": "Times an adapter was disabled",
    "scrape_queue_rejected_total": "Targets that the queue did not take, by reason",
    "scrape_fetch_duration_ms": "Milliseconds from a request to its page",
    "scrape_extract_duration_ms": "Milliseconds an adapter took to read a page",
    "scrape_rate_limit_wait_ms": "Milliseconds a request waited for its turn",
}
DISABLED = "scrape_adapter_disabled_total"
COUNTED = {**COUNTERS, DISABLED: ("adapter_id", "reason")}


class Collected:
    """What one scrape of the metrics found; a registry asks it once."""

    def __init__(self, families: list[Metric]):
        self._families = families

    def collect(self) -> Iterator[Metric]:
        yield from self._families


@router.get("/metrics")
def metrics(visit: AVisit) -> Response:
    with visit.read() as connection:
        metric_totals.add_up(connection, visit.now)
        connection.commit()
        totals = metric_totals.totals(connection)
        now = gauges.read(connection, visit.now)
    registry = CollectorRegistry()
    registry.register(Collected([*_counted(totals), *_spread(totals), *_standing(now, visit.now)]))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)


def _counted(totals: dict[str, float]) -> Iterator[Metric]:
    by_name: defaultdict[str, list[tuple[list[str], float]]] = defaultdict(list)
    for key, value in totals.items():
        name, *given = key.split("|")
        if len(given) == len(COUNTED.get(name, ())) > 0:
            by_name[name].append((given, value))
    for name, labels in COUNTED.items():
        family = CounterMetricFamily(name, HELP[name], labels=labels)
        for values, value in by_name[name] or [([""] * len(labels), 0.0)]:
            family.add_metric(values, value)
        yield family


def _spread(totals: dict[str, float]) -> Iterator[Metric]:
    for name, labels in HISTOGRAMS.items():
        family = HistogramMetricFamily(name, HELP[name], labels=labels)
        counts: defaultdict[str, dict[str, float]] = defaultdict(dict)
        sums: dict[str, float] = {}
        for key, value in totals.items():
            found, *rest = key.split("|")
            if found == name and len(rest) == 3:
                counts[rest[0]][rest[2]] = value
            elif found == name and len(rest) == 2:
                sums[rest[0]] = value
        for label in sorted(counts) or [""]:
            running, buckets = 0.0, []
            for bound in (*map(str, BUCKETS), "+Inf"):
                running += counts[label].get(bound, 0.0)
                buckets.append((bound if bound == "+Inf" else f"{float(bound)}", running))
            family.add_metric([label], buckets, sums.get(label, 0.0))
        yield family


def _standing(now: dict[str, Any], at: Any) -> Iterator[Metric]:
    known = sorted({*adapters.known(), *(row.adapter_id for row in now["adapters"])})
    pending = {row.adapter_id: row.count for row in now["pending"]}
    off = {row.adapter_id for row in now["adapters"] if not row.enabled}
    queue = GaugeMetricFamily("scrape_queue_pending", "Targets that wait in the queue", labels=["adapter_id"])
    enabled = GaugeMetricFamily(
        "scrape_adapter_enabled", "1 where an adapter may be used for every source", labels=["adapter_id"]
    )
    for adapter_id in known:
        if not is_spider(adapter_id):
            # Targets are read by adapters only.
            queue.add_metric([adapter_id], pending.get(adapter_id, 0))
        enabled.add_metric([adapter_id], 0 if adapter_id in off else 1)
    yield queue
    yield enabled
    by_source = GaugeMetricFamily(
        "pricewatch_adapter_source_enabled",
        "1 where an adapter may be used for a source; `*` is its switch for all of them",
        labels=["adapter_id", "source_id"],
    )
    for row in now["adapters"]:
        by_source.add_metric([row.adapter_id, row.source_id], int(row.enabled))
    yield by_source
    places = sorted({(row.adapter_id, row.source_id) for row in now["targets"]}) or [("", "")]
    counts = {(row.adapter_id, row.source_id, row.status): row.count for row in now["targets"]}
    for status in ("ACTIVE", "BROKEN", "STALE", "PAUSED"):
        name = f"scrape_targets_{status.lower()}"
        family = GaugeMetricFamily(
            name, f"Targets that are {status.lower()}", labels=["adapter_id", "source_id"]
        )
        for place in places:
            family.add_metric(list(place), counts.get((*place, status), 0))
        yield family
    rejected = CounterMetricFamily(
        "scrape_queue_rejected_total", HELP["scrape_queue_rejected_total"], labels=["reason"]
    )
    for reason in ("queue_full", "adapter_disabled", "rate_limited"):
        rejected.add_metric([reason], float(now["rejected"].get(reason, 0)))
    yield rejected
    yield from _beyond(now, at)


def _beyond(now: dict[str, Any], at: Any) -> Iterator[Metric]:
    """What the operators of this system ask for besides."""
    running = GaugeMetricFamily("pricewatch_runs_running", "Runs under way", labels=["spider"])
    counts = {row.spider: row.count for row in now["running"]}
    for spider in (*OURS, *sorted(counts.keys() - set(OURS))):
        running.add_metric([spider], counts.get(spider, 0))
    yield running
    alerts = GaugeMetricFamily("pricewatch_alerts_open", "Open alerts", labels=["kind", "severity"])
    for row in now["alerts"]:
        alerts.add_metric([row.kind, row.severity], row.count)
    yield alerts
    fresh = GaugeMetricFamily(
        "pricewatch_market_seconds_since_crawl", "Since the last good crawl of a market", labels=["market_id"]
    )
    for row in now["fresh"]:
        fresh.add_metric([row.id], float(row.seconds))
    yield fresh
    oldest = now["oldest_job"]
    waited = (at - oldest).total_seconds() if oldest is not None else 0.0
    yield GaugeMetricFamily(
        "pricewatch_oldest_pending_job_seconds", "How long the oldest job waits", value=waited
    )
