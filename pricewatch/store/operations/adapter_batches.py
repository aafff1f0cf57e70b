"""Judging how well a run read each source with each adapter; an adapter that drifts is disabled."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, select, text, update
from sqlalchemy.dialects.postgresql import insert

from pricewatch.rules.custom_spiders import reader_label
from pricewatch.rules.drift_thresholds import (
    BASELINE_DAYS,
    Baseline,
    DriftAlert,
    DriftBatch,
    DriftVerdict,
    Streaks,
    baseline_of,
    judge_batch,
)
from pricewatch.store.models import AdapterBatch, Run
from pricewatch.store.models.operation_tables import EVERY_SOURCE
from pricewatch.store.operations import adapter_status, alert_rows

SEVERITIES_BY_ALERT = {
    DriftAlert.FAILING: "P2",
    DriftAlert.NOTHING_EXTRACTED: "P2",
    DriftAlert.ZERO_PRICE: "P2",
    DriftAlert.LOW_YIELD: "P3",
    DriftAlert.DISABLED: "P1",
}

# The count is limited: it only matters whether there are at least `most`.
_COUNT_READ_SINCE = text("""
SELECT count(*) FROM (
    SELECT FROM listings WHERE source_id = :source_id AND last_scraped_at >= :since LIMIT :most) AS found
""")
_LOCK_WATCHED = text("""
SELECT adapter_id FROM adapter_status
WHERE adapter_id = ANY(:ids) AND source_id = '*' AND watch_next_run ORDER BY adapter_id FOR UPDATE
""")


class _BatchKey(NamedTuple):
    run_id: int
    adapter_id: str
    source_id: str


def judge_run(
    connection: Connection, run_id: int, batches: Mapping[tuple[str, str], DriftBatch], now: datetime
) -> None:
    """Judge what a run read, by adapter and source, in the transaction that closes the run."""
    # The rows of all sources are locked before those of single sources, so that runs do not deadlock.
    ids = [adapter_id for adapter_id, _ in batches]
    watched = set(connection.execute(_LOCK_WATCHED, {"ids": ids}).scalars())
    for (adapter_id, source_id), batch in sorted(batches.items()):
        if batch.attempted > 0:
            batch_key = _BatchKey(run_id, adapter_id, source_id)
            _judge_batch(connection, batch_key, batch, now, watched=adapter_id in watched)


def _judge_batch(
    connection: Connection, batch_key: _BatchKey, batch: DriftBatch, now: datetime, *, watched: bool
) -> None:
    run_id, adapter_id, source_id = batch_key
    status = adapter_status.lock_status(connection, adapter_id, source_id)
    if _is_rest_readable(connection, source_id, batch):
        batch = batch.without_lasting()
    streaks = Streaks(
        status.consecutive_failed_batches,
        status.consecutive_empty_batches,
        status.consecutive_zero_price_batches,
    )
    verdict = judge_batch(batch, streaks, _baseline(connection, adapter_id, source_id, now))
    watched = watched or status.watch_next_run
    if not _insert_batch(connection, batch_key, batch, verdict, now, watched=watched):
        return
    values: dict[str, Any] = {"updated_at": now, "watch_next_run": False}
    if verdict.judged:
        # Computed again, because it now includes this batch.
        baseline = _baseline(connection, adapter_id, source_id, now)
        values |= {
            "consecutive_failed_batches": verdict.streaks.failed,
            "consecutive_empty_batches": verdict.streaks.empty,
            "consecutive_zero_price_batches": verdict.streaks.zero_price,
            "last_batch_failure_rate": batch.rates.failure_rate,
            "baseline_failure_rate": baseline.failure_rate,
            "baseline_yield_rate": baseline.yield_rate,
            "baseline_sample_size": baseline.sample_size,
            "baseline_updated_at": now,
        }
    adapter_status.update_status(connection, adapter_id, [source_id], values)
    if watched:
        adapter_status.update_status(connection, adapter_id, [EVERY_SOURCE], {"watch_next_run": False})
        connection.execute(update(Run).where(Run.id == run_id).values(watched=True))
    _update_alerts(connection, batch_key, batch, verdict, now)
    if verdict.disable:
        adapter_status.disable(
            connection,
            adapter_id,
            source_id,
            reason="DRIFT_DETECTED",
            by="pricewatch",
            note=verdict.disable,
            now=now,
        )


def _is_rest_readable(connection: Connection, source_id: str, batch: DriftBatch) -> bool:
    """Return whether at least as many other pages were read since the first lasting failure."""
    if batch.lasting_since is None:
        return False
    values = {"source_id": source_id, "since": batch.lasting_since, "most": batch.lasting}
    return int(connection.execute(_COUNT_READ_SINCE, values).scalar_one()) >= batch.lasting


def _insert_batch(
    connection: Connection,
    batch_key: _BatchKey,
    batch: DriftBatch,
    verdict: DriftVerdict,
    now: datetime,
    *,
    watched: bool,
) -> bool:
    """Return False if this run was judged before and only the acknowledgement of that commit was lost."""
    rates = batch.rates
    inserted = connection.execute(
        insert(AdapterBatch)
        .values(
            **batch_key._asdict(),
            ended_at=now,
            urls=batch.urls,
            failed=batch.failures,
            extracted=batch.extracted,
            valid=batch.valid,
            dropped=batch.dropped,
            quarantined=batch.quarantined,
            zero_prices=batch.zero_prices,
            oos_no_price=batch.oos_no_price,
            availability_unknown=batch.availability_unknown,
            failure_rate=rates.failure_rate,
            drop_rate=rates.drop_rate,
            yield_rate=rates.yield_rate,
            judged=verdict.judged,
            bad=verdict.is_bad,
            watched=watched,
        )
        .on_conflict_do_nothing()
    )
    return inserted.rowcount == 1


def _update_alerts(
    connection: Connection, batch_key: _BatchKey, batch: DriftBatch, verdict: DriftVerdict, now: datetime
) -> None:
    run_id, adapter_id, source_id = batch_key
    name, subject = (
        adapter_status.sentence_name(adapter_id, source_id),
        adapter_status.alert_subject(adapter_id, source_id),
    )
    failure_rate, yield_rate = batch.rates.failure_rate or 0.0, batch.rates.yield_rate or 0.0
    where = adapter_status.for_source(source_id)
    messages = {
        DriftAlert.FAILING: f"{failure_rate:.0%} of {batch.urls} URLs failed with the {name}.",
        DriftAlert.NOTHING_EXTRACTED: f"The {name} extracted nothing from {batch.urls} URLs.",
        DriftAlert.ZERO_PRICE: f"The {name} extracted a price of zero {batch.zero_prices} times; "
        "those offers are in quarantine.",
        DriftAlert.LOW_YIELD: f"The {name} yielded an offer for only {yield_rate:.0%} of "
        f"{batch.urls} URLs, less than half of the usual share.",
        DriftAlert.DISABLED: f"The {reader_label(adapter_id)} was disabled{where}: "
        f"{verdict.disable}, for the second time in a row. "
        f"After the fix, run `{adapter_status.enable_command(adapter_id, source_id)}`.",
    }
    for alert, message in messages.items():
        if alert in verdict.alerts:
            alert_rows.raise_alert(
                connection,
                kind=alert,
                subject=subject,
                message=message,
                severity=SEVERITIES_BY_ALERT[alert],
                now=now,
                details={"run_id": run_id, "failure_rate": failure_rate, "yield_rate": yield_rate},
            )
        elif verdict.judged and alert is not DriftAlert.DISABLED:
            alert_rows.resolve_alert(connection, kind=alert, subject=subject, now=now)


def _baseline(connection: Connection, adapter_id: str, source_id: str, now: datetime) -> Baseline:
    """Return the usual rates: those of a week of batches that were large enough to judge."""
    rows = connection.execute(
        select(AdapterBatch.failure_rate, AdapterBatch.yield_rate).where(
            AdapterBatch.adapter_id == adapter_id,
            AdapterBatch.source_id == source_id,
            AdapterBatch.ended_at > now - timedelta(days=BASELINE_DAYS),
            AdapterBatch.judged,
        )
    )
    return baseline_of(
        [
            (None if failed is None else float(failed), None if yielded is None else float(yielded))
            for failed, yielded in rows
        ]
    )
