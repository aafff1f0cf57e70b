"""Names, labels and histogram buckets of the metrics that runs count."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache

PREFIX = "figure|"
# Upper bounds in milliseconds; "+Inf" covers everything above.
BUCKETS = (5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000)

COUNTERS: dict[str, tuple[str, ...]] = {
    "scrape_urls_attempted_total": ("adapter_id", "source_id", "status"),
    "scrape_urls_succeeded_total": ("adapter_id", "source_id"),
    "scrape_urls_failed_total": ("adapter_id", "source_id", "reason"),
    "scrape_offers_extracted_total": ("adapter_id", "source_id"),
    "scrape_offers_valid_total": ("adapter_id", "source_id"),
    "scrape_offers_dropped_total": ("adapter_id", "source_id", "reason"),
    "scrape_offers_quarantined_total": ("adapter_id", "source_id", "reason"),
    "scrape_oos_no_price_total": ("adapter_id", "source_id"),
}
HISTOGRAMS: dict[str, tuple[str, ...]] = {
    "scrape_fetch_duration_ms": ("adapter_id",),
    "scrape_extract_duration_ms": ("adapter_id",),
    "scrape_rate_limit_wait_ms": ("domain",),
}


@lru_cache(maxsize=4096)
def metric_key(name: str, *labels: str) -> str:
    """Return the name of a metric with its labels, as Scrapy's stats and the database store it."""
    return PREFIX + "|".join((name, *(str(label).replace("|", "/") for label in labels)))


def bucket(milliseconds: float) -> str:
    place = bisect_left(BUCKETS, milliseconds)
    return str(BUCKETS[place]) if place < len(BUCKETS) else "+Inf"
