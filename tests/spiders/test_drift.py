"""Drift: a site that changes its pages raises an alert, and its adapter is disabled."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pricewatch.store.operations import adapter_status
from tests.spiders.target_runs import fetch, readable, watch


def status(world: Any) -> Any:
    return world.database.row("SELECT * FROM adapter_status WHERE source_id = 'bazaar'")


def open_alerts(world: Any) -> set[str]:
    rows = world.database.rows(
        "SELECT kind FROM alerts WHERE resolved_at IS NULL AND subject LIKE 'bazaar on %'"
    )
    return {kind for (kind,) in rows}


def check_all(world: Any, ids: list[int]) -> Any:
    return fetch(world, ids=",".join(map(str, ids)))


def test_broken_selectors_alert_then_disable_the_adapter(world):
    ids = watch(world, readable(world, 30))
    hidden = readable(world, 34)[30:]
    ids += watch(world, hidden)
    for true in hidden:
        world.bazaar.change(true.id, stock="hidden")
    run = check_all(world, ids)
    assert (run["counters"]["offers_valid"], run["counters"]["oos_no_price_count"]) == (30, 4)
    assert open_alerts(world) == set()
    assert status(world).last_batch_failure_rate == 0

    # A redesign: every page changes, except those that are out of stock.
    for true in readable(world, 30):
        world.bazaar.fault("garble", path=true.url)
    run = check_all(world, ids)
    assert run["counters"]["urls_failed"] == 30
    assert status(world).enabled
    assert status(world).last_batch_failure_rate == 1
    assert open_alerts(world) == {"adapter_failing", "adapter_reads_nothing"}

    # Pages that are out of stock without a price do not count, nor does a small batch.
    check_all(world, ids[30:])
    check_all(world, ids[:5])
    assert (status(world).enabled, status(world).consecutive_failed_batches) == (True, 1)

    check_all(world, ids)
    row = status(world)
    assert (row.enabled, row.disabled_reason, row.disabled_by) == (False, "DRIFT_DETECTED", "pricewatch")
    assert "adapter_disabled" in open_alerts(world)
    assert world.database.value("SELECT severity FROM alerts WHERE kind = 'adapter_disabled'") == "P1"

    # No spider starts with this adapter any more.
    requests = len(world.bazaar.log())
    refused = check_all(world, ids)
    assert "The adapter bazaar is disabled" in refused["outcome"]
    # More often than there are connections: a refused run must release its connection.
    for spider in ("discovery", "sweep", "verification") * 4:
        refused = world.crawl(spider)
        assert refused["status"] == "failed"
        assert "scrapy adapters enable bazaar" in refused["outcome"]
    assert fetch(world)["counters"].get("urls_attempted", 0) == 0
    assert len(world.bazaar.log()) == requests

    # After a person enables it, the next run is marked as watched and succeeds.
    world.bazaar.clear_faults()
    world.database.call(
        adapter_status.enable, "bazaar", by="Ada", note="new selectors", now=world.bazaar.now()
    )
    assert open_alerts(world) == set()
    run = check_all(world, ids)
    assert world.database.value("SELECT watched FROM runs WHERE id = :id", id=run["id"])
    again = check_all(world, ids)
    assert not world.database.value("SELECT watched FROM runs WHERE id = :id", id=again["id"])
    assert status(world).enabled
    assert status(world).consecutive_failed_batches == 0


def test_market_runs_are_judged_too(world):
    world.bazaar.fault("garble", path=r"^/item/")
    world.crawl("discovery", max_details=40)
    assert open_alerts(world) == {"adapter_failing", "adapter_reads_nothing"}
    world.crawl("sweep", max_details=40)
    assert not status(world).enabled
    world.database.call(adapter_status.enable, "bazaar", by="Ada", note="repaired", now=world.bazaar.now())
    world.bazaar.clear_faults()
    # A watched run is marked from its start, and verification does not count as one.
    assert world.crawl("verification")["status"] == "finished"
    run = world.crawl("sweep", max_details=40)
    assert world.database.value("SELECT watched FROM runs WHERE id = :id", id=run["id"])
    assert not status(world).watch_next_run


def sweep_only(world: Any, listings: list[Any], times: int = 2) -> None:
    """Sweep with only the product pages of these listings due."""
    for _ in range(times):
        world.database.do("UPDATE listings SET detail_due_at = :far", far=world.bazaar.now() + timedelta(9))
        world.database.do(
            "UPDATE listings SET detail_due_at = :now WHERE canonical_url LIKE ANY(:urls)",
            now=world.bazaar.now(),
            urls=[f"%{true.url}" for true in listings],
        )
        world.crawl("sweep", max_details=200)


def garble(world: Any, listings: list[Any]) -> None:
    for true in listings:
        world.bazaar.fault("garble", path=true.url)


def test_pages_never_readable_do_not_count_against_the_adapter(world):
    never = readable(world, 25)
    garble(world, never)
    world.crawl("discovery", max_details=200)
    sweep_only(world, never)
    assert status(world).enabled
    assert open_alerts(world) == set()
    # Their checks were counted, but not against the adapter.
    run = world.database.row("SELECT * FROM runs WHERE spider = 'sweep' ORDER BY id DESC LIMIT 1")
    assert run.urls_failed == 25
    assert world.database.value("SELECT max(urls) FROM adapter_batches WHERE run_id = :id", id=run.id) == 0


def test_a_few_broken_pages_do_not_count_while_others_are_read(world):
    broke = readable(world, 25)
    world.crawl("discovery", max_details=200)
    garble(world, broke)
    # Their first check comes with the others.
    world.database.do("UPDATE listings SET detail_due_at = NULL")
    world.crawl("sweep", max_details=200)
    sweep_only(world, broke)
    assert status(world).enabled


def test_pages_no_longer_readable_disable_the_adapter_and_are_quarantined(world):
    broke = readable(world, 25)
    world.crawl("discovery", max_details=200)
    garble(world, broke)
    sweep_only(world, broke)
    assert not status(world).enabled
    rows = world.database.rows(
        "SELECT q.*, p.page FROM quarantine q JOIN quarantine_pages p ON p.hash = q.page_hash"
    )
    assert {(row.reason, row.status, row.times_seen) for row in rows} == {("DRIFT_DETECTED", "pending", 2)}
    assert len(rows) == 25
    assert "was readable before" in rows[0].details["why"]
    # The adapter is fixed: quarantined pages can be read again, and pages that are checked again settle.
    world.bazaar.clear_faults()
    world.database.call(adapter_status.enable, "bazaar", by="Ada", note="repaired", now=world.bazaar.now())
    sweep_only(world, broke, times=1)
    left = world.database.value("SELECT count(*) FROM quarantine WHERE status = 'pending'")
    assert left == 0
    # All except those that need a browser and were never read.
    unread = "SELECT count(*) FROM listings WHERE unread_since IS NOT NULL AND last_scraped_at IS NOT NULL"
    assert world.database.value(unread) == 0


def test_site_that_serves_one_page_for_all_urls_alerts_but_is_not_disabled(world):
    world.crawl("discovery", max_details=200)
    page = "<h1>We will be back soon</h1><p>It is {time} o'clock.</p>"
    for minute in range(2):
        world.bazaar.clear_faults()
        world.bazaar.fault("respond", path="^/item/", body=page.format(time=minute))
        sweep_only(world, readable(world, 30), times=1)
    assert open_alerts(world) == {"adapter_failing"}
    assert (status(world).enabled, status(world).consecutive_failed_batches) == (True, 0)
    world.bazaar.clear_faults()
    sweep_only(world, readable(world, 30), times=1)
    assert open_alerts(world) == set()
    assert world.database.value("SELECT count(*) FROM quarantine WHERE status = 'pending'") == 0
