"""Health checks: an alert is raised once, resolved when its cause is gone, and notified both times."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from pricewatch.rules.staleness import StalePrices
from pricewatch.services import health_checks
from pricewatch.store.operations import adapter_status
from pricewatch.store.people import outbox
from pricewatch.store.views.alert_list import RUNBOOKS
from tests.databases import Database
from tests.store.observations import card, store

NOW = datetime.now(UTC)


def open_alerts(database: Database, now: datetime = NOW) -> set[tuple[str, str]]:
    """Run the checks, and return kind and subject of each open alert."""
    database.call(health_checks.evaluate, now)
    rows = database.rows("SELECT kind, subject FROM alerts WHERE resolved_at IS NULL")
    return {(row.kind, row.subject) for row in rows}


def test_new_installation_has_no_alerts(database: Database) -> None:
    assert open_alerts(database) == set()


def test_market_without_fresh_data_raises_an_alert_until_it_is_crawled(database: Database) -> None:
    stale = ("market_stale", "bazaar-bikes")
    assert open_alerts(database, NOW + timedelta(hours=12)) == set()
    assert open_alerts(database, NOW + timedelta(hours=14)) == {stale}
    assert open_alerts(database, NOW + timedelta(hours=15)) == {stale}
    assert database.value("SELECT count FROM alerts") == 2
    database.do(
        "UPDATE markets SET last_scrape_at = :at WHERE id = 'bazaar-bikes'", at=NOW + timedelta(hours=15)
    )
    assert open_alerts(database, NOW + timedelta(hours=16)) == set()
    database.do("UPDATE markets SET enabled = false")
    assert open_alerts(database, NOW + timedelta(days=9)) == set()


def test_alert_is_open_while_all_proxies_are_blocked_for_a_site(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROXIES_DATACENTER", "http://user:secret@a.example:1 http://b.example:2")
    database.do("UPDATE sources SET proxy_strategy = 'datacenter' WHERE id = 'apartments'")
    block = (
        "INSERT INTO proxy_blocks (domain, proxy, failed_at, blocked_until)"
        " VALUES ('apartments.com', :proxy, :now, :until)"
    )
    database.do(block, proxy="a.example:1", now=NOW, until=NOW + timedelta(minutes=30))
    assert open_alerts(database) == set()
    database.do(block, proxy="b.example:2", now=NOW, until=NOW + timedelta(minutes=30))
    assert open_alerts(database) == {("proxies_blocked", "apartments")}
    assert "secret" not in database.value("SELECT message FROM alerts")
    assert open_alerts(database, NOW + timedelta(minutes=31)) == set()


def test_growing_number_of_rejected_targets_raises_an_alert(database: Database) -> None:
    database.do("INSERT INTO target_queue (id) VALUES (1) ON CONFLICT DO NOTHING")
    reject = "UPDATE target_queue SET rejected_total = CAST(:totals AS jsonb)"
    assert open_alerts(database) == set()
    database.do(reject, totals='{"queue_full": 5, "adapter_disabled": 9}')
    assert open_alerts(database) == {("targets_rejected", "targets")}
    database.do(reject, totals='{"queue_full": 5, "adapter_disabled": 99}')
    assert open_alerts(database) == set()


def test_nearly_full_disk_raises_an_alert(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    full: Any = SimpleNamespace(total=10**12, used=10**12 - 1000, free=1000)
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda _: full)
        assert open_alerts(database) == {("disk_full", "disk")}
    assert open_alerts(database) == set()


def test_disabled_adapter_and_silent_run_raise_alerts(database: Database) -> None:
    database.call(adapter_status.disable, "bazaar", reason="MANUAL", by="ada", note="moved", now=NOW)
    database.do(
        "INSERT INTO runs (spider, started_at, heartbeat_at) VALUES ('sweep', :long_ago, :long_ago)",
        long_ago=NOW - timedelta(hours=1),
    )
    run = str(database.value("SELECT id FROM runs"))
    assert open_alerts(database) == {("adapter_off", "bazaar"), ("run_silent", run)}
    database.call(adapter_status.enable, "bazaar", by="ada", note="repaired", now=NOW)
    database.do("UPDATE runs SET status = 'stale'")
    assert open_alerts(database) == set()


def test_disabled_custom_spider_and_its_silent_run_raise_alerts(database: Database) -> None:
    database.call(
        adapter_status.disable, "spider:toys", "bazaar", reason="MANUAL", by="ada", note="moved", now=NOW
    )
    database.do(
        "INSERT INTO runs (spider, adapter_id, started_at, heartbeat_at)"
        " VALUES ('toys', 'spider:toys', :long_ago, :long_ago)",
        long_ago=NOW - timedelta(hours=1),
    )
    run = database.value("SELECT id FROM runs")
    assert open_alerts(database) == {("adapter_off", "spider:toys on bazaar"), ("run_silent", str(run))}
    messages = {row.message for row in database.rows("SELECT message FROM alerts")}
    assert "The spider toys on bazaar is disabled by ada (MANUAL: moved)." in messages
    assert any(message.startswith(f"The toys run {run} on ") for message in messages)


def test_alert_is_notified_when_raised_and_when_resolved(database: Database) -> None:
    for hours in (14, 15, 16):
        open_alerts(database, NOW + timedelta(hours=hours))
        database.call(outbox.add_alerts, NOW + timedelta(hours=hours))
    database.do("UPDATE markets SET enabled = false")
    for hours in (17, 18):
        open_alerts(database, NOW + timedelta(hours=hours))
        database.call(outbox.add_alerts, NOW + timedelta(hours=hours))
    titles = [row.title for row in database.rows("SELECT title FROM messages ORDER BY id")]
    assert titles == ["[P2] market stale: bazaar-bikes", "Resolved: market stale: bazaar-bikes"]


def sweep(database: Database, priced: int, without_price: int, at: datetime) -> None:
    """Store the cards of a sweep: the first ones with a price, the others without."""
    rows = [card(number, 1000 if number < priced else None, at) for number in range(priced + without_price)]
    store(database.engine, rows, run_id=int(at.timestamp()))


def test_prices_no_longer_read_raise_an_alert(database: Database) -> None:
    stale = ("stale_prices", "bazaar-bikes")
    at = NOW - timedelta(hours=49)
    sweep(database, 10, 0, at)
    database.do("UPDATE markets SET last_scrape_at = :now WHERE id = 'bazaar-bikes'", now=NOW)
    # The listings were not seen since: their prices do not count.
    assert stale not in open_alerts(database)
    sweep(database, 7, 3, NOW)
    assert stale not in open_alerts(database)
    sweep(database, 6, 4, NOW + timedelta(minutes=1))
    database.do("UPDATE listings SET price_observed_at = :at WHERE id % 10 IN (1, 2, 3, 4)", at=at)
    assert open_alerts(database) == {stale}
    alert = database.row("SELECT * FROM alerts WHERE resolved_at IS NULL")
    assert (alert.severity, alert.details) == ("P2", {"stale": 4, "priced": 10, "hours": 48})
    # Sold-out listings may show no price.
    database.do("UPDATE listings SET availability = 'OUT_OF_STOCK' WHERE id % 10 IN (1, 2)")
    assert stale not in open_alerts(database)
    strict = StalePrices(hours=48, share=0.1)
    found = database.call(health_checks.evaluate, NOW, stale_prices=strict)
    assert [(one.kind, one.subject) for one in found] == [stale]
    sweep(database, 10, 0, NOW + timedelta(minutes=2))
    assert stale not in open_alerts(database)


def test_every_kind_of_alert_has_a_runbook() -> None:
    from pricewatch.rules.drift_thresholds import DriftAlert
    from pricewatch.web.runbooks import sections

    anchors = {section.anchor for section in sections()}
    for kind in {*health_checks.KINDS, *map(str, DriftAlert), *RUNBOOKS}:
        assert RUNBOOKS[kind] in anchors, kind
