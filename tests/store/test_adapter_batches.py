"""Drift of adapters: batches, baseline, alerts, and enabling and disabling adapters."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from pricewatch.errors import RunRefused, UserError
from pricewatch.rules.custom_spiders import reader_id
from pricewatch.rules.drift_thresholds import DriftBatch
from pricewatch.store.operations import adapter_batches, adapter_status
from tests.databases import Database
from tests.store.drift_batches import BAD, GOOD, POOR, end_run
from tests.store.observations import later, offer, store
from tests.store.sample_targets import NOW


def status(database: Database, adapter_id: str = "a", source: str = "s") -> Any:
    return database.row(
        "SELECT * FROM adapter_status WHERE adapter_id = :id AND source_id = :source",
        id=adapter_id,
        source=source,
    )


def alerts(database: Database) -> set[tuple[str, str]]:
    rows = database.rows("SELECT kind, subject FROM alerts WHERE resolved_at IS NULL")
    return {tuple(row) for row in rows}


def test_adapters_of_one_run_are_judged_separately(database: Database) -> None:
    end_run(database, {"a": BAD, "b": GOOD, "c": DriftBatch()})
    end_run(database, {"a": BAD, "b": GOOD})
    assert not status(database).enabled
    assert status(database, "b").enabled
    assert database.value("SELECT count(*) FROM adapter_batches") == 4
    assert {subject for _, subject in alerts(database)} == {"a on s"}


def test_a_run_is_judged_once(database: Database) -> None:
    run_id = end_run(database, {"a": BAD})
    database.call(adapter_batches.judge_run, run_id, {("a", "s"): BAD}, NOW)
    assert (status(database).enabled, status(database).consecutive_failed_batches) == (True, 1)


def test_the_baseline_is_the_median_of_a_week_and_needs_three_batches(database: Database) -> None:
    end_run(database, {"a": DriftBatch(attempted=30, failed=30)}, hours=-24 * 8)
    for hours, failed in ((-48, 0), (-24, 3), (-12, 6)):
        end_run(database, {"a": DriftBatch(attempted=30, failed=failed, extracted=20, valid=24)}, hours)
    end_run(database, {"a": DriftBatch(attempted=5, failed=5)}, hours=-6)
    row = status(database)
    assert (float(row.baseline_failure_rate), float(row.baseline_yield_rate)) == (0.1, 0.8)
    assert row.baseline_sample_size == 3
    # Far below the baseline: an alert is raised, and the adapter stays enabled.
    end_run(database, {"a": POOR})
    end_run(database, {"a": POOR})
    assert alerts(database) == {("adapter_low_yield", "a on s")}
    assert status(database).enabled
    end_run(database, {"a": GOOD})
    assert alerts(database) == set()


def test_a_zero_price_in_a_small_batch_raises_an_alert(database: Database) -> None:
    end_run(database, {"a": DriftBatch(attempted=3, extracted=3, zero_prices=1)})
    assert alerts(database) == {("adapter_zero_price", "a on s")}
    assert status(database).enabled


def test_enabling_needs_a_name_and_resets_streaks(database: Database) -> None:
    for _ in range(2):
        end_run(database, {"a": BAD})
    with pytest.raises(RunRefused, match="scrapy adapters enable a --source s"):
        database.call(adapter_status.check_enabled, "a", "s")
    with pytest.raises(UserError, match="--by"):
        database.call(adapter_status.enable, "a", "s", by=" ", note="x", now=NOW)
    assert database.call(adapter_status.enable, "a", "s", by="Ada", note="x", now=NOW)
    assert not database.call(adapter_status.enable, "a", "s", by="Ada", note="x", now=NOW)
    assert database.call(adapter_status.check_enabled, "a", "s")
    assert alerts(database) == set()
    run_id = end_run(database, {"a": BAD})
    assert (status(database).enabled, status(database).consecutive_failed_batches) == (True, 1)
    assert database.value("SELECT watched FROM runs WHERE id = :id", id=run_id)
    assert not database.call(adapter_status.check_enabled, "a", "s")


def test_an_adapter_is_disabled_for_the_failing_source_only(database: Database) -> None:
    for _ in range(2):
        end_run(database, {"generic": BAD}, source="bad.example")
        end_run(database, {"generic": GOOD}, source="good.example")
    assert not status(database, "generic", "bad.example").enabled
    assert status(database, "generic", "good.example").enabled
    with pytest.raises(RunRefused, match=r"disabled for bad\.example"):
        database.call(adapter_status.check_enabled, "generic", "bad.example")
    assert not database.call(adapter_status.check_enabled, "generic", "good.example")
    assert not database.call(adapter_status.check_enabled, "generic", "new.example")
    # The baseline belongs to one source, too.
    assert status(database, "generic", "good.example").baseline_failure_rate == Decimal("0.1")


def test_an_adapter_can_be_disabled_and_enabled_for_all_sources(database: Database) -> None:
    for _ in range(2):
        end_run(database, {"a": BAD}, source="bad.example")
    assert database.call(adapter_status.disable, "a", reason="MANUAL", by="Ada", note="x", now=NOW)
    with pytest.raises(RunRefused, match="The adapter a is disabled since"):
        database.call(adapter_status.check_enabled, "a", "new.example")
    # This also enables the source that was disabled because of drift.
    assert database.call(adapter_status.enable, "a", by="Ada", note="x", now=NOW)
    assert database.call(adapter_status.check_enabled, "a", "bad.example")
    assert alerts(database) == set()
    run_id = end_run(database, {"a": GOOD}, source="new.example")
    assert database.value("SELECT watched FROM runs WHERE id = :id", id=run_id)
    run_id = end_run(database, {"a": GOOD}, source="new.example")
    assert not database.value("SELECT watched FROM runs WHERE id = :id", id=run_id)


@pytest.mark.parametrize(("others", "enabled"), [(24, True), (23, False)])
def test_lasting_failures_do_not_count_while_other_pages_are_readable(
    database: Database, others: int, enabled: bool
) -> None:
    """24 pages always fail; the adapter stays enabled if as many other pages were read since."""
    store(database.engine, [offer(number, 1000, later(60)) for number in range(others)])
    since = later(0)
    batch = DriftBatch(attempted=24, failed=24, lasting=24, lasting_failed=24, lasting_since=since)
    for _ in range(2):
        end_run(database, {"a": batch}, source="bazaar")
    assert status(database, "a", "bazaar").enabled == enabled
    # Pages that were read before the failures do not count.
    database.do("UPDATE listings SET last_scraped_at = :at", at=later(-1))
    for _ in range(2):
        end_run(database, {"b": batch}, source="bazaar")
    assert not status(database, "b", "bazaar").enabled


def test_a_custom_spider_is_judged_like_an_adapter_and_named_in_messages(database: Database) -> None:
    reader = reader_id("my toys")
    for _ in range(2):
        end_run(database, {reader: BAD}, source="localhost:8000")
    assert ("adapter_disabled", "spider:my toys on localhost:8000") in alerts(database)
    for (text,) in database.rows("SELECT message FROM alerts"):
        assert "spider my toys" in text
        assert "adapter spider" not in text
    with pytest.raises(RunRefused) as refused:
        database.call(adapter_status.check_enabled, reader, "localhost:8000")
    message = str(refused.value)
    assert message.startswith("The spider my toys is disabled for localhost:8000 since")
    assert "`scrapy adapters enable 'spider:my toys' --source localhost:8000 --by NAME --note WHY`" in message
    assert not database.call(adapter_status.check_enabled, reader, "shop.example")


def test_special_characters_in_a_spider_name_do_not_break_metric_names(database: Database) -> None:
    arguments = {"reason": "MANUAL", "by": "Ada", "note": "x", "now": NOW}
    assert database.call(adapter_status.disable, reader_id("a|b"), **arguments)
    assert database.value("SELECT key FROM figures") == "scrape_adapter_disabled_total|spider:a/b|MANUAL"
