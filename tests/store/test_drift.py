"""Drift in the database: batches, baseline, alerts, and several adapters in one run."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from pricewatch.errors import RunRefused, UserError
from pricewatch.rules.custom_spiders import reader_id
from pricewatch.rules.drift_thresholds import DriftBatch
from pricewatch.store.writing import adapter_batches, adapter_status, run_rows
from tests.databases import Database
from tests.store.observations import later, offer, store
from tests.store.watched import NOW

GOOD = DriftBatch(attempted=30, failed=3, extracted=27, valid=27)
BAD = DriftBatch(attempted=30, failed=28, extracted=2, valid=2)
POOR = DriftBatch(attempted=30, failed=5, extracted=25, valid=5, dropped=20)


def end_run(database: Database, batches: dict[str, DriftBatch], hours: float = 0.0, source: str = "s") -> int:
    """One run that read a source with these adapters."""
    # No two runs of one process begin at the same instant.
    now = NOW + timedelta(hours=hours, seconds=database.value("SELECT count(*) FROM runs"))
    run_id: int = database.call(run_rows.open_run, now=now, spider="targets")
    database.call(
        adapter_batches.judge_run, run_id, {(name, source): batch for name, batch in batches.items()}, now
    )
    return run_id


def status(database: Database, adapter_id: str = "a", source: str = "s") -> Any:
    return database.row(
        "SELECT * FROM adapter_status WHERE adapter_id = :id AND source_id = :source",
        id=adapter_id,
        source=source,
    )


def alerts(database: Database) -> set[tuple[str, str]]:
    rows = database.rows("SELECT kind, subject FROM alerts WHERE resolved_at IS NULL")
    return {tuple(row) for row in rows}


def test_adapters_of_one_run_are_judged_apart(database: Database) -> None:
    end_run(database, {"a": BAD, "b": GOOD, "c": DriftBatch()})
    end_run(database, {"a": BAD, "b": GOOD})
    assert not status(database).enabled
    assert status(database, "b").enabled
    assert database.value("SELECT count(*) FROM adapter_batches") == 4
    assert {subject for _, subject in alerts(database)} == {"a on s"}


def test_the_end_of_a_run_is_judged_once(database: Database) -> None:
    run_id = end_run(database, {"a": BAD})
    database.call(adapter_batches.judge_run, run_id, {("a", "s"): BAD}, NOW)
    assert (status(database).enabled, status(database).consecutive_failed_batches) == (True, 1)


def test_the_baseline_is_a_weeks_median_and_valid_from_three_on(database: Database) -> None:
    end_run(database, {"a": DriftBatch(attempted=30, failed=30)}, hours=-24 * 8)
    for hours, failed in ((-48, 0), (-24, 3), (-12, 6)):
        end_run(database, {"a": DriftBatch(attempted=30, failed=failed, extracted=20, valid=24)}, hours)
    end_run(database, {"a": DriftBatch(attempted=5, failed=5)}, hours=-6)
    row = status(database)
    assert (float(row.baseline_failure_rate), float(row.baseline_yield_rate)) == (0.1, 0.8)
    assert row.baseline_sample_size == 3
    # Far below what is usual: somebody is told, nothing is switched off.
    end_run(database, {"a": POOR})
    end_run(database, {"a": POOR})
    assert alerts(database) == {("adapter_low_yield", "a on s")}
    assert status(database).enabled
    end_run(database, {"a": GOOD})
    assert alerts(database) == set()


def test_a_zero_price_in_a_small_batch_is_told(database: Database) -> None:
    end_run(database, {"a": DriftBatch(attempted=3, extracted=3, zero_prices=1)})
    assert alerts(database) == {("adapter_zero_price", "a on s")}
    assert status(database).enabled


def test_enabling_needs_a_name_and_forgets_old_streaks(database: Database) -> None:
    for _ in range(2):
        end_run(database, {"a": BAD})
    with pytest.raises(RunRefused, match="scrapy adapters enable a --source s"):
        database.call(adapter_status.begin, "a", "s")
    with pytest.raises(UserError, match="--by"):
        database.call(adapter_status.enable, "a", "s", by=" ", note="x", now=NOW)
    assert database.call(adapter_status.enable, "a", "s", by="Ada", note="x", now=NOW)
    assert not database.call(adapter_status.enable, "a", "s", by="Ada", note="x", now=NOW)
    assert database.call(adapter_status.begin, "a", "s")
    assert alerts(database) == set()
    run_id = end_run(database, {"a": BAD})
    assert (status(database).enabled, status(database).consecutive_failed_batches) == (True, 1)
    assert database.value("SELECT watched FROM runs WHERE id = :id", id=run_id)
    assert not database.call(adapter_status.begin, "a", "s")


def test_one_shop_never_switches_off_the_adapter_of_others(database: Database) -> None:
    for _ in range(2):
        end_run(database, {"generic": BAD}, source="bad.example")
        end_run(database, {"generic": GOOD}, source="good.example")
    assert not status(database, "generic", "bad.example").enabled
    assert status(database, "generic", "good.example").enabled
    with pytest.raises(RunRefused, match=r"disabled for bad\.example"):
        database.call(adapter_status.begin, "generic", "bad.example")
    assert not database.call(adapter_status.begin, "generic", "good.example")
    assert not database.call(adapter_status.begin, "generic", "new.example")
    # A baseline is that of one shop, too.
    assert status(database, "generic", "good.example").baseline_failure_rate == Decimal("0.1")


def test_a_person_switches_all_sources_off_and_on_again(database: Database) -> None:
    for _ in range(2):
        end_run(database, {"a": BAD}, source="bad.example")
    assert database.call(adapter_status.disable, "a", reason="MANUAL", by="Ada", note="x", now=NOW)
    with pytest.raises(RunRefused, match="The adapter a is disabled since"):
        database.call(adapter_status.begin, "a", "new.example")
    # One answer for everything: also for what drift had switched off.
    assert database.call(adapter_status.enable, "a", by="Ada", note="x", now=NOW)
    assert database.call(adapter_status.begin, "a", "bad.example")
    assert alerts(database) == set()
    run_id = end_run(database, {"a": GOOD}, source="new.example")
    assert database.value("SELECT watched FROM runs WHERE id = :id", id=run_id)
    run_id = end_run(database, {"a": GOOD}, source="new.example")
    assert not database.value("SELECT watched FROM runs WHERE id = :id", id=run_id)


@pytest.mark.parametrize(("others", "enabled"), [(24, True), (23, False)])
def test_what_has_been_failing_while_the_rest_is_read_well_is_no_news(
    database: Database, others: int, enabled: bool
) -> None:
    """24 pages fail at each look; the shop is judged by whether as many others could be read meanwhile."""
    store(database.engine, [offer(number, 1000, later(60)) for number in range(others)])
    since = later(0)
    batch = DriftBatch(attempted=24, failed=24, lasting=24, lasting_failed=24, lasting_since=since)
    for _ in range(2):
        end_run(database, {"a": batch}, source="bazaar")
    assert status(database, "a", "bazaar").enabled == enabled
    # What was read before that says nothing.
    database.do("UPDATE listings SET last_scraped_at = :at", at=later(-1))
    for _ in range(2):
        end_run(database, {"b": batch}, source="bazaar")
    assert not status(database, "b", "bazaar").enabled


def test_a_spider_is_judged_as_an_adapter_is_and_called_by_its_name(database: Database) -> None:
    reader = reader_id("my toys")
    for _ in range(2):
        end_run(database, {reader: BAD}, source="localhost:8000")
    assert ("adapter_disabled", "spider:my toys on localhost:8000") in alerts(database)
    for message in database.rows("SELECT message FROM alerts"):
        assert "spider my toys" in message[0]
        assert "adapter spider" not in message[0]
    with pytest.raises(RunRefused) as refused:
        database.call(adapter_status.begin, reader, "localhost:8000")
    said = str(refused.value)
    assert said.startswith("The spider my toys is disabled for localhost:8000 since")
    assert "`scrapy adapters enable 'spider:my toys' --source localhost:8000 --by NAME --note WHY`" in said
    assert not database.call(adapter_status.begin, reader, "shop.example")


def test_the_name_of_a_spider_cannot_break_a_metric(database: Database) -> None:
    given = {"reason": "MANUAL", "by": "Ada", "note": "x", "now": NOW}
    assert database.call(adapter_status.disable, reader_id("a|b"), **given)
    assert database.value("SELECT key FROM figures") == "scrape_adapter_disabled_total|spider:a/b|MANUAL"
