"""/metrics, read by a real parser: every metric of the specification, even of processes that have ended."""

from __future__ import annotations

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from pricewatch.bazaar.client import Bazaar
from pricewatch.simulation import smoke_rounds
from tests.conftest import Crawl
from tests.databases import Database

NAMES = {
    "scrape_urls_attempted": {"adapter_id", "source_id", "status"},
    "scrape_urls_succeeded": {"adapter_id", "source_id"},
    "scrape_urls_failed": {"adapter_id", "source_id", "reason"},
    "scrape_offers_extracted": {"adapter_id", "source_id"},
    "scrape_offers_valid": {"adapter_id", "source_id"},
    "scrape_offers_dropped": {"adapter_id", "source_id", "reason"},
    "scrape_offers_quarantined": {"adapter_id", "source_id", "reason"},
    "scrape_adapter_disabled": {"adapter_id", "reason"},
    "scrape_queue_rejected": {"reason"},
    "scrape_oos_no_price": {"adapter_id", "source_id"},
    "scrape_queue_pending": {"adapter_id"},
    "scrape_adapter_enabled": {"adapter_id"},
    "scrape_targets_active": {"adapter_id", "source_id"},
    "scrape_targets_broken": {"adapter_id", "source_id"},
    "scrape_fetch_duration_ms": {"adapter_id"},
    "scrape_extract_duration_ms": {"adapter_id"},
    "scrape_rate_limit_wait_ms": {"domain"},
}


def read(client: httpx.Client) -> dict[str, dict[tuple[str, ...], float]]:
    """Samples by name and label values."""
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            labels = tuple(value for _, value in sorted(sample.labels.items()))
            assert labels not in found.get(sample.name, {}), "a sample occurs twice"
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


def check_names(client: httpx.Client) -> None:
    families = {family.name: family for family in text_string_to_metric_families(client.get("/metrics").text)}
    for name, labels in NAMES.items():
        assert families[name].samples, name
        for sample in families[name].samples:
            assert {key for key in sample.labels if key != "le"} == labels, name


def test_every_metric_is_exported_with_its_labels(client: httpx.Client) -> None:
    check_names(client)


@pytest.mark.slow
@pytest.mark.proof
def test_metrics_agree_with_the_runs_of_a_smoke_test(
    client: httpx.Client, database: Database, bazaar: Bazaar
) -> None:
    smoke_rounds.prepare(bazaar)
    smoke_rounds.run_round(1, smoke_rounds.choose(list(smoke_rounds.ARGUMENTS)), bazaar, lambda _: None)
    check_names(client)
    found = read(client)
    # Verification only checks that pages exist; it extracts no offers.
    runs = database.row(
        "SELECT sum(urls_attempted) AS attempted, sum(urls_succeeded) AS succeeded,"
        " sum(offers_valid) AS valid FROM runs WHERE spider <> 'verification'"
    )
    assert runs.attempted > smoke_rounds.TARGETS
    assert sum(found["scrape_urls_attempted_total"].values()) == runs.attempted
    assert sum(found["scrape_urls_succeeded_total"].values()) == runs.succeeded
    assert sum(found["scrape_offers_valid_total"].values()) == runs.valid
    assert found["scrape_targets_active"][("bazaar", "bazaar")] == smoke_rounds.TARGETS
    for name in ("scrape_fetch_duration_ms", "scrape_extract_duration_ms"):
        assert sum(found[f"{name}_count"].values()) > 0, name


def test_metrics_outlive_the_processes_that_counted_them(
    client: httpx.Client, database: Database, marketplace: Bazaar, crawl: Crawl
) -> None:
    assert crawl("discovery", market="bazaar-bikes", max_details=12).returncode == 0
    run = database.last_run()
    for _ in range(2):
        found = read(client)
        assert found["scrape_urls_attempted_total"][("bazaar", "bazaar", "succeeded")] == run.urls_succeeded
        assert found["scrape_offers_valid_total"][("bazaar", "bazaar")] == run.offers_valid
        assert found["scrape_extract_duration_ms_count"][("bazaar",)] == run.urls_attempted
        assert found["scrape_fetch_duration_ms_bucket"][("bazaar", "+Inf")] >= run.urls_succeeded
    assert database.value("SELECT count(*) FROM run_figures") == 0
    assert crawl("discovery", market="bazaar-bikes", max_details=12).returncode == 0
    again = run.urls_succeeded + database.last_run().urls_succeeded
    assert read(client)["scrape_urls_succeeded_total"][("bazaar", "bazaar")] == again


def test_histogram_buckets_are_cumulative(client: httpx.Client, database: Database) -> None:
    for bucket, value in (("5", 3), ("100", 2), ("+Inf", 1)):
        key = f"scrape_fetch_duration_ms|generic|le|{bucket}"
        database.do("INSERT INTO figures (key, value) VALUES (:key, :value)", key=key, value=value)
    found = read(client)
    buckets = [
        value for labels, value in found["scrape_fetch_duration_ms_bucket"].items() if "generic" in labels
    ]
    assert buckets == sorted(buckets)
    assert found["scrape_fetch_duration_ms_count"][("generic",)] == buckets[-1] == 6


def test_a_disabled_adapter_is_exported(client: httpx.Client) -> None:
    client.post("/api/adapters/bazaar/disable", json={"note": "moved"})
    found = read(client)
    assert found["scrape_adapter_enabled"][("bazaar",)] == 0
    assert found["pricewatch_adapter_source_enabled"][("bazaar", "*")] == 0
    client.post("/api/adapters/bazaar/enable", json={"note": "repaired"})
    client.post("/api/adapters/bazaar/disable", json={"note": "moved", "source_id": "bazaar"})
    found = read(client)
    assert found["scrape_adapter_enabled"][("bazaar",)] == 0
    assert found["pricewatch_adapter_source_enabled"][("bazaar", "*")] == 1
    assert found["pricewatch_adapter_source_enabled"][("bazaar", "bazaar")] == 0
    assert found["scrape_adapter_disabled_total"][("bazaar", "MANUAL")] == 2
