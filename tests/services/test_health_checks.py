"""Alerts that are looked for: raised once, resolved when over, told of both times."""

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


def look(database: Database, now: datetime = NOW) -> set[tuple[str, str]]:
    database.call(health_checks.evaluate, now)
    rows = database.rows("SELECT kind, subject FROM alerts WHERE resolved_at IS NULL")
    return {(row.kind, row.subject) for row in rows}


def test_nothing_is_wrong_with_a_new_installation(database: Database) -> None:
    assert look(database) == set()


def test_a_market_without_fresh_data(database: Database) -> None:
    stale = ("market_stale", "bazaar-bikes")
    assert look(database, NOW + timedelta(hours=12)) == set()
    assert look(database, NOW + timedelta(hours=14)) == {stale}
    assert look(database, NOW + timedelta(hours=15)) == {stale}
    assert database.value("SELECT count FROM alerts") == 2
    database.do(
        "UPDATE markets SET last_scrape_at = :at WHERE id = 'bazaar-bikes'", at=NOW + timedelta(hours=15)
    )
    assert look(database, NOW + timedelta(hours=16)) == set()
    database.do("UPDATE markets SET enabled = false")
    assert look(database, NOW + timedelta(days=9)) == set()


def test_all_proxies_blocked_for_a_site(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXIES_DATACENTER", "http://user:secret@a.example:1 http://b.example:2")
    database.do("UPDATE sources SET proxy_strategy = 'datacenter' WHERE id = 'apartments'")
    block = (
        "INSERT INTO proxy_blocks (domain, proxy, failed_at, blocked_until)"
        " VALUES ('apartments.com', :proxy, :now, :until)"
    )
    database.do(block, proxy="a.example:1", now=NOW, until=NOW + timedelta(minutes=30))
    assert look(database) == set()
    database.do(block, proxy="b.example:2", now=NOW, until=NOW + timedelta(minutes=30))
    assert look(database) == {("proxies_blocked", "apartments")}
    assert "secret" not in database.value("SELECT message FROM alerts")
    assert look(database, NOW + timedelta(minutes=31)) == set()


def test_a_queue_that_rejects_more_and_more(database: Database) -> None:
    database.do("INSERT INTO target_queue (id) VALUES (1) ON CONFLICT DO NOTHING")
    reject = "UPDATE target_queue SET rejected_total = CAST(:totals AS jsonb)"
    assert look(database) == set()
    database.do(reject, totals='{"queue_full": 5, "adapter_disabled": 9}')
    assert look(database) == {("targets_rejected", "targets")}
    database.do(reject, totals='{"queue_full": 5, "adapter_disabled": 99}')
    assert look(database) == set()


def test_a_disk_that_is_nearly_full(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    full: Any = SimpleNamespace(total=10**12, used=10**12 - 1000, free=1000)
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda _: full)
        assert look(database) == {("disk_full", "disk")}
    assert look(database) == set()


def test_an_adapter_that_somebody_disabled_and_a_silent_run(database: Database) -> None:
    database.call(adapter_status.disable, "bazaar", reason="MANUAL", by="ada", note="moved", now=NOW)
    database.do(
        "INSERT INTO runs (spider, started_at, heartbeat_at) VALUES ('sweep', :long_ago, :long_ago)",
        long_ago=NOW - timedelta(hours=1),
    )
    run = str(database.value("SELECT id FROM runs"))
    assert look(database) == {("adapter_off", "bazaar"), ("run_silent", run)}
    database.call(adapter_status.enable, "bazaar", by="ada", note="mended", now=NOW)
    database.do("UPDATE runs SET status = 'stale'")
    assert look(database) == set()


def test_a_spider_that_somebody_disabled_and_its_silent_run(database: Database) -> None:
    database.call(
        adapter_status.disable, "spider:toys", "bazaar", reason="MANUAL", by="ada", note="moved", now=NOW
    )
    database.do(
        "INSERT INTO runs (spider, adapter_id, started_at, heartbeat_at)"
        " VALUES ('toys', 'spider:toys', :long_ago, :long_ago)",
        long_ago=NOW - timedelta(hours=1),
    )
    run = database.value("SELECT id FROM runs")
    assert look(database) == {("adapter_off", "spider:toys on bazaar"), ("run_silent", str(run))}
    told = {row.message for row in database.rows("SELECT message FROM alerts")}
    assert "The spider toys on bazaar is disabled by ada (MANUAL: moved)." in told
    assert any(message.startswith(f"The toys run {run} on ") for message in told)


def test_an_alert_is_told_once_and_again_when_it_is_over(database: Database) -> None:
    for hours in (14, 15, 16):
        look(database, NOW + timedelta(hours=hours))
        database.call(outbox.add_alerts, NOW + timedelta(hours=hours))
    database.do("UPDATE markets SET enabled = false")
    for hours in (17, 18):
        look(database, NOW + timedelta(hours=hours))
        database.call(outbox.add_alerts, NOW + timedelta(hours=hours))
    titles = [row.title for row in database.rows("SELECT title FROM messages ORDER BY id")]
    assert titles == ["[P2] market stale: bazaar-bikes", "Resolved: market stale: bazaar-bikes"]


def see(database: Database, priced: int, bare: int, at: datetime) -> None:
    """A sweep sees these cards: the first ones with a price, the others without."""
    rows = [card(number, 1000 if number < priced else None, at) for number in range(priced + bare)]
    store(database.engine, rows, run_id=int(at.timestamp()))


def test_prices_that_nobody_reads_any_more(database: Database) -> None:
    stale = ("stale_prices", "bazaar-bikes")
    at = NOW - timedelta(hours=49)
    see(database, 10, 0, at)
    database.do("UPDATE markets SET last_scrape_at = :now WHERE id = 'bazaar-bikes'", now=NOW)
    # Nobody has looked since: that is another matter.
    assert stale not in look(database)
    see(database, 7, 3, NOW)
    assert stale not in look(database)
    see(database, 6, 4, NOW + timedelta(minutes=1))
    database.do("UPDATE listings SET price_observed_at = :at WHERE id % 10 IN (1, 2, 3, 4)", at=at)
    assert look(database) == {stale}
    alert = database.row("SELECT * FROM alerts WHERE resolved_at IS NULL")
    assert (alert.severity, alert.details) == ("P2", {"stale": 4, "priced": 10, "hours": 48})
    # What is sold out may show no price; other limits, other alerts.
    database.do("UPDATE listings SET availability = 'OUT_OF_STOCK' WHERE id % 10 IN (1, 2)")
    assert stale not in look(database)
    strict = StalePrices(hours=48, share=0.1)
    found = database.call(health_checks.evaluate, NOW, stale_prices=strict)
    assert [(one.kind, one.subject) for one in found] == [stale]
    see(database, 10, 0, NOW + timedelta(minutes=2))
    assert stale not in look(database)


def test_every_kind_of_alert_has_a_runbook() -> None:
    from pricewatch.rules.drift_thresholds import DriftAlert
    from pricewatch.web.runbooks import sections

    anchors = {section.anchor for section in sections()}
    for kind in {*health_checks.KINDS, *map(str, DriftAlert), *RUNBOOKS}:
        assert RUNBOOKS[kind] in anchors, kind
